"""What the words of a text alone say of it, deterministically; no model is asked.

    text --shown--> one case, no accents, nothing hidden --Table (RE2)--> is it there?

    rules.py          an imperative to future sessions; a preference
    stakes.py         the areas in which being wrong hurts
    instructions/     text aimed at steering whoever reads it, by the form it takes

Failure handling: any text is answered; a text nothing is found in is a plain one.
"""
