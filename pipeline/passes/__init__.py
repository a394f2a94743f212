"""What a model is asked about memories that stand: doubts of contribute, compaction, mining, amendment.

    material --> question --adviser--> answer --read strictly--> proposals that wait for a person | drops on record

Failure handling: everything is off until an org wants it, and fails closed. No answer, or one that does not parse,
proposes nothing. Beside `consolidation`, which asks nobody and which extraction uses too.
"""
