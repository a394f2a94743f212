"""Which scored words are an address: a block of parts, among them a street with its number, or a place with its code.

    "14 Crown Street, Apt. 5\\nLondon, 75419"   number street, unit, place, code: one block

A number by itself is none, however sure the model is: line ranges, ports and balances look like postal codes to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pipeline.redaction.ner.roles import Role
from pipeline.redaction.ner.streets import is_street_word, is_unit_word
from pipeline.redaction.ner.words import Interval, Reading, Shape, Word

PART, WEAK = 0.5, 0.2
"""The least score of a part, and of what lies between two parts."""
PARTS = (Role.STREET, Role.BUILDING, Role.UNIT, Role.ZIP, Role.PLACE)
_PROPER = (Shape.TITLE, Shape.CAPITALS, Shape.CASELESS)
_GAP_WORDS, _GAP_CHARACTERS = 2, 24
_GAP = re.compile(r"[\s,.;/#()\-–>|]*")
_CODE_WORD = re.compile(
    r"(?i)\b(?:zip|post(?:al)?[ -]?code|postcode|plz|postleitzahl|code postal|c[óo]digo postal|cep|cap|postnummer)\b"
    r"\W{0,4}(?:\w+\W{1,3}){0,2}$"
)
_BEFORE = 40


def find(reading: Reading) -> list[Interval]:
    """(start, end, score) of each address, in order."""
    words = reading.words
    roles = [_role(reading, at) for at in range(len(words))]
    return [
        (words[first].start, words[last].end, max(words[at].any_of(PARTS) for at in range(first, last + 1)))
        for first, last in _blocks(reading, roles)
        if _is_address(reading, roles, first, last)
    ]


def _role(reading: Reading, at: int) -> Role | None:
    """The part that a word is, if it is written as one."""
    word = reading.words[at]
    if word.any_of(PARTS) < PART or not _may_be_part(reading, word):
        return None
    return max(PARTS, key=word.is_)


def _may_be_part(reading: Reading, word: Word) -> bool:
    if word.shape is Shape.NUMBER:
        return not _is_glued(reading.text, word)
    if word.shape is Shape.MIXED and any(map(str.isdigit, word.text)):
        return word.text.isupper() and not _is_glued(reading.text, word)  # SW1A, N14
    if reading.is_code(word):
        return False
    return word.shape is not Shape.MIXED


def _is_glued(text: str, word: Word) -> bool:
    """Part of something longer: a line, a port, a price, a date."""
    before = text[max(0, word.start - 1) : word.start]
    return bool(before and before in ":#$€£¥=@_.\\\\") or text[word.end : word.end + 1] in ("%", "_", ":")


def _blocks(reading: Reading, roles: Sequence[Role | None]) -> Iterator[tuple[int, int]]:
    """(first, last) word of each run of parts that nothing parts."""
    first = last = -1
    for at, role in enumerate(roles):
        if role is None:
            continue
        if first >= 0 and _linked(reading, roles, last, at):
            last = at
            continue
        if first >= 0:
            yield first, last
        first = last = at
    if first >= 0:
        yield first, last


def _linked(reading: Reading, roles: Sequence[Role | None], left: int, right: int) -> bool:
    words = reading.words
    between = words[left + 1 : right]
    gap = reading.gap(words[left], words[right])
    if len(between) > _GAP_WORDS or len(gap) > _GAP_CHARACTERS:
        return False
    if not between:
        return _GAP.fullmatch(gap) is not None
    return all(_bridges(reading, word) for word in between)


def _bridges(reading: Reading, word: Word) -> bool:
    """What stands between two parts without being one to the model: `Apt.`, a country, a second number."""
    if word.shape is Shape.NUMBER:
        return not _is_glued(reading.text, word)
    if is_unit_word(word.text) or is_street_word(word.text) or word.any_of(PARTS) >= WEAK:
        return True
    return word.shape in (Shape.TITLE, Shape.CAPITALS, Shape.INITIAL, Shape.CASELESS) or word.text == "and"


def _is_address(reading: Reading, roles: Sequence[Role | None], first: int, last: int) -> bool:
    words, parts = reading.words[first : last + 1], roles[first : last + 1]
    numbers = any(any(map(str.isdigit, word.text)) for word in words)
    if Role.STREET in parts:
        if any(is_street_word(word.text) for word in words) and (numbers or len(words) > 1):
            return True
        if reading.lower:
            return numbers and any(part in parts for part in (Role.BUILDING, Role.UNIT, Role.ZIP, Role.PLACE))
        streets = (word for word, role in zip(words, parts, strict=True) if role is Role.STREET)
        return numbers and any(word.shape in _PROPER for word in streets)
    if not numbers:
        return False
    if Role.UNIT in parts:
        return Role.PLACE in parts or Role.ZIP in parts or any(is_unit_word(word.text) for word in words)
    return Role.ZIP in parts and (Role.PLACE in parts or _is_said(reading, words[0]))


def _is_said(reading: Reading, word: Word) -> bool:
    """Behind a word for a postal code."""
    return _CODE_WORD.search(reading.text[max(0, word.start - _BEFORE) : word.start]) is not None
