"""Phone numbers by phonenumbers, behind a cheap scan for what could be one.

With a `+` a number must be valid; without, it must also be grouped as its region groups it: the regions of the text's
script, of countries named nearby and a few more. Behind a word such as "phone" the length of a grouped number is
enough, since no list of regions is complete, and a run of digits must be valid somewhere that word is spoken. Without
such a word a run of digits is never one, and a date, a time, a version, coordinates or a line and column are not.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import phonenumbers
import re2
from phonenumbers import Leniency, NumberParseException, PhoneNumberMatcher

from pipeline.redaction.boundary import stands_alone
from pipeline.redaction.classes import PHONE
from pipeline.redaction.contexts import labels, line_behind, mentions
from pipeline.redaction.folding import Folded, fold
from pipeline.redaction.rules import EDGE
from pipeline.redaction.span import Span
from pipeline.redaction.vocabulary import entries

REGIONS = ("US", "GB", "DE", "FR", "ES", "IT", "BR", "IN")
"""Whose national notation is understood in any text."""
SPOKEN_EVERYWHERE = "en"
WORLD = tuple(dict.fromkeys(region for label, _ in entries("phone") for region in label.split()[1:]))
"""Where a run of digits behind an English word is looked up."""

_MORE = r"(?:[ ()./-]{0,3}\d)"
_FIRST = r"(?:\d{2,3}|\d{5}|[03-9]\d{3}|1[0-8]\d\d|2[1-9]\d\d)"
"""The first digits of a number without `+` or brackets: no year, since logs are full of dates."""
PATTERN = re2.compile(
    (
        rf"(\+[ (]{{0,2}}\d{_MORE}{{6,16}}|\(\d{{2,5}}\)[ ./-]{{0,2}}\d{_MORE}{{4,14}})"
        rf"|{EDGE}((?:1[ .-])?{_FIRST}[ ./-]{{1,2}}\(?\d{_MORE}{{3,14}})"
    ).encode()
)
_NAMED = re2.compile(rb"\+?[ (]{0,2}\d(?:[ ()./-]{0,3}\d){5,16}")
_SCRIPTS = tuple(
    (re2.compile(script), regions.split())
    for script, regions in (
        (r"[\p{Hiragana}\p{Katakana}]", "JP"),
        (r"\p{Hangul}", "KR"),
        (r"\p{Han}", "CN TW HK"),
        (r"\p{Cyrillic}", "RU UA BG KZ"),
        (r"\p{Arabic}", "EG SA AE IR PK"),
        (r"\p{Hebrew}", "IL"),
        (r"\p{Thai}", "TH"),
        (r"\p{Greek}", "GR"),
        (r"[ğışİĞŞ]", "TR"),
        (r"[ąęłśźżĄĘŁŚŹŻ]", "PL"),
        (r"[ơưđƠƯĐ]", "VN"),
        (r"[åÅøØ]", "SE NO DK"),
    )
)
_BEHIND, _AROUND = 60, 80
_GAPS, _ENDS_MAX = re2.compile(r"[ ()./-]+"), 4
_DIGITS_MIN, _DIGITS_MAX = 7, 15
_NEXT = 12
_LIST_BETWEEN = re2.compile(
    rb"[\s,;/&|]{1,4}(?:(?:and|or|und|oder|et|ou|y|e|o|i|och|og|ja|en|ve|\?{1,2})\s|[A-Za-z?]{1,12}: )?"
)
_BETWEEN = re2.compile(rb"[^0-9\n;!]{0,45}|[^0-9]{0,10}")
_BYTE = rb"(?:1?\d?\d|2[0-4]\d|25[0-5])"
_NO_NUMBER = tuple(
    re2.compile(pattern)
    for pattern in (
        rb"(?:19|20)\d\d[-./ ]?(?:0?[1-9]|1[0-2])[-./ ]?(?:0?[1-9]|[12]\d|3[01])(?:\D.*|\d{2,6})?",
        rb"(?:0?[1-9]|[12]\d|3[01])[-./](?:0?[1-9]|[12]\d|3[01])[-./](?:19|20)\d\d.*",
        rb"\d+\.\d+",
        rb"(?:" + _BYTE + rb"\.){3}" + _BYTE,
        rb"-?\d{1,3}\.\d{3,}[ ,/]+-?\d{1,3}\.\d{3,}",
    )
)
_STAMP = re2.compile(rb"1[4-9]\d{8}(?:\d{3}|\d{6})?")
_OTHER_GROUPS = re2.compile(rb"\d{3}[-. ]\d{2}[-. ]\d{4}|\d{1,3}(?: \d{3}){2,}|(?:\d{1,4} ){4,}\d{1,4}")
_JOINED_LEFT = re2.compile(rb"(?:[0-9A-Za-z_][-/.:,]|[:#$=]-|0x|\d[ ])$")
_JOINED_RIGHT = re2.compile(rb"[-/.:,][0-9A-Za-z_]|:\d|[ ]?%")


@dataclass(frozen=True)
class Phone:
    """`regions`: ISO 3166 codes whose national notation counts everywhere, tried in order."""

    regions: tuple[str, ...] = REGIONS
    name: str = "phone"
    classes: frozenset[str] = frozenset({PHONE})

    @property
    def trigger(self) -> bytes:
        return rf"\d{_MORE}{{{_DIGITS_MIN - 1}}}".encode()

    def detect(self, text: str) -> Sequence[Span]:
        folded = fold(text)
        named = {*self._named(text, folded)}
        unnamed = {*self._unnamed(text, folded)}
        return [Span(*folded.place(*hit), PHONE, 1.0, self.name) for hit in sorted(named | unnamed)]

    def _named(self, text: str, folded: Folded) -> Iterator[tuple[int, int]]:
        data = folded.data
        named = [(m, spoken) for m in mentions(text) if (spoken := labels(m.meanings, "phone"))]
        horizons = [*(mention.start for mention, _ in named[1:]), len(data)]
        for (mention, spoken), horizon in zip(named, horizons, strict=False):
            regions = _regions(spoken) + self.regions
            start, stop = mention.end, line_behind(data, mention.end, _BEHIND)
            between = _BETWEEN
            while match := _NAMED.search(data, start, min(len(data), stop + 30)):
                first, last = _trimmed(match)
                good = (
                    first < min(stop, horizon)
                    and between.fullmatch(data[start:first])
                    and _may_be_number(data, first, last)
                )
                if not good or not _is_named(data[first:last], regions):
                    break
                yield first, last
                start, stop, between = last, min(len(data), last + _NEXT + 8), _LIST_BETWEEN

    def _unnamed(self, text: str, folded: Folded) -> Iterator[tuple[int, int]]:
        for match in PATTERN.finditer(folded.data):
            (start, end), candidate = match.span(match.lastindex), match.group(match.lastindex)
            if _may_be_number(folded.data, start, end) and not _OTHER_GROUPS.fullmatch(candidate):
                found = self._number(candidate.decode(), text, folded, start)
                if found:
                    yield start + found[0], start + found[1]

    def _number(self, candidate: str, text: str, folded: Folded, start: int) -> tuple[int, int] | None:
        """Where in the candidate the number lies."""
        if candidate.startswith("+"):
            return _first(candidate, None, Leniency.VALID)
        regions = dict.fromkeys((*self.regions, *_hints(text, folded, start)))
        return next(filter(None, (_first(candidate, region, Leniency.STRICT_GROUPING) for region in regions)), None)


@lru_cache(maxsize=256)
def _regions(spoken: tuple[str, ...]) -> tuple[str, ...]:
    parts = [label.split() for label in spoken]
    regions = [region for _, *regions in parts for region in regions]
    return tuple(dict.fromkeys(regions + list(WORLD if any(p[0] == SPOKEN_EVERYWHERE for p in parts) else ())))


def _hints(text: str, folded: Folded, start: int) -> list[str]:
    """Regions of the scripts around a number and of the countries named before it."""
    around = folded.text[max(0, start - _AROUND) : start + _AROUND]
    scripts = (
        [r for script, regions in _SCRIPTS if script.search(around) for r in regions] if not around.isascii() else []
    )
    known = mentions(text)
    near = slice(*(bisect_left(known, at, key=lambda mention: mention.start) for at in (start - _AROUND, start)))
    named = [label.upper() for mention in known[near] for label in labels(mention.meanings, "nationalities")]
    return named + scripts


@lru_cache(maxsize=4096)
def _first(candidate: str, region: str | None, leniency: int) -> tuple[int, int] | None:
    """The longest beginning of the candidate that is a number. The matcher, which knows groups, is slow and last."""
    ends = [len(candidate), *(match.start() for match in reversed(list(_GAPS.finditer(candidate))))]
    for end in ends[:_ENDS_MAX]:
        if _is_valid(candidate[:end], region):
            match = next(iter(PhoneNumberMatcher(candidate[:end], region, leniency, max_tries=1)), None)
            return (match.start, match.end) if match else None
    return None


def _trimmed(match: Any) -> tuple[int, int]:
    """Without the space before, and without an opening bracket that nothing closes."""
    found = match.group()
    lead = len(found) - len(found.lstrip(b" "))
    if found.lstrip(b" ").startswith(b"(") and b")" not in found:
        lead += 1
    return match.start() + lead, match.end()


def _is_named(candidate: bytes, regions: tuple[str, ...]) -> bool:
    """Behind a word. ITU-T E.164: at most 15 digits; 7 is the shortest subscriber number in common use."""
    digits = sum(map(candidate.count, (b"%d" % n for n in range(10))))
    if not _DIGITS_MIN <= digits <= _DIGITS_MAX or _STAMP.fullmatch(candidate):
        return False
    return not candidate.isdigit() or any(_is_valid(candidate.decode(), region) for region in regions)


def _is_valid(number: str, region: str | None) -> bool:
    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(number, region))
    except NumberParseException:
        return False


def _may_be_number(data: bytes, start: int, end: int) -> bool:
    candidate = data[start:end]
    joined = _JOINED_LEFT.search(data[max(0, start - 2) : start]) or _JOINED_RIGHT.match(data, end)
    return not joined and stands_alone(data, start, end) and not any(p.fullmatch(candidate) for p in _NO_NUMBER)
