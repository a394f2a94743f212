"""Who remembers what: orgs of skewed size, clustered vectors, texts of a skewed vocabulary. The same for the same seed.

A row's number is the low half of its id, so that an answer is compared with the exact one without a look-up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from pipeline.embedding.port import Vectors

ORGS = 1_000
SKEW = 1.2
"""Size falls off as rank to this power: of 200,000 memories the largest org holds 46,000, the median one 20."""
DIMENSION = 384
CLUSTERS = 200
SPREAD = 0.5
"""Beside the distance of centres of 1: two of a cluster have a cosine near 0.8, of two clusters near 0."""
WORDS = 20_000
STOP_WORDS = 100
COMMON = 0
WORDS_IN_A_TEXT = 14
USERS = 50
"""Of each org, whose preferences are theirs alone."""
ROWS_AT_ONCE = 50_000
_FIRST_ID = (0x019C_0000_0000 << 80) | (0x7 << 76) | (0x2 << 62)  # a version 7 UUID of early 2026


@dataclass(frozen=True)
class Part:
    """Consecutive rows as they are written."""

    first: int
    orgs: NDArray[np.int32]
    vectors: Vectors
    words: NDArray[np.int32]


@dataclass(frozen=True)
class Population:
    memories: int
    orgs: int = ORGS
    seed: int = 5
    preferences: int = 5
    """Every so many-th memory is one; 0 for none."""
    centres: Vectors = field(init=False, repr=False)

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        object.__setattr__(self, "centres", rng.standard_normal((CLUSTERS, DIMENSION), np.float32))

    @cached_property
    def org_of(self) -> NDArray[np.int32]:
        """The org of each row, by its rank in size; orgs write at the same time, so that their rows lie mixed."""
        shares = np.arange(1, self.orgs + 1, dtype=np.float64) ** -SKEW
        sizes = np.maximum(1, np.floor(shares / shares.sum() * self.memories)).astype(np.int64)
        sizes[0] += self.memories - sizes.sum()
        order = np.repeat(np.arange(self.orgs, dtype=np.int32), sizes)
        return np.random.default_rng(self.seed).permutation(order)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        return np.bincount(self.org_of, minlength=self.orgs)

    def is_preference(self, rows: Any) -> Any:
        return rows % self.preferences == 0 if self.preferences else rows < 0

    def parts(self) -> Iterator[Part]:
        for first in range(0, self.memories, ROWS_AT_ONCE):
            count = min(ROWS_AT_ONCE, self.memories - first)
            rng = np.random.default_rng((self.seed, first))
            yield Part(first, self.org_of[first : first + count], self.points(rng, count), words(rng, count))

    def points(self, rng: np.random.Generator, count: int) -> Vectors:
        """Unit vectors around the centres; memories and questions alike."""
        at = self.centres[rng.integers(0, CLUSTERS, count)]
        at = at + SPREAD * rng.standard_normal((count, DIMENSION), np.float32)
        return np.asarray(at / np.linalg.norm(at, axis=1, keepdims=True), dtype=np.float32)


def words(rng: np.random.Generator, count: int) -> NDArray[np.int32]:
    """Of each text. The frequency of a word falls off as 1/rank, as in any language; the ranks where stop words stand
    are left out, but for one common word that begins a third of the texts."""
    span = np.log(WORDS / STOP_WORDS)
    ranks = np.floor(STOP_WORDS * np.exp(rng.random((count, WORDS_IN_A_TEXT)) * span)).astype(np.int32)
    ranks[::3, 0] = COMMON
    return ranks


def text(ranks: NDArray[np.int32]) -> str:
    return " ".join(spelt(int(rank)) for rank in ranks)


def spelt(rank: int) -> str:
    """A word no stemmer cuts: consonants and vowels by turns."""
    letters = []
    rank += 1_000
    while rank:
        rank, consonant = divmod(rank, 14)
        rank, vowel = divmod(rank, 4)
        letters.append("bdfgklmnprtvxz"[consonant] + "aiou"[vowel])
    return "".join(letters) + "k"


def age_of(row: Any) -> Any:
    """When a row, or each of many, was said: from 0, the first moment, to 1."""
    return row * 7_919 % 1_000_003 / 1_000_003


def id_of(row: int) -> UUID:
    return UUID(int=_FIRST_ID + row + (row // 1_000 << 80))


def row_of(memory: UUID) -> int:
    return memory.int & 0xFFFF_FFFF
