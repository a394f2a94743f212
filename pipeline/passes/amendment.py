"""Amendment: rules of one workflow are reworded, where there are several and none of them waits already."""

from __future__ import annotations

from typing import Final

from pipeline.memory import content_hash
from pipeline.passes.advice import Answer, read
from pipeline.passes.material import Dropped, DropReason, Material, Proposal, fits, keys

RULES_MIN: Final = 5
LETTER: Final = "r"


class Amended(Answer):
    key: str
    text: str


class Amendments(Answer):
    amendments: tuple[Amended, ...]


def proposals(answer: str, material: Material) -> list[Proposal | Dropped]:
    """Raises Unreadable."""
    return [_proposal(item, material) for item in read(answer, Amendments).amendments]


def _proposal(item: Amended, material: Material) -> Proposal | Dropped:
    rule = keys(material, LETTER).get(item.key)
    if rule is None:
        return Dropped(DropReason.UNKNOWN_KEY, item.text)
    if not fits(item.text):
        return Dropped(DropReason.NO_TEXT, item.text[:2_000])
    if content_hash(item.text) == content_hash(rule.text):
        return Dropped(DropReason.NOTHING_NEW, item.text)
    return Proposal(item.text, "Would reword one rule of its workflow.", material.namespace, (rule.id,), (rule.id,))
