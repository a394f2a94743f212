"""Where the rules of contribute abstain: what a model is asked about a new memory, and how its answer is read.

Its answer is only ever a proposal to a person, or nothing: that the new memory takes an old one's place, or that it
says nothing an old one does not.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final, Literal

from pipeline.consolidation.contribute import Add, Contribution, MemoryView, Outdated, Retire
from pipeline.consolidation.similarity import lexical
from pipeline.passes.advice import Answer, read

ALIKE_FLOOR: Final = 0.5
"""Of their characters: below it, and no nearer than unrelated pairs are, two texts raise no doubt."""
ASKED_MAX: Final = 5
PROMPT: Final = "contribute"


class Advice(Answer):
    decision: Literal["add", "update", "delete", "noop"]
    of: str | None = None


def doubtful(new: MemoryView, neighbours: Sequence[MemoryView], cosine_above: float | None) -> list[MemoryView]:
    """The peers that speak of nearly the same, closest first, at most five; none: there is nothing to ask."""
    peers = [other for other in neighbours if other.id != new.id
             and (other.kind, other.scope, other.subject) == (new.kind, new.scope, new.subject)]  # fmt: skip
    near = [other for other in peers if lexical(new.content, other.content) >= ALIKE_FLOOR
            or (cosine_above is not None and other.cosine is not None and other.cosine > cosine_above)]  # fmt: skip
    return sorted(near, key=lambda other: (-lexical(new.content, other.content), other.id))[:ASKED_MAX]


def question(new: MemoryView, peers: Sequence[MemoryView]) -> str:
    """As JSON lines."""
    lines = [("new", new), *((f"m{number}", peer) for number, peer in enumerate(peers, 1))]
    return "\n".join(
        json.dumps({"key": key, "text": one.content, "said": one.observed_at.date().isoformat()}, ensure_ascii=False)
        for key, one in lines
    )


def decided(answer: str, new: MemoryView, peers: Sequence[MemoryView]) -> Contribution:
    """Raises Unreadable. A key that was not asked about is an add; what was said later stays, whatever is answered."""
    said = read(answer, Advice)
    peer = {f"m{number}": one for number, one in enumerate(peers, 1)}.get(said.of or "")
    if said.decision == "add" or peer is None:
        return Add()
    if said.decision == "noop" or peer.observed_at > new.observed_at:
        return Outdated(peer.id, f"model_{said.decision}")
    return Retire((peer.id,), f"model_{said.decision}") if peer.observed_at < new.observed_at else Add()
