"""What part of a sensitive thing a token may be."""

from __future__ import annotations

from enum import IntEnum


class Role(IntEnum):
    """What part of a sensitive thing a token is: a column of `Tagged.scores`. An address has several parts."""

    PERSON = 0
    STREET = 1
    BUILDING = 2
    UNIT = 3
    ZIP = 4
    PLACE = 5
    PHONE = 6
    BIRTH = 7
