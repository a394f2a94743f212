"""Compaction: rules of one namespace that have drifted are merged, where they are many or two of them are alike."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Final

from pipeline.consolidation.similarity import lexical
from pipeline.memory import content_hash
from pipeline.passes.advice import Answer, read
from pipeline.passes.material import Dropped, DropReason, Material, Proposal, fits, keys, known

RULES_MANY: Final = 30
ALIKE_FLOOR: Final = 0.35
RULES_MAX: Final = 120
"""So many rules of a namespace are looked at together: some 5,000 tokens."""
LETTER: Final = "r"


class Merge(Answer):
    keys: tuple[str, ...]
    text: str


class Merges(Answer):
    merges: tuple[Merge, ...]


def is_due(texts: Sequence[str]) -> bool:
    """More than thirty rules, or a pair that shares more than a third of its characters."""
    return len(texts) > RULES_MANY or any(lexical(a, b) >= ALIKE_FLOOR for a, b in combinations(texts, 2))


def proposals(answer: str, material: Material) -> list[Proposal | Dropped]:
    """Raises Unreadable."""
    return [_proposal(merge, material) for merge in read(answer, Merges).merges]


def _proposal(merge: Merge, material: Material) -> Proposal | Dropped:
    merged = list(known(merge.keys, keys(material, LETTER)))
    if len(merged) < 2:
        unknown = len(dict.fromkeys(merge.keys)) > len(merged)
        return Dropped(DropReason.UNKNOWN_KEY if unknown else DropReason.TOO_FEW, merge.text)
    if not fits(merge.text):
        return Dropped(DropReason.NO_TEXT, merge.text[:2_000])
    ids = tuple(piece.id for piece in merged)
    if content_hash(merge.text) in {content_hash(piece.text) for piece in merged}:
        return Dropped(DropReason.NOTHING_NEW, merge.text)
    return Proposal(merge.text, f"Would take the place of {len(ids)} rules.", material.namespace, ids, ids)
