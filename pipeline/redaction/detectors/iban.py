"""International bank account numbers: country, structure and the mod 97 check by python-stdnum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import re2
from stdnum import iban, numdb

from pipeline.redaction.boundary import stands_alone, without_escapes
from pipeline.redaction.classes import IBAN
from pipeline.redaction.folding import fold
from pipeline.redaction.span import Span

PATTERN = re2.compile(rb"[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]){11,30}")
_CONTEXT = re2.compile(rb"(?i)iban")
_BEFORE = 40


@dataclass(frozen=True)
class Iban:
    """Solid or in groups. Lower case counts only behind the word, since hashes look like it."""

    name: str = "iban"
    classes: frozenset[str] = frozenset({IBAN})

    @property
    def trigger(self) -> bytes:
        return bytes(PATTERN.pattern)

    def detect(self, text: str) -> Sequence[Span]:
        folded = fold(text)
        data, spans, position = without_escapes(folded.data), [], 0
        while match := PATTERN.search(data, position):
            start = match.start()
            end = _valid_end(data, start, match.end()) if _may_begin(data, start) else None
            if end:
                spans.append(Span(*folded.place(start, end), IBAN, 1.0, self.name))
            position = end or start + 1
        return spans


def _may_begin(data: bytes, start: int) -> bool:
    country = data[start : start + 2]
    return country.isupper() or _CONTEXT.search(data[max(0, start - _BEFORE) : start]) is not None


def _valid_end(data: bytes, start: int, longest: int) -> int | None:
    """The end of the valid number that begins at `start`; words may follow it after a space."""
    length = _length(data[start : start + 2].decode().upper())
    if not length:
        return None
    places = [place for place in range(start, longest) if data[place] not in b" -"][:length]
    end = places[-1] + 1
    valid = len(places) == length and stands_alone(data, start, end) and iban.is_valid(data[start:end].decode())
    return end if valid else None


@cache
def _length(country: str) -> int:
    """Characters of a country's numbers by the registry that python-stdnum carries; 0 for no such country."""
    structure = numdb.get("iban").info(country)[0][1].get("bban", "")
    parts = [int(number) for number in re2.findall(r"(\d+)!", structure)]
    return len("CC00") + sum(parts) if parts else 0
