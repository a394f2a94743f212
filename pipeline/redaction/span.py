"""What detectors return, and what is done with it: resolve overlaps, mask, name the classes.

Offsets are Unicode characters of the text given, end exclusive.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from pipeline.redaction.classes import ClassTier, tier_of

Interval = tuple[int, int]


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


@runtime_checkable
class BatchDetector(Detector, Protocol):
    """A detector that is faster over many texts at once: a model."""

    def detect_many(self, texts: Sequence[str]) -> Sequence[Sequence[Span]]:
        """What `detect` finds in each of `texts`, in their order."""


@runtime_checkable
class Triggered(Detector, Protocol):
    """A detector that need not be asked about most texts."""

    @property
    def trigger(self) -> bytes:
        """A pattern of RE2 over the folded text: where it matches nowhere, there is no hit."""


def resolve(spans: Iterable[Span], reserved: Iterable[Interval] = ()) -> tuple[Span, ...]:
    """Disjoint spans, sorted, that cover exactly what `spans` cover outside `reserved`.

    Where spans overlap, HIGH wins over LOW, then the longer, then the higher score. A loser keeps what the winner
    left of it, so that no part of a HIGH span stays unmasked.
    """
    united = _united(spans)
    if not united:
        return ()
    taken = sorted(reserved)
    resolved: list[Span] = []
    for span in sorted(united, key=_precedence):
        for start, end in list(_free(span, taken)):
            insort(taken, (start, end))
            resolved.append(replace(span, start=start, end=end))
    return tuple(sorted(resolved))


def mask(text: str, spans: Iterable[Span], classes: Collection[str] | None = None) -> str:
    """`text` with each span replaced by its mask, `[REDACTED:secret]`; only spans of `classes` if given."""
    chosen = resolve(span for span in spans if classes is None or span.cls in classes)
    if not chosen:
        return text
    pieces, position = [], 0
    for span in chosen:
        pieces += [text[position : span.start], f"[REDACTED:{span.cls}]"]
        position = span.end
    return "".join([*pieces, text[position:]])


def _precedence(span: Span) -> tuple[bool, int, float, Span]:
    return tier_of(span.cls) is not ClassTier.HIGH, span.start - span.end, -span.score, span


def _united(spans: Iterable[Span]) -> list[Span]:
    """Spans of one class that overlap become one, under the name and score of the longest."""
    wide = [span for span in spans if span.start < span.end]
    if not wide:
        return []
    united: list[Span] = []
    for span in sorted(wide, key=lambda s: (s.cls, s)):
        last = united[-1] if united else None
        if last and last.cls == span.cls and span.start < last.end:
            longer = max(last, span, key=lambda s: (s.end - s.start, s.score))
            united[-1] = replace(longer, start=last.start, end=max(last.end, span.end))
        else:
            united.append(span)
    return united


def _free(span: Span, taken: list[Interval]) -> Iterator[Interval]:
    """The parts of `span` outside the sorted, disjoint intervals `taken`."""
    position = span.start
    index = max(0, bisect_left(taken, (span.start, span.start)) - 1)
    while index < len(taken) and taken[index][0] < span.end and position < span.end:
        start, end = taken[index]
        if start > position:
            yield position, start
        position = max(position, end)
        index += 1
    if position < span.end:
        yield position, span.end
