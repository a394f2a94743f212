"""A person's text, once it was checked: edit stays pending, redirect approves, correct supersedes; a restored one is
let in again, unless the gate holds it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID

from uuid_utils.compat import uuid7

from db import ledger
from db import redaction as store
from db.connect import Connection
from db.redaction import Edit, NewMemory
from db.runs import Claimed
from pipeline.drafting import GatedText
from pipeline.memory import AuthorKind, HoldReason, MemoryDraft, Scope, ScopeKind, Tier

REVIEWED = frozenset({HoldReason.RULE})
"""Reasons that the person who typed the text has already answered by typing it."""


@dataclass(frozen=True)
class Applied:
    """What was asked, about which memory as it was read, and what the check made of the text."""

    act: Literal["edit", "redirect", "correct", "restore"]
    memory: dict[str, Any]
    text: GatedText
    comment: str | None

    @property
    def against(self) -> tuple[HoldReason, ...]:
        return tuple(reason for reason in self.text.hold_reasons if reason not in REVIEWED)


def apply(conn: Connection, run: Claimed, applied: Applied) -> None:
    """Carry the verdict out. A memory that was decided meanwhile stays as it is; both texts are kept."""
    memory = applied.memory
    payload = {"before": memory["content"], "after": applied.text.content}
    detail = {"run": str(run.id), "act": applied.act, "against": list(applied.against)}
    ledger.record(conn, org_id=run.org_id, subject=("memory", str(memory["id"])), actor=run.actor,
                  action=f"memory_{applied.act}", detail=detail, payload=payload)  # fmt: skip
    if applied.act == "correct":
        _correct(conn, run, applied)
    elif applied.act == "restore":
        _restore(conn, run, applied)
    elif _edit(conn, run, applied) and applied.act == "redirect" and not applied.against:
        store.activate(conn, memory["id"], actor=run.actor, decision="redirect", comment=applied.comment)


def _edit(conn: Connection, run: Claimed, applied: Applied) -> bool:
    if applied.memory["review_id"] is None:
        return False
    return store.apply_edit(conn, Edit(
        memory_id=applied.memory["id"], review_id=applied.memory["review_id"], content=applied.text.content,
        classes=applied.text.classes, hold_reasons=applied.against or (HoldReason.EDITED,),
        subject=applied.text.subject, high_stakes=applied.text.high_stakes, actor=run.actor, cites=applied.text.cites,
    ))  # fmt: skip


def _correct(conn: Connection, run: Claimed, applied: Applied) -> None:
    """A clean text supersedes at once; one that the gate holds waits, and replaces the old when it is approved."""
    memory, new = applied.memory, uuid7()
    held = bool(applied.against)
    draft = _draft(run, applied, new, replaces=(memory["id"],) if held else ())
    stored = NewMemory(draft, uuid7() if held else None, run.actor, previous_hash=memory["content_hash"])
    ends = datetime.now(UTC)
    gives_way = held or store.supersede(
        conn, memory["id"], new, actor=run.actor, decision="correct", comment=applied.comment, valid_to=ends
    )
    if gives_way:
        store.insert_memories(conn, [stored])
    if held:
        store.demand_amends(conn, memory["id"], actor=run.actor, decision="correct", comment=applied.comment)


def _restore(conn: Connection, run: Claimed, applied: Applied) -> None:
    """What was taken for another's repeat stands again as it was said, when it was said."""
    memory, held = applied.memory, bool(applied.against)
    draft = replace(
        _draft(run, applied, uuid7(), replaces=()), observed_at=memory["observed_at"],
        provenance={"provider": "person", "restores": str(memory["id"])},
    )  # fmt: skip
    store.insert_memories(conn, [NewMemory(draft, uuid7() if held else None, run.actor)])


def _draft(run: Claimed, applied: Applied, new: UUID, *, replaces: tuple[UUID, ...]) -> MemoryDraft:
    memory = applied.memory
    return MemoryDraft(
        id=new, run_id=run.id, org_id=run.org_id, tier=Tier(memory["tier"]), kind=memory["kind"],
        scope=Scope(ScopeKind(memory["scope_kind"]), memory["scope_value"]), content=applied.text.content,
        rationale=memory["rationale"], evidence=memory["evidence"], classes=applied.text.classes,
        hold_reasons=applied.against, subject=applied.text.subject, author_kind=AuthorKind.PERSON, author=run.actor,
        provenance={"provider": "person", "corrects": str(memory["id"])}, high_stakes=applied.text.high_stakes,
        importance=memory["importance"], observed_at=datetime.now(UTC), expires_at=memory["expires_at"],
        replaces=replaces, namespace=memory["namespace"], cites=applied.text.cites if applied.against else None,
    )  # fmt: skip
