"""Does a number stand alone, or is it a piece of something longer?"""

from __future__ import annotations

import re2

_ESCAPE_BEFORE = re2.compile(rb".*(?:\\[abfnrtv]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2}|\x1b\[[0-9;]*m)")
_ESCAPES = tuple(
    (re2.compile(pattern), b" " * length)
    for pattern, length in ((rb"\\u[0-9A-Fa-f]{4}", 6), (rb"\\[abfnrtv]", 2), (rb"%[0-9A-Fa-f]{2}", 3))
)
"""What JSON and URLs write for a sign: some end in a letter or digit, which is no part of what follows."""
_WORD = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")
_DIGITS = frozenset(b"0123456789")
_ESCAPE_LENGTH_MAX = 12


def without_escapes(data: bytes) -> bytes:
    """`data` with blanks, of the same length, in place of JSON's and URLs' escapes."""
    if b"\\" not in data and b"%" not in data:
        return data
    for escape, blanks in _ESCAPES:
        data = escape.sub(blanks, data)
    return data


def stands_alone(data: bytes, start: int, end: int) -> bool:
    """No letter, digit or underscore touches data[start:end], nor a decimal point with a digit beyond it.

    An escape that ends in a letter, as in the JSON text `\\n4111...`, is no letter.
    """
    return _open_left(data, start) and _open_right(data, end)


def _open_left(data: bytes, start: int) -> bool:
    if start == 0:
        return True
    if data[start - 1] in _WORD:
        return _ESCAPE_BEFORE.fullmatch(data[max(0, start - _ESCAPE_LENGTH_MAX) : start]) is not None
    return not (data[start - 1] == ord(".") and start > 1 and data[start - 2] in _DIGITS)


def _open_right(data: bytes, end: int) -> bool:
    if end >= len(data):
        return True
    if data[end] in _WORD:
        return False
    return not (data[end] == ord(".") and end + 1 < len(data) and data[end + 1] in _DIGITS)
