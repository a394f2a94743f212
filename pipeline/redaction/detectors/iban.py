"""International bank account numbers: country, structure and the mod 97 check by python-stdnum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import re2
from stdnum import iban, numdb

from pipeline.redaction.boundary import stands_alone
from pipeline.redaction.classes import IBAN
from pipeline.redaction.folding import fold
from pipeline.redaction.rules import EDGE
from pipeline.redaction.span import Span

_REST = r"\d{2}(?:[ -]?[A-Za-z0-9]){11,30}"
PATTERN = re2.compile(f"{EDGE}([A-Z]{{2}}{_REST})".encode())
_LOWER = re2.compile(f"(?i)iban[^\n]{{0,40}}?[^a-z0-9\n]([a-z]{{2}}{_REST})".encode())


@dataclass(frozen=True)
class Iban:
    """Solid or in groups. Lower case counts only behind the word, since hashes look like it."""

    name: str = "iban"
    classes: frozenset[str] = frozenset({IBAN})

    @property
    def trigger(self) -> bytes:
        return bytes(PATTERN.pattern) + b"|" + bytes(_LOWER.pattern)

    def detect(self, text: str) -> Sequence[Span]:
        folded = fold(text)
        hits = {*_numbers(PATTERN, folded.data), *_numbers(_LOWER, folded.data)}
        return [Span(*folded.place(*hit), IBAN, 1.0, self.name) for hit in sorted(hits)]


def _numbers(pattern: Any, data: bytes) -> Iterator[tuple[int, int]]:
    position = 0
    while match := pattern.search(data, position):
        start = match.start(1)
        end = _valid_end(data, start, match.end())
        if end:
            yield start, end
        position = end or start + 1


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
