"""What is asked, in bands of org size, and the exact answer, computed here from the vectors as they were made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.embedding.port import Vectors
from tests.benchmarks.recall.population import COMMON, Population, age_of, spelt, text, words

BANDS = (100, 1_000, 3_000, 10_000, 30_000)
"""Upper ends; the last band has none."""
ORGS_A_BAND = 12
EARLY = 0.025
"""Of all memories, those of the first two days: what a question about then may give."""
HITS = 10


@dataclass(frozen=True)
class Asked:
    """A question to one org. `nearest`: the exact ten, best first, of what a bearer without user may see; `early`: of
    what was known on the second day."""

    org: int
    rows: int
    band: str
    vector: Vectors
    words: str
    common: str
    nearest: NDArray[np.int64]
    early: NDArray[np.int64]


def band_of(rows: int) -> str:
    place = int(np.searchsorted(BANDS, rows, side="right"))
    if place == len(BANDS):
        return f"{BANDS[-1]:,} and more"
    return f"{BANDS[place - 1] if place else 1:,} to {BANDS[place] - 1:,}"


def questions(population: Population, each: int, seed: int = 99) -> list[Asked]:
    """`each` in every band, over at most ORGS_A_BAND of its orgs, in mixed order."""
    rng = np.random.default_rng(seed)
    bands: dict[str, list[int]] = {}
    for rank, rows in enumerate(population.sizes.tolist()):
        bands.setdefault(band_of(rows), []).append(rank)
    wanted = [rank for ranks in bands.values() for rank in _spread(rng, ranks, each)]
    vectors = np.concatenate([part.vectors for part in population.parts()])
    asked = list(_asked(population, wanted, vectors, rng))
    return [asked[place] for place in rng.permutation(len(asked))]


def _spread(rng: np.random.Generator, ranks: Sequence[int], each: int) -> list[int]:
    chosen = rng.choice(ranks, min(ORGS_A_BAND, len(ranks)), replace=False)
    return [int(chosen[number % len(chosen)]) for number in range(each)]


def _asked(population: Population, ranks: Sequence[int], vectors: Vectors, rng: np.random.Generator) -> Iterator[Asked]:
    points, texts = population.points(rng, len(ranks)), words(rng, len(ranks))
    order = np.argsort(population.org_of, kind="stable")
    ends = np.cumsum(population.sizes)
    for place, rank in enumerate(ranks):
        mine = order[ends[rank] - population.sizes[rank] : ends[rank]]
        seen = mine[~population.is_preference(mine)]
        ordered = seen[np.argsort(-(vectors[seen] @ points[place]), kind="stable")]
        early = ordered[age_of(ordered) <= EARLY][:HITS]
        said = text(texts[place][1:6])
        rows = len(mine)
        yield Asked(
            rank + 1, rows, band_of(rows), points[place], said, f"{spelt(COMMON)} {said}", ordered[:HITS], early
        )
