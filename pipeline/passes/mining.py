"""Mining: what recurs in outcomes becomes a rule that waits for a person."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from pipeline.passes.advice import Answer, read
from pipeline.passes.material import Dropped, DropReason, Material, Proposal, fits, keys, known

BATCH: Final = 40
FLOOR: Final = 3
"""Outcomes that a batch must have, and that a rule must rest on."""
LETTER: Final = "o"


class Mined(Answer):
    text: str
    sources: tuple[str, ...] = Field(alias="from")
    namespace: str


class Found(Answer):
    rules: tuple[Mined, ...]


def proposals(answer: str, material: Material) -> list[Proposal | Dropped]:
    """Raises Unreadable."""
    return [_proposal(rule, material) for rule in read(answer, Found).rules]


def _proposal(rule: Mined, material: Material) -> Proposal | Dropped:
    found = list(known(rule.sources, keys(material, LETTER)))
    if len(found) < FLOOR:
        unknown = len(dict.fromkeys(rule.sources)) > len(found)
        return Dropped(DropReason.UNKNOWN_KEY if unknown else DropReason.TOO_FEW, rule.text)
    if not fits(rule.text):
        return Dropped(DropReason.NO_TEXT, rule.text[:2_000])
    if rule.namespace not in material.places:
        return Dropped(DropReason.NO_NAMESPACE, rule.text)
    sources = tuple(piece.id for piece in found)
    return Proposal(rule.text, f"Rests on {len(sources)} outcomes.", rule.namespace, sources=sources)
