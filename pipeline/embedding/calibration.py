"""What a cosine is worth under a stamp: the spread of cosines of pairs that have nothing to do with each other.

Two sides, since models that know the two apart put questions elsewhere than what answers them: `passage` (two contents,
for `similarity`) and `query` (a question and a content, for recall's floor).

An installation measures its own pairs: contents of one org from different runs and sessions, and for the query side
contents embedded as questions. Measured with multilingual-e5-small on six conversations, the query side of unrelated
pairs: real questions 50 % .778, 99 % .867, 99.9 % .891; contents as questions .792, .880, .906; general questions
written beforehand .741, .800, .815. So contents stand for questions, and what is off errs towards the stricter side.

Until then the figures of `unrelated.txt` hold: texts written for this, none of which says anything about another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.embedding.adapters.local import STAMP
from pipeline.embedding.port import Embedder, Stamp, Vectors
from pipeline.errors import AfterwordError

Side = Literal["passage", "query"]
PAIRS_MIN: Final = 10_000
"""Fewer, and the 99.9th percentile rests on fewer than ten of them."""
PAIRS_MAX: Final = 500_000
QUERIES: Final = 128
"""Contents that are embedded as questions."""


class TooFewPairs(AfterwordError):
    """There are too few unrelated pairs to calibrate by."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Percentiles, mean and standard deviation of the cosines of `pairs` unrelated pairs."""

    side: Side
    source: Literal["shipped", "installation"]
    pairs: int
    seed: int
    p50: float
    p90: float
    p99: float
    p999: float
    mean: float
    sd: float


@dataclass(frozen=True, slots=True)
class Drawn:
    """One sampled memory: pairs are made within `org`, and never within `session`."""

    org: int
    session: str
    content: str


def unrelated() -> list[str]:
    """The texts behind the shipped figures, one fact each."""
    return (Path(__file__).parent / "unrelated.txt").read_text(encoding="utf-8").splitlines()


def measure(drawn: Sequence[Drawn], vectors: Vectors, embedder: Embedder, *, seed: int,
            source: Literal["shipped", "installation"] = "installation") -> list[Calibration]:  # fmt: skip
    """Both sides over `drawn`, whose passages are `vectors`. Raises TooFewPairs."""
    if len(drawn) < 2:
        raise _too_few(0, "passage")
    rng = np.random.default_rng(seed)
    asked = np.sort(rng.permutation(len(drawn))[:QUERIES])
    questions = np.stack([embedder.query(drawn[i].content) for i in asked])
    unrelated_to = _unrelated(drawn)
    sides: dict[Side, Vectors] = {
        "passage": (vectors @ vectors.T)[np.triu(unrelated_to)],
        "query": (questions @ vectors.T)[unrelated_to[asked]],
    }
    return [_spread(side, cosines, seed, source, rng) for side, cosines in sides.items()]


def _unrelated(drawn: Sequence[Drawn]) -> NDArray[np.bool_]:
    """Shape (n, n), bool: one org, different sessions, different words."""

    def same(values: Sequence[str]) -> NDArray[np.bool_]:
        numbers = np.unique(np.array(values), return_inverse=True)[1]
        return np.equal.outer(numbers, numbers)

    return (
        same([str(one.org) for one in drawn])
        & ~same([one.session for one in drawn])
        & ~same([one.content for one in drawn])
    )


def _spread(
    side: Side, cosines: Vectors, seed: int, source: Literal["shipped", "installation"], rng: np.random.Generator
) -> Calibration:
    if len(cosines) < PAIRS_MIN:
        raise _too_few(len(cosines), side)
    if len(cosines) > PAIRS_MAX:
        cosines = rng.choice(cosines, PAIRS_MAX, replace=False)
    p50, p90, p99, p999 = (float(value) for value in np.percentile(cosines, [50, 90, 99, 99.9]))
    return Calibration(
        side, source, len(cosines), seed, p50, p90, p99, p999, float(cosines.mean()), float(cosines.std())
    )


def _too_few(pairs: int, side: Side) -> TooFewPairs:
    return TooFewPairs(
        f"{pairs:,} unrelated pairs on the {side} side, and a 99.9th percentile needs {PAIRS_MIN:,}: memories of one "
        "org from different sessions. Until there are more, what was calibrated before stands."
    )


def measure_shipped(embedder: Embedder, seed: int = 1) -> list[Calibration]:
    """Both sides over the texts that ship with this."""
    texts = unrelated()
    drawn = [Drawn(0, str(number), text) for number, text in enumerate(texts)]
    return measure(drawn, embedder.passages(texts), embedder, seed=seed, source="shipped")


SHIPPED: Final[dict[Stamp, tuple[Calibration, ...]]] = {
    STAMP: (
        Calibration("passage", "shipped", 10_878, 1, 0.7892, 0.8277, 0.8629, 0.8879, 0.7902, 0.0291),
        Calibration("query", "shipped", 18_816, 1, 0.7538, 0.7973, 0.8368, 0.8655, 0.7556, 0.0317),
    )
}
"""What `measure_shipped` gave, by stamp; a test measures it again."""
