"""What a model that labels tokens gives for a text, whatever its own labels are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from pipeline.redaction.ner.roles import Role

Scores = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Tagged:
    """A text's tokens in order: `offsets` are (start, end) in characters, `scores` probabilities.

    `scores` has shape (len(offsets), len(Role)); what no role has is the probability that the token is none of them.
    """

    offsets: Sequence[tuple[int, int]]
    scores: Scores


class Tagger(Protocol):
    """A model. Loads on first use, in the process that uses it."""

    @property
    def revision(self) -> str:
        """Names the weights: two models of one revision find the same."""

    @property
    def roles(self) -> frozenset[Role]:
        """Those that the model can give at all."""

    def verify(self) -> None:
        """Raises SettingError where the model is missing or not the one that is meant. Loads nothing."""

    def tag(self, texts: Sequence[str]) -> Sequence[Tagged]:
        """One for each text, in order; a text's answer does not depend on the others."""
