"""What a new memory means for what is already known.

    new memory + nearest active neighbours --contribute--> Add | Repeat (counted) | Retire (proposed)

Failure handling: every doubt ends in Add, which loses nothing; a wrong Retire is a proposal that a person declines.
Only a wrong Repeat would hide a fact, so a repeat must make the same claims in the same order.
"""
