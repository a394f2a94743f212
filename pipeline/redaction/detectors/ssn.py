"""US social security numbers: the ranges that are never issued are refused; a check digit does not exist.

So a bare look proves nothing: a hit is proven only with a word for it nearby.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import re2
from stdnum.us import ssn

from pipeline.redaction.boundary import stands_alone, without_escapes
from pipeline.redaction.classes import SSN
from pipeline.redaction.folding import fold
from pipeline.redaction.rules import EDGE
from pipeline.redaction.span import Span

PATTERN = re2.compile(
    f"{EDGE}(\\d{{3}}-\\d{{2}}-\\d{{4}}|\\d{{3}} \\d{{2}} \\d{{4}}|\\d{{3}}\\.\\d{{2}}\\.\\d{{4}}"
    "|\\d{9}|\\d{3}-\\d{6}|\\d{5}-\\d{4})\\b".encode()
)
CONTEXT = re2.compile(
    rb"(?i)(?:\b|_)ssns?(?:\b|_|\d)|\bssn|\bss(?:#| no| num)|social[ _.-]?sec|\bsoc[. ]{1,2}sec"
    rb"|segur(?:o|idad)[ _-]social"
)
_DASHED = re2.compile(rb"\d{3}-\d{2}-\d{4}")
_BEFORE, _AFTER = 60, 30


@dataclass(frozen=True)
class Ssn:
    """`proven_only`: with context alone. Else a number written with dashes counts by its look, at a low score."""

    proven_only: bool = False
    name: str = "ssn"
    classes: frozenset[str] = frozenset({SSN})

    @property
    def trigger(self) -> bytes:
        return bytes(PATTERN.pattern)

    def detect(self, text: str) -> Sequence[Span]:
        folded = fold(text)
        data, spans = folded.data, []
        for match in PATTERN.finditer(data):
            start, end = match.span(1)
            if not _could_be_issued(data, start, end):
                continue
            if CONTEXT.search(without_escapes(data[max(0, start - _BEFORE) : end + _AFTER])):
                spans.append(Span(*folded.place(start, end), SSN, 1.0, self.name))
            elif not self.proven_only and _DASHED.fullmatch(match.group(1)):
                spans.append(Span(*folded.place(start, end), SSN, 0.5, self.name))
        return spans


def _could_be_issued(data: bytes, start: int, end: int) -> bool:
    touching = data[max(0, start - 1) : start] + data[end : end + 1]
    digits = data[start:end].translate(None, b" -.").decode()
    return b"-" not in touching and stands_alone(data, start, end) and bool(ssn.is_valid(digits))
