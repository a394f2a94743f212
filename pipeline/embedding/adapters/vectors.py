"""The one check every adapter's vectors pass before they leave it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pipeline.embedding.port import Vectors
from pipeline.errors import ModelRefused


def unit(rows: ArrayLike) -> Vectors:
    """`rows`, shape (n, dimension), as float32 with each row at length 1.

    Raises ModelRefused on a row that is not finite or has no length: it has no direction to compare.
    """
    matrix = np.asarray(rows, dtype=np.float64)
    peaks = np.abs(matrix).max(axis=1, keepdims=True)
    if not (np.isfinite(peaks) & (peaks > 0)).all():
        raise ModelRefused("the embedder answered with a vector that is not finite or has no length")
    scaled = matrix / peaks  # so that squares neither overflow nor vanish
    return np.asarray(scaled / np.linalg.norm(scaled, axis=1, keepdims=True), dtype=np.float32)
