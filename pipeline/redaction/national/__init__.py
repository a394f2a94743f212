"""National numbers of persons and businesses: formats, check digits and the words that stand beside them.

    text --words of 50 languages--> mention --> the formats of its countries --> shape --> check digit

Few formats prove themselves: a random number passes one of fifty check digits more often than not. So a word comes
first, in the language of the number's country, and decides which countries' formats are tried near it.

    format.py    what a format is
    checks.py    check digits that python-stdnum does not have
    europe, asia, americas, elsewhere: the formats, a line each
    words.py     words that any number of a language's countries stands behind
    registry.py  word -> formats
"""
