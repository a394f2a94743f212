"""What detectors return, and what is done with it: resolve overlaps, mask, name the classes.

Offsets are Unicode characters of the text given, end exclusive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, order=True)
class Span:
    start: int
    end: int
    cls: str
    score: float
    detector: str


class Detector(Protocol):
    """Finds spans of the classes it names. Pure; raises nothing on any text."""

    @property
    def name(self) -> str: ...

    @property
    def classes(self) -> frozenset[str]: ...

    def detect(self, text: str) -> Sequence[Span]: ...
