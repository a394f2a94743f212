"""What two ways of asking propose of one session, side by side; nobody says which is better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.candidate import Candidate
from pipeline.consolidation.similarity import LEXICAL_FLOOR, Likeness, lexical, similarity


@dataclass(frozen=True, slots=True)
class Pair:
    """Two candidates that speak of the same: `alike` says the same, else they are worded or decided otherwise."""

    a: Candidate
    b: Candidate
    alike: bool
    score: float


@dataclass(frozen=True, slots=True)
class Compared:
    """Every candidate of both is in exactly one place."""

    pairs: tuple[Pair, ...]
    only_a: tuple[Candidate, ...]
    only_b: tuple[Candidate, ...]


def compare(a: Sequence[Candidate], b: Sequence[Candidate]) -> Compared:
    """Pairs the most alike first: those that say the same by `similarity`, then those of `LEXICAL_FLOOR` by words."""
    scored = sorted(
        ((*_score(left, right), i, j) for i, left in enumerate(a) for j, right in enumerate(b)),
        key=lambda item: (not item[0], -item[1], item[2], item[3]),
    )
    pairs: dict[int, tuple[int, Pair]] = {}
    taken: set[int] = set()
    for alike, score, i, j in scored:
        if i not in pairs and j not in taken and (alike or score >= LEXICAL_FLOOR):
            pairs[i] = (j, Pair(a[i], b[j], alike, round(score, 3)))
            taken.add(j)
    return Compared(
        tuple(pairs[i][1] for i in sorted(pairs)),
        tuple(one for i, one in enumerate(a) if i not in pairs),
        tuple(one for j, one in enumerate(b) if j not in taken),
    )


def _score(a: Candidate, b: Candidate) -> tuple[bool, float]:
    said = similarity(a.content, b.content)
    return a.kind is b.kind and said.kind is not Likeness.NONE, lexical(a.content, b.content)
