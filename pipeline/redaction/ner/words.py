"""Tokens of a model -> words of the text, each with its scores and its shape.

A model cuts words into pieces and may take one piece (`ini` of `Gemini`) for a name. A word's score is the mean over
its letters, so that what is true of a piece alone is not said of the word.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np

from pipeline.redaction.ner.code import Code
from pipeline.redaction.ner.port import Scores, Tagged
from pipeline.redaction.ner.roles import Role

_MARKS = "".join(
    chr(point) for point in range(0x300, 0x20000) if unicodedata.category(chr(point)) in ("Mn", "Mc", "Cf")
)
_IDEOGRAPH = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(
    rf"[{_IDEOGRAPH}]|\d+[^\W\d_]?(?![^\W_])|(?:[^\W_{_IDEOGRAPH}][{re.escape(_MARKS)}]*)+"
    rf"(?:['’](?!s\b)(?:[^\W\d_][{re.escape(_MARKS)}]*)+)?"
)
_PREFIXES = ("Mc", "Mac", "Fitz", "De", "Di", "Da", "Du", "La", "Le", "Lo", "Van", "Von", "San", "Del")


Interval = tuple[int, int, float]
"""Start and end in characters of the text, and a score."""


class Shape(Enum):
    """How a word is written."""

    TITLE = "Title"  # one capital, or a name's second after a prefix: McDowell, O'Brien
    CAPITALS = "CAPITALS"
    INITIAL = "I"
    LOWER = "lower"
    CASELESS = "caseless"  # a script without capitals
    NUMBER = "12"
    MIXED = "miXed"  # camelCase, letters among digits


@dataclass(frozen=True, slots=True)
class Word:
    """`start` and `end` are characters of the text; `scores` are the roles', as a mean over the letters."""

    start: int
    end: int
    text: str
    shape: Shape
    scores: Scores
    head: Scores  # of its first token

    def is_(self, role: Role) -> float:
        return float(self.scores[role])

    def any_of(self, roles: tuple[Role, ...]) -> float:
        return float(sum(self.scores[role] for role in roles))


@dataclass(frozen=True)
class Reading:
    """A text, its words, and what of it is code."""

    text: str
    words: tuple[Word, ...]

    @cached_property
    def code(self) -> Code:
        return Code(self.text)

    @cached_property
    def lower(self) -> bool:
        """Not a capital in it: whoever wrote it writes names so too."""
        return not any(map(str.isupper, self.text))

    @cached_property
    def capitals(self) -> bool:
        return not any(map(str.islower, self.text))

    def gap(self, left: Word, right: Word) -> str:
        return self.text[left.end : right.start]

    def is_code(self, word: Word) -> bool:
        return self.code.holds(word.start, word.end)


def read(text: str, tagged: Tagged) -> Reading:
    """Linear in words and tokens; offsets ascend."""
    words, first, offsets = [], 0, tagged.offsets
    for match in _WORD.finditer(text):
        start, end = match.span()
        while first < len(offsets) and offsets[first][1] <= start:
            first += 1
        scores = _mean(tagged, first, start, end)
        head = tagged.scores[first] if first < len(offsets) and offsets[first][0] < end else scores
        words.append(Word(start, end, match.group(), shape_of(match.group()), scores, head))
    return Reading(text, tuple(words))


def _mean(tagged: Tagged, first: int, start: int, end: int) -> Scores:
    """Over the characters of text[start:end] that tokens cover; zeros where none does."""
    total, weight, index = np.zeros(len(Role), np.float32), 0, first
    while index < len(tagged.offsets) and tagged.offsets[index][0] < end:
        token_start, token_end = tagged.offsets[index]
        length = min(end, token_end) - max(start, token_start)
        if length > 0:
            total, weight = total + length * tagged.scores[index], weight + length
        index += 1
    return (total / max(weight, 1)).astype(np.float32)


def shape_of(word: str) -> Shape:
    letters = unicodedata.normalize("NFC", word)
    if any(map(str.isdigit, letters)):
        return Shape.NUMBER if letters[:1].isdigit() and sum(map(str.isalpha, letters)) <= 1 else Shape.MIXED
    if letters.lower() == letters.upper():
        return Shape.CASELESS
    if letters.islower():
        return Shape.LOWER
    if letters.isupper():
        return Shape.INITIAL if len(letters) == 1 else Shape.CAPITALS
    return Shape.TITLE if _is_title(letters) else Shape.MIXED


def _is_title(word: str) -> bool:
    """`Anna`, `O'Brien`, `d'Angelo`, `McDowell`, not `setTheme` or `TodoList`."""
    last = re.split("['’]", word)[-1]
    for prefix in ("", *_PREFIXES):
        rest = last.removeprefix(prefix)
        if last.startswith(prefix) and rest[:1].isupper() and rest[1:].islower() and len(rest) > 1:
            return True
    return False
