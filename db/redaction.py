"""Redaction's reads and writes: envelopes in; memories with their reviews, drops and applied verdicts out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from db.connect import Connection
from db.sql import query
from pipeline.consolidation.similarity import Likeness, similarity
from pipeline.memory import HoldReason, MemoryDraft, Subject, content_hash


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A draft with what only the worker can say: its review if held, who acts, what it was chained to."""

    draft: MemoryDraft
    review_id: UUID | None
    actor: str
    previous_hash: bytes | None = None


@dataclass(frozen=True, slots=True)
class NewDrop:
    """A draft that is kept out by `rule`: its stated confidence misses `threshold`.

    `review_share`: basis points of drops that a person is asked about; the database decides which by the draft's id.
    """

    draft: MemoryDraft
    rule: str
    threshold: float
    lifetime_days: int
    review_share: int


@dataclass(frozen=True, slots=True)
class Said:
    """A redacted text, and for whom it would be kept."""

    org_id: int
    scope_kind: str
    scope_value: str | None
    content: str


@dataclass(frozen=True, slots=True)
class Edit:
    """A checked text for a pending memory."""

    memory_id: UUID
    review_id: UUID
    content: str
    classes: tuple[str, ...]
    hold_reasons: tuple[HoldReason, ...]
    subject: Subject | None
    high_stakes: bool
    actor: str
    cites: UUID | None = None


def envelopes(conn: Connection, runs: Sequence[UUID]) -> dict[UUID, dict[str, Any]]:
    return {row["run_id"]: row["body"] for row in conn.execute(query("stages.envelopes"), {"ids": list(runs)})}


def discard_envelopes(conn: Connection, runs: Sequence[UUID]) -> None:
    conn.execute(query("stages.discard_envelopes"), {"ids": list(runs)})


def insert_memories(conn: Connection, memories: Sequence[NewMemory]) -> None:
    """Pending with an open hold review where there is a review id, active otherwise."""
    if memories:
        conn.execute(query("stages.insert_memories"), {"rows": Jsonb([_row(memory) for memory in memories])})


def _row(memory: NewMemory) -> dict[str, Any]:
    draft = memory.draft
    return {
        "id": str(draft.id), "org_id": draft.org_id, "run_id": str(draft.run_id), "tier": draft.tier,
        "kind": draft.kind, "scope_kind": draft.scope.kind, "scope_value": draft.scope.value,
        "content": draft.content, "content_hash": content_hash(draft.content).hex(), "rationale": draft.rationale,
        "evidence": draft.evidence, "classes": list(draft.classes), "hold_reasons": list(draft.hold_reasons),
        "subject_type": draft.subject and draft.subject.type, "subject_id": draft.subject and draft.subject.id,
        "author_kind": draft.author_kind, "author": draft.author, "provenance": draft.provenance,
        "confidence": draft.confidence, "high_stakes": draft.high_stakes, "importance": draft.importance,
        "observed_at": draft.observed_at.isoformat(), "expires_at": draft.expires_at.isoformat(),
        "namespace": draft.namespace, "replaces": [str(item) for item in draft.replaces], "actor": memory.actor,
        "previous_hash": memory.previous_hash.hex() if memory.previous_hash else None,
        "review_id": str(memory.review_id) if memory.review_id else None,
        "cites": str(draft.cites) if draft.cites else None,
    }  # fmt: skip


def insert_drops(conn: Connection, drops: Sequence[NewDrop]) -> None:
    """Keep what was dropped, with its rule; the table refuses one with a class, and opens the sampled ones' reviews."""
    if drops:
        conn.execute(query("stages.insert_drops"), {"rows": Jsonb([_dropped(drop) for drop in drops])})


def _dropped(drop: NewDrop) -> dict[str, Any]:
    kept = _row(NewMemory(drop.draft, None, ""))
    return kept | {"rule": drop.rule, "threshold": drop.threshold, "lifetime_days": drop.lifetime_days,
                   "review_share": drop.review_share}  # fmt: skip


def refused(conn: Connection, texts: Collection[Said]) -> dict[Said, UUID]:
    """The memory by which a person kept this text out before, for those where there is one: by hash, else by words."""
    if not texts:
        return {}
    said = dict(enumerate(texts))
    rows = [
        {"number": number, "org_id": text.org_id, "scope_kind": text.scope_kind, "scope_value": text.scope_value,
         "content": text.content, "hash": content_hash(text.content).hex()}
        for number, text in said.items()
    ]  # fmt: skip
    found: dict[Said, UUID] = {}
    for row in conn.execute(query("stages.refused"), {"rows": Jsonb(rows)}):
        text = said[row["number"]]
        if similarity(text.content, row["content"]).kind is not Likeness.NONE:
            found.setdefault(text, row["id"])
    return found


def verdict_memories(conn: Connection, memories: Sequence[UUID]) -> dict[UUID, dict[str, Any]]:
    """The memories that verdict runs are about, as they are now."""
    return {row["id"]: row for row in conn.execute(query("stages.verdict_memories"), {"ids": list(memories)})}


def apply_edit(conn: Connection, edit: Edit) -> bool:
    """The pending memory takes the new text and its review the new reasons; False when it was decided meanwhile."""
    params = {
        "id": edit.memory_id, "content": edit.content, "content_hash": content_hash(edit.content),
        "classes": list(edit.classes), "hold_reasons": list(edit.hold_reasons), "actor": edit.actor,
        "subject_type": edit.subject and edit.subject.type, "subject_id": edit.subject and edit.subject.id,
        "high_stakes": edit.high_stakes, "review_id": edit.review_id, "cites": edit.cites,
    }  # fmt: skip
    if conn.execute(query("stages.apply_edit"), params).rowcount == 0:
        return False
    conn.execute(query("stages.reopen_reasons"), params)
    return True


def activate(conn: Connection, memory: UUID, *, actor: str, decision: str, comment: str | None) -> bool:
    """A redirected memory becomes active and its review closes."""
    params = {"id": memory, "actor": actor, "reason": decision, "decision": decision, "comment": comment}
    if conn.execute(query("stages.activate"), params).rowcount == 0:
        return False
    conn.execute(query("stages.close_reviews"), params)
    return True


def supersede(
    conn: Connection, memory: UUID, by: UUID, *, actor: str, decision: str, comment: str | None, valid_to: datetime
) -> bool:
    """The memory gives way to `by`; False when it was decided meanwhile."""
    params = {"id": memory, "by": by, "actor": actor, "reason": decision, "decision": decision, "comment": comment,
              "valid_to": valid_to}  # fmt: skip
    if conn.execute(query("stages.supersede"), params).rowcount == 0:
        return False
    conn.execute(query("stages.close_reviews"), params)
    return True


def demand_amends(conn: Connection, memory: UUID, *, actor: str, decision: str, comment: str | None) -> None:
    """An open audit is answered in the negative, and a review opened that lasts until the memory is put right."""
    params = {"id": memory, "actor": actor, "decision": decision, "comment": comment}
    conn.execute(query("stages.demand_amends"), params)
