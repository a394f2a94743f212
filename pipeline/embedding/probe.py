"""Two texts embedded before anything is stored: whether an embedder gives what its stamp promises."""

from __future__ import annotations

from typing import Final

import numpy as np

from pipeline.embedding.port import Embedder, Vectors
from pipeline.errors import ModelRefused, SettingError

TEXTS: Final = ("The staging database runs in eu-west-1.", "Invoices are sent on the first Monday of the month.")
LENGTH_TOLERANCE: Final = 1e-3
"""Of a vector's length from 1: float32 adds up to a thousandth of this, a vector that nobody normalised is far off."""
SAME: Final = 0.9999
"""Cosine of two unrelated texts from which on an embedder tells none apart; e5, which puts all texts near, has .79."""


def probe(embedder: Embedder) -> None:
    """Raises SettingError where vectors have another length than the stamp's dimension, are not normalised, or are
    the same for different texts, and where the endpoint refuses; ModelUnavailable where it does not answer."""
    try:
        passages, question = embedder.passages(TEXTS), embedder.query(TEXTS[0])
    except ModelRefused as error:
        raise SettingError(f"AFTERWORD_EMBEDDER: a first text could not be embedded: {error}") from error
    _check_shape(passages, (len(TEXTS), embedder.stamp.dimension))
    _check_shape(question, (embedder.stamp.dimension,))
    lengths = np.linalg.norm(np.vstack([passages, question]), axis=1)
    if not np.all(np.abs(lengths - 1) <= LENGTH_TOLERANCE):
        raise SettingError(f"AFTERWORD_EMBEDDER: vectors are not normalised; one has length {_worst(lengths):.4g}")
    if float(passages[0] @ passages[1]) > SAME:
        raise SettingError("AFTERWORD_EMBEDDER: two different texts have the same vector; this model embeds nothing")


def _check_shape(found: Vectors, due: tuple[int, ...]) -> None:
    if found.shape != due:
        raise SettingError(
            f"AFTERWORD_EMBEDDER: vectors of length {found.shape[-1]} for a stamp of dimension {due[-1]}. "
            "Set AFTERWORD_EMBEDDING_DIMENSION to what the model answers with."
        )


def _worst(lengths: Vectors) -> float:
    return float(lengths[np.argmax(np.abs(lengths - 1))])
