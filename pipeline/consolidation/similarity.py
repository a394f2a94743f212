"""The one measure of whether two facts say the same: by hash, by words, then by meaning.

Lexical is rapidfuzz's token_sort_ratio: token_set_ratio gives 1.0 whenever one text's words are all in the other, so
"the API uses Postgres" would repeat "the API uses Postgres for billing until the move to MySQL".

A ratio alone cannot tell a repeat from a change of one word: within their conversations, 41 pairs of the 1,487 LoCoMo
observations reach 0.72, and most of them change who did it or what. So a guard comes first. Near-exact by words means
the same claims in the same order, whatever filler, case, punctuation or plural differ; it takes none of those 41, and
94 pairs of sentences said in those conversations, of which 30 were read and all 30 say the same. Near-exact by meaning
means that no digit, negation, identifier or name is on one side only.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from rapidfuzz import fuzz

from pipeline.consolidation.wording import anchors, claims
from pipeline.memory import content_hash
from pipeline.session import normalised

LEXICAL_FLOOR: Final = 0.72
"""Design §9; below it two texts share too few characters for their shared claims to be the whole of both."""


class Likeness(StrEnum):
    EXACT = "exact"
    LEXICAL = "lexical"
    COSINE = "cosine"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Similarity:
    """How two texts are alike, and the score of the leg that says so: 1.0, a ratio in 0..1, or a cosine."""

    kind: Likeness
    score: float


def similarity(a: str, b: str, *, cosine: float | None = None, cosine_above: float | None = None) -> Similarity:
    """Compares two contents; symmetric.

    `cosine` is that of their vectors under one stamp, `cosine_above` the threshold calibrated for that stamp; the leg
    is used only with both. NONE carries the lexical score.
    """
    if content_hash(a) == content_hash(b):
        return Similarity(Likeness.EXACT, 1.0)
    score = lexical(a, b)
    if score >= LEXICAL_FLOOR and claims(a) == claims(b) != ():
        return Similarity(Likeness.LEXICAL, score)
    if cosine is not None and cosine_above is not None and cosine > cosine_above and _same_anchors(a, b):
        return Similarity(Likeness.COSINE, cosine)
    return Similarity(Likeness.NONE, score)


def lexical(a: str, b: str) -> float:
    """Ratio in 0..1 of the shared characters of both texts, their words sorted; case and white space do not count."""
    return float(fuzz.token_sort_ratio(normalised(a), normalised(b))) / 100


def _same_anchors(a: str, b: str) -> bool:
    # Against all claims of the other side: a word that only opens a sentence is no name.
    return anchors(a) <= set(claims(b)) and anchors(b) <= set(claims(a))
