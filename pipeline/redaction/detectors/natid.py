"""National numbers: the shape of a country, its check digit, and a word for such a number nearby.

Most check digits are passed by one random number in ten, so a number without a word counts only in a format that is
proven beyond them. Behind a word the shape of a country without check digits is enough, at a lower score, except
for the scrub.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import re2

from pipeline.redaction.boundary import without_escapes
from pipeline.redaction.classes import NATID
from pipeline.redaction.contexts import line_before, line_behind, mentions
from pipeline.redaction.folding import Folded, fold
from pipeline.redaction.national.format import Format
from pipeline.redaction.national.registry import BARE, formats, of_countries
from pipeline.redaction.rules import EDGE
from pipeline.redaction.span import Span
from pipeline.redaction.vocabulary import Mention

_MEMORY_BYTES = 16 << 20
_BEHIND, _BEFORE, _NEXT, _MARGIN = 70, 45, 12, 30
_DIGITS_NEEDED = re2.compile(rb"(?:\d[^\d\n]{0,5}){3}\d")
_NATIONAL_THING = re2.compile(
    rb"(?i)^\W{0,3}(?:[a-z.'-]+\W{1,3}){0,2}?"
    rb"(?:ids?\b|identi|tax|passport|licen[cs]e|number|no\b|nr\b|code|social|insurance|registration|card|[A-Z]{2,5}\b)"
)
_ONLY_WORDS_BETWEEN = re2.compile(rb"[^0-9;!\n]{0,45}")
_SAID_BETWEEN = re2.compile(rb"[^0-9;:!|\n]{0,30}")
_LIST_BETWEEN = re2.compile(rb"[\s,;/&|]{1,4}(?:(?:and|or|und|oder|et|ou|y|e|o|i|och|og|ja|en|ve|\?{1,2})\s)?")
_WORD = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")
_JOINED_LEFT = re2.compile(rb"(?:[0-9A-Za-z_][-.:,/]|\d )$")
_JOINED_RIGHT = re2.compile(rb"[-.:,/][0-9A-Za-z_]| \d")
_RUN_ON = re2.compile(rb"(?:^|[^A-Za-z])(?:is|no|nr|id)$")
_BARE_SHAPES = "|".join(f"(?:{form.shape})" for form in BARE)
_BARE = f"{EDGE}({_BARE_SHAPES})\\b".encode()


@dataclass(frozen=True)
class NatId:
    """`proven_only`: by check digit and word, or in a format that proves itself."""

    proven_only: bool = False
    name: str = "natid"
    classes: frozenset[str] = frozenset({NATID})

    @property
    def trigger(self) -> bytes:
        return bytes(_DIGITS_NEEDED.pattern)

    def detect(self, text: str) -> Sequence[Span]:
        folded = fold(text)
        hits = [*_bare(folded.data), *self._named(text, folded)]
        return [Span(*folded.place(start, end), NATID, score, self.name) for start, end, score in hits]

    def _named(self, text: str, folded: Folded) -> Iterator[tuple[int, int, float]]:
        for mention in mentions(text):
            allowed = _allowed(folded.data, mention)
            if self.proven_only:
                allowed = tuple(form for form in allowed if form.check)
            if allowed:
                yield from _before(folded.data, mention, allowed)
                yield from _behind(folded.data, mention, allowed)


def _allowed(data: bytes, mention: Mention) -> tuple[Format, ...]:
    national = of_countries(mention.meanings)
    if national and not _NATIONAL_THING.search(data[mention.end : mention.end + 40]):
        national = ()
    return formats(mention.meanings) + national


def _behind(data: bytes, mention: Mention, allowed: tuple[Format, ...]) -> Iterator[tuple[int, int, float]]:
    """What stands behind the word, and what goes on from there as a list."""
    position, reach, between = mention.end, _BEHIND, _ONLY_WORDS_BETWEEN
    while True:
        found = list(_within(data, position, line_behind(data, position, reach), allowed, since=position))
        sure = position == mention.end
        hits = [hit for hit in found if (sure and hit[2] == 1.0) or between.fullmatch(data[position : hit[0]])]
        yield from hits
        end = max((hit[1] for hit in hits), default=position)
        if end == position:
            return
        position, reach, between = end, _NEXT, _LIST_BETWEEN


def _before(data: bytes, mention: Mention, allowed: tuple[Format, ...]) -> Iterator[tuple[int, int, float]]:
    start = line_before(data, mention.start, _BEFORE)
    for hit in _within(data, start, mention.start, allowed):
        if hit[1] <= mention.start and _SAID_BETWEEN.fullmatch(data[hit[1] : mention.start]):
            yield hit


def _within(
    data: bytes, start: int, stop: int, allowed: tuple[Format, ...], since: int = 0
) -> Iterator[tuple[int, int, float]]:
    """Numbers that begin in data[start:stop], with 1.0 for a check digit and 0.6 for a shape alone.

    `since`: what stands before it is not part of the number, being the word or the last number of a list.
    """
    floor = max(since, start - _MARGIN)
    window = without_escapes(data[floor : stop + _MARGIN])
    if not _DIGITS_NEEDED.search(window[start - floor :]):
        return
    for form in _present(allowed, window[start - floor :]):
        for match in form.pattern.finditer(window, start - floor):
            first, last = match.span()
            if floor + first < stop and _is_whole(window, first, last) and form.valid(_text(match)):
                yield floor + first, floor + last, 1.0 if form.check else 0.6


def _present(allowed: tuple[Format, ...], window: bytes) -> list[Format]:
    """Those whose shape is anywhere in the window: one search instead of one for each."""
    return [allowed[number] for number in sorted(_shapes(allowed).Match(window) or ())]


@lru_cache(maxsize=256)
def _shapes(allowed: tuple[Format, ...]) -> Any:
    options = re2.Options()
    options.max_mem = _MEMORY_BYTES
    shapes = re2.Set.SearchSet(options)
    for form in allowed:
        shapes.Add(bytes(form.pattern.pattern))
    shapes.Compile()
    return shapes


def _text(match: Any) -> str:
    return str(match.group().decode().upper())


def _is_whole(window: bytes, first: int, last: int) -> bool:
    """Not a piece of something longer. A short word may run on into the number: `is030594W903B`."""
    before, spaced = window[max(0, first - 6) : first], b" " in window[first:last]
    runs_on = window[first : first + 1].isdigit() and _RUN_ON.search(before) is not None
    if before and before[-1] in _WORD and not runs_on:
        return False
    if last < len(window) and window[last] in _WORD:
        return False
    left, right = _JOINED_LEFT.search(before), _JOINED_RIGHT.match(window, last)
    return not any(joined and (spaced or b" " not in joined.group()) for joined in (left, right))


def _bare(data: bytes) -> Iterator[tuple[int, int, float]]:
    for match in _bare_pattern().finditer(data):
        start, end = match.span(1)
        if not _is_whole(data[max(0, start - 8) : end + 4], min(8, start), min(8, start) + end - start):
            continue
        text = data[start:end].decode().upper()
        if any(form.pattern.fullmatch(data[start:end]) and form.valid(text) for form in BARE):
            yield start, end, 1.0


@cache
def _bare_pattern() -> Any:
    """Formats that need no word, in capitals; the check comes with each match."""
    options = re2.Options()
    options.longest_match = True
    return re2.compile(_BARE, options)
