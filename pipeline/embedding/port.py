"""The embedder port and the stamp that names an embedding space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Stamp:
    """Identity of an embedding space. Vectors of two stamps are never compared."""

    provider: str
    model: str
    revision: str
    dimension: int


class Embedder(Protocol):
    """Texts to L2-normalised float32 vectors; raises ModelUnavailable or ModelRefused."""

    @property
    def stamp(self) -> Stamp: ...

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimension): texts to be found."""

    def query(self, text: str) -> Vectors:
        """Shape (dimension,): a text to find with."""
