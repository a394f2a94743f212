"""Dates of birth: a date beside a word for birth, in the languages and ways of writing dates that people use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import re2

from pipeline.redaction.classes import DOB
from pipeline.redaction.contexts import labels, line_before, line_behind, mentions, trigger
from pipeline.redaction.folding import Folded, fold
from pipeline.redaction.span import Span
from pipeline.redaction.vocabulary import entries, key

_BEHIND, _BEFORE, _TAIL, _LENGTH_MAX = 60, 50, 40, 40
_TRIES_MAX = 8
_LETTER = r"[A-Za-z\x{aa}-\x{10ffff}]"
_MONTH = rf"({_LETTER}{{2,14}}\.?)"
_DAY = r"\d{1,2}(?:st|nd|rd|th|er|º|ª|\.)?"
_YEAR = r"(?:'?\d{2}|\d{4})"
_OF = r"(?:[ .,/-]|de[l]? |of |ta' |d'){0,3}"
_CLOCK = r"(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
_NUMERIC = (
    rf"\d{{4}}-\d{{1,2}}-\d{{1,2}}{_CLOCK}",
    r"\d{4}[./]\d{1,2}[./]\d{1,2}\.?",
    r"\d{4}\. ?\d{1,2}\. ?\d{1,2}\.?",
    r"\d{1,2}[./ -]\d{1,2}[./ -]\d{4}",
    r"\d{1,2}\. \d{1,2}\. \d{4}",
    r"\d{1,2}[./-]\d{1,2}[./-]\d{2}",
    r"\d{1,2}/\d{1,2}",
    r"\d{1,2}[/-]\d{4}",
    r"\d{8}",
)
_EAST_ASIAN = (
    r"(?:\d{2,4}|(?:明治|大正|昭和|平成|令和|民國|民国) ?(?:\d{1,2}|元)) ?年 ?\d{1,2} ?月 ?\d{1,2} ?[日号號]?",
    r"\d{2,4} ?년 ?\d{1,2} ?월 ?\d{1,2} ?일",
)
_WORDED = (
    rf"{_DAY}{_OF}{_MONTH}(?:{_OF}{_YEAR})?",
    rf"{_MONTH}{_OF}{_DAY}(?:,? ?{_YEAR})?",
    rf"{_MONTH}{_OF}{_YEAR}",
    rf"\d{{4}}[. ]{{1,2}}{_MONTH} ?\d{{1,2}}\.?",
)
_LONGEST = re2.Options()
_LONGEST.longest_match = True
_NUMBERS = re2.compile("|".join(_NUMERIC + _EAST_ASIAN), _LONGEST)
_WORDS = re2.compile("|".join(_WORDED), _LONGEST)
_DIGITS = re2.compile(r"\d+")
_GAP = re2.compile(r"[^\d\n;!?]{0,45}|[^\d]{0,12}")
_NEAR = re2.compile(r"[^\d\p{L}]{0,3}|\s?(?:is|was|are|on|generasi)?[^\d]{0,14}")
_MONTHS = frozenset(entry for _, words in entries("months") for entry in words)
_PREFIXES = frozenset(key(month)[:3] for month in _MONTHS)


@dataclass(frozen=True)
class Dob:
    """The date alone, as written."""

    name: str = "dob"
    classes: frozenset[str] = frozenset({DOB})

    @property
    def trigger(self) -> bytes:
        return trigger("birth")

    def detect(self, text: str) -> Sequence[Span]:
        folded = fold(text)
        hits = {hit for start, end in _births(text) for hit in _dates(folded, start, end)}
        return [Span(*folded.place(*hit), DOB, 0.9, self.name) for hit in sorted(hits)]


def _births(text: str) -> Iterator[tuple[int, int]]:
    return ((m.start, m.end) for m in mentions(text) if labels(m.meanings, "birth"))


def _dates(folded: Folded, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The first date behind the word, else the last right before it."""
    stop = line_behind(folded.data, end, _BEHIND)
    first = _first(folded.text[end:stop], folded.text[stop : stop + _TAIL])
    if first and _GAP.fullmatch(folded.text[end : end + first[0]]):
        yield end + first[0], end + first[1]
        return
    floor = line_before(folded.data, start, _BEFORE)
    last = _last(folded.text[floor:start])
    if last and _NEAR.fullmatch(folded.text[floor + last[1] : start]):
        yield floor + last[0], floor + last[1]


def _first(window: str, rest: str) -> tuple[int, int] | None:
    """The date with the window's first figure, the longer of that in figures and that with a word for the month."""
    figure = _DIGITS.search(window)
    if not figure:
        return None
    near = (window + rest)[: figure.start() + _LENGTH_MAX]
    found = [*_matches(_NUMBERS, near, _is_numeric), *_matches(_WORDS, near, _is_worded)]
    return min((hit for hit in found if hit[0] <= figure.start()), key=lambda hit: (hit[0], -hit[1]), default=None)


def _last(window: str) -> tuple[int, int] | None:
    found = {*_matches(_NUMBERS, window, _is_numeric), *_matches(_WORDS, window, _is_worded)}
    return max(found, key=lambda hit: (hit[1], -hit[0]), default=None)


def _matches(pattern: Any, window: str, is_date: Callable[[Any], bool]) -> Iterator[tuple[int, int]]:
    position = 0
    for _ in range(_TRIES_MAX):
        match = pattern.search(window, position)
        if not match:
            return
        first, last = match.span()
        before, after = window[max(0, first - 1) : first], window[last : last + 1]
        joined = (before.isalnum() and before.isascii()) or (window[last - 1].isdigit() and after.isdigit())
        good = not joined and is_date(match)
        position = last if good else first + 1
        if good:
            yield first, last


def _is_numeric(match: Any) -> bool:
    """Day, month and year in any order, in their ranges."""
    date = match.group()
    numbers = [int(n) for n in _DIGITS.findall(date)][:3]
    if len(numbers) == 1:
        return _is_compact(date)
    years = [n for n in numbers if n > 31]
    small = [n for n in numbers if n <= 31]
    if "年" in date:
        return True
    year = all(1250 <= n <= 2700 or n < 100 for n in years)
    return year and len(years) <= 1 and 0 not in small[:2] and any(n <= 12 for n in small)


def _is_compact(date: str) -> bool:
    """YYYYMMDD or DDMMYYYY."""
    orders = ((date[:4], date[4:6], date[6:]), (date[4:], date[2:4], date[:2]))
    return any("1850" <= y <= "2100" and "01" <= m <= "12" and "01" <= d <= "31" for y, m, d in orders)


def _is_worded(match: Any) -> bool:
    """One of its words is a month: known by its first letters if they are Latin; in other scripts any word may be."""
    month = key(match.group(match.lastindex))
    return not month.isascii() or month[:3] in _PREFIXES
