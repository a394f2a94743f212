"""People and addresses by a model that labels tokens, and what keeps its mistakes from a reviewer's desk.

    texts --Tagger--> a score per token and role --words--> a score per word --persons, addresses, phones--> spans

    port.py, roles.py      what a tagger gives              labels.py     a model's labels -> roles
    words.py      tokens -> words, their shape              code.py       what in a text is code and no prose
    persons.py, addresses.py, phones.py                     which scored words are one
    windows.py    a long text in parts
    detector.py   all of them as one detector, many texts at once

A model of this size takes word fragments, file names and line numbers for people and postal codes. What it says is
therefore believed only of whole words that look like what it says: a person is a name by its letters, an address has
a street or a place beside its number, a phone has a phone's digits.
"""
