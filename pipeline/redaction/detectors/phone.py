"""Phone numbers by the matcher of phonenumbers, behind a cheap scan for what could be one.

With a `+` a number must be valid; without, it must also be grouped as its region groups it; behind a word such as
"phone" its length is enough, since no list of regions is complete. A run of digits
with neither `+` nor separators is never one, and a date, a time, a version, coordinates or a line and column are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import re2
from phonenumbers import Leniency, PhoneNumberMatcher

from pipeline.redaction.boundary import stands_alone
from pipeline.redaction.classes import PHONE
from pipeline.redaction.folding import fold
from pipeline.redaction.span import Span

REGIONS = ("US", "GB", "DE", "FR", "ES", "IT", "BR", "IN")
"""Whose national notation is understood where an org states nothing else."""

PATTERN = re2.compile(
    rb"\+[ (]{0,2}\d(?:[ ()./-]{0,3}\d){6,16}|"
    rb"\(\d{2,5}\)[ ./-]{0,2}\d(?:[ ()./-]{0,3}\d){4,14}|\d{2,5}[ ./-]{1,2}\(?\d(?:[ ()./-]{0,3}\d){3,14}"
)
_WORD = re2.compile(
    rb"(?i)(?:\b|_)(?:(?:tele)?phone|mobile|cell|fax|whatsapp|tel|telefon|handy|t[e?]l[e?]fono|call|text|sms)"
    rb"(?:\b|_|[sn]\b|\d)(?:[^\n]{0,40}|:\s{0,3})$"
)
_BEFORE = 60
_DIGITS_MIN, _DIGITS_MAX = 7, 15
_NO_NUMBER = tuple(
    re2.compile(pattern)
    for pattern in (
        rb"(?:19|20)\d\d[-./ ]?(?:0?[1-9]|1[0-2])[-./ ]?(?:0?[1-9]|[12]\d|3[01])(?:\D.*|\d{2,6})?",
        rb"(?:0?[1-9]|[12]\d|3[01])[-./](?:0?[1-9]|[12]\d|3[01])[-./](?:19|20)\d\d.*",
        rb"\d+\.\d+",
        rb"\d{1,3}(?:\.\d{1,3}){3}",
        rb"-?\d{1,3}\.\d{3,}[ ,/]+-?\d{1,3}\.\d{3,}",
    )
)
_A_COUNT = re2.compile(rb"\d{1,3}(?: \d{3}){2,}|(?:\d{1,4} ){4,}\d{1,4}")
_JOINED_LEFT = re2.compile(rb"(?:[0-9A-Za-z_][-/.:,]|[:#$=]-|0x|\d[ ])$")
_JOINED_RIGHT = re2.compile(rb"[-/.:,][0-9A-Za-z_]|:\d|[ ]?%")


@dataclass(frozen=True)
class Phone:
    """`regions`: ISO 3166 codes whose national notation counts, tried in order."""

    regions: tuple[str, ...] = REGIONS
    name: str = "phone"
    classes: frozenset[str] = frozenset({PHONE})

    def detect(self, text: str) -> Sequence[Span]:
        folded = fold(text)
        return [Span(*folded.place(*hit), PHONE, 1.0, self.name) for hit in self._hits(folded.data)]

    def _hits(self, data: bytes) -> Iterator[tuple[int, int]]:
        for match in PATTERN.finditer(data):
            start, end = match.span()
            if _may_be_number(data, start, end):
                named = _WORD.search(data[max(0, start - _BEFORE) : start]) is not None
                found = self._number(match.group().decode()) or (named and _of_length(match.group()))
                if found and (named or not _A_COUNT.fullmatch(match.group())):
                    yield start + found[0], start + found[1]

    def _number(self, candidate: str) -> tuple[int, int] | None:
        """Where in the candidate the number lies."""
        if candidate.startswith("+"):
            return _first(candidate, None, Leniency.VALID)
        return next(
            filter(None, (_first(candidate, region, Leniency.STRICT_GROUPING) for region in self.regions)), None
        )


def _first(candidate: str, region: str | None, leniency: int) -> tuple[int, int] | None:
    match = next(iter(PhoneNumberMatcher(candidate, region, leniency, max_tries=4)), None)
    return (match.start, match.end) if match else None


def _of_length(candidate: bytes) -> tuple[int, int] | None:
    """ITU-T E.164: at most 15 digits; 7 is the shortest subscriber number in common use."""
    digits = sum(map(bytes.isdigit, (candidate[i : i + 1] for i in range(len(candidate)))))
    return (0, len(candidate)) if _DIGITS_MIN <= digits <= _DIGITS_MAX else None


def _may_be_number(data: bytes, start: int, end: int) -> bool:
    candidate = data[start:end]
    joined = _JOINED_LEFT.search(data[max(0, start - 2) : start]) or _JOINED_RIGHT.match(data, end)
    return not joined and stands_alone(data, start, end) and not any(p.fullmatch(candidate) for p in _NO_NUMBER)
