"""Looking again at what stands: requests, the rows still to be looked at, and the moves that follow from a look.

A batch is one transaction: the request's row is locked, so that one worker at a time carries it out, and how far it is
commits together with what was done; a killed worker leaves neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Literal
from uuid import UUID

from psycopg import sql
from psycopg.types.json import Jsonb
from uuid_utils.compat import uuid7

from db import ledger
from db.connect import Connection
from db.sql import query
from pipeline.memory import HoldReason, Subject, content_hash
from pipeline.reconsidering import Move, Reconsidered, Stored
from pipeline.states import MemoryStatus


@dataclass(frozen=True, slots=True)
class Request:
    """An open request, locked. `after`: the key of the last row looked at in `store`. `counts`: what became of rows."""

    id: UUID
    kind: str
    org_id: int | None
    since: datetime | None
    dry_run: bool
    actor: str
    reason: str
    rate_per_second: float
    store: str
    after: str | None
    passes: int
    counts: dict[str, int]
    plan_id: UUID | None
    confirmed_digest: bytes | None
    status: str
    rested_seconds: float | None


@dataclass(frozen=True, slots=True)
class Row:
    """A memory as it was read; every move holds only while it stands so."""

    id: UUID
    org_id: int
    run_id: UUID
    revision: int
    review_id: UUID | None
    stored: Stored
    scope: tuple[str, str | None]
    on_hold: bool
    """A legal hold keeps its text, whatever is found in it."""


@dataclass(frozen=True, slots=True)
class Act:
    """Who has a memory moved, by which request, and which detectors looked."""

    request: UUID
    actor: str
    detectors: str


def ask(
    conn: Connection, kind: str, *, actor: str, reason: str, rate: float, org_id: int | None = None,
    since: datetime | None = None, dry_run: bool = False, plan: tuple[UUID, str, bytes] | None = None,
) -> UUID:  # fmt: skip
    """Insert a request; nothing is looked at here. `plan`: (id, who had it made, digest) of what is to be applied."""
    plan_id, planned_by, digest = plan or (None, None, None)
    params = {"kind": kind, "org_id": org_id, "since": since, "dry_run": dry_run, "actor": actor, "reason": reason,
              "rate": rate, "plan_id": plan_id, "planned_by": planned_by, "confirmed_digest": digest}  # fmt: skip
    row = conn.execute(query("reclassify.request"), params).fetchone()
    assert row is not None
    return UUID(str(row["id"]))


def requests(conn: Connection, *, id: UUID | None = None, limit: int = 20) -> list[dict[str, Any]]:
    """Requests, latest first, with how far they are."""
    return list(conn.execute(query("reclassify.requests"), {"id": id, "limit": limit}))


def changes(conn: Connection, request: UUID, *, limit: int) -> list[dict[str, Any]]:
    """What became of memories by this request, or would."""
    return list(conn.execute(query("reclassify.changes"), {"id": request, "limit": limit}))


def any_open(conn: Connection) -> bool:
    row = conn.execute(query("reclassify.any_open")).fetchone()
    return bool(row and row["waits"])


def next_open(conn: Connection) -> Request | None:
    """The open request whose turn it is, locked until the transaction ends; None where none is free."""
    row = conn.execute(query("reclassify.open")).fetchone()
    return None if row is None else Request(**row)


def give_way_soon(conn: Connection) -> None:
    """In this transaction, what is locked by others is left for another time; raises a transient error then."""
    conn.execute(query("reclassify.give_way_soon"))


def looking(conn: Connection, detectors: str) -> None:
    """Say which detector set looked at what this transaction writes."""
    conn.execute(query("reclassify.looking"), {"detectors": detectors})


def advance(
    conn: Connection, request: Request, *, status: str, store: str, after: str | None, passes: int,
    counts: dict[str, int], detectors: str,
) -> None:  # fmt: skip
    conn.execute(query("reclassify.advance"), {
        "id": request.id, "status": status, "store": store, "after": after, "passes": passes, "counts": Jsonb(counts),
        "detectors": detectors,
    })  # fmt: skip


def left(conn: Connection, request: Request, *, detectors: str | None, live: bool) -> int:
    """How many memories the request would still look at."""
    params = {"org_id": request.org_id, "since": request.since, "detectors": detectors, "live": live}
    row = conn.execute(query("reclassify.left"), params).fetchone()
    return int(row["memories"]) if row else 0


def memories(conn: Connection, request: Request, *, detectors: str | None, live: bool, limit: int) -> list[Row]:
    """The next memories that still hold text; `detectors`: not those this set looked at; `live`: pending or active."""
    return [_row(row) for row in conn.execute(query("reclassify.memories"), {
        **_scope(request), "detectors": detectors, "live": live, "plan_id": request.plan_id, "limit": limit,
    })]  # fmt: skip


def _scope(request: Request) -> dict[str, Any]:
    return {"after": request.after, "org_id": request.org_id, "since": request.since}


def _row(row: dict[str, Any]) -> Row:
    stored = Stored(
        status=MemoryStatus(row["status"]), kind=row["kind"], content=row["content"], rationale=row["rationale"],
        evidence=row["evidence"], classes=frozenset(row["classes"]),
        reasons=frozenset(map(HoldReason, row["hold_reasons"])),
        subject=Subject(row["subject_type"], row["subject_id"]) if row["subject_type"] else None,
        let_in=row["let_in"], replaces=row["replaces"],
    )  # fmt: skip
    return Row(
        row["id"], row["org_id"], row["run_id"], row["revision"], row["review_id"], stored,
        (row["scope_kind"], row["scope_value"]), row["on_hold"],
    )  # fmt: skip


def mark(conn: Connection, rows: Sequence[Row], detectors: str) -> None:
    """This set looked at them, as they were read."""
    params = {"ids": [row.id for row in rows], "revisions": [row.revision for row in rows], "detectors": detectors}
    conn.execute(query("reclassify.mark"), params)


def note_changes(conn: Connection, request: Request, found: Sequence[tuple[Row, Reconsidered]]) -> None:
    """What became of these memories, or would; labels alone."""
    rows = [
        {"memory_id": str(row.id), "org_id": row.org_id, "revision": row.revision, "status": row.stored.status,
         "move": new.move, "classes_before": sorted(row.stored.classes), "classes": list(new.classes),
         "reasons_before": [reason for reason in HoldReason if reason in row.stored.reasons],
         "reasons": list(new.reasons)}
        for row, new in found
    ]  # fmt: skip
    if rows:
        conn.execute(query("reclassify.note_changes"), {"id": request.id, "rows": Jsonb(rows)})


def plan_stands(conn: Connection, request: Request) -> bool:
    """Whether the plan's rows are those whose digest was confirmed."""
    params = {"plan_id": request.plan_id, "confirmed_digest": request.confirmed_digest}
    row = conn.execute(query("reclassify.plan_stands"), params).fetchone()
    return bool(row and row["stands"])


def planned(conn: Connection, request: Request, rows: Sequence[Row]) -> dict[UUID, tuple[Any, ...]]:
    """(revision, status, move, classes, reasons) by memory, as the plan says."""
    params = {"plan_id": request.plan_id, "ids": [row.id for row in rows]}
    return {
        row["memory_id"]: (row["revision"], row["status"], row["move"], row["classes"], row["reasons"])
        for row in conn.execute(query("reclassify.planned"), params)
    }


def carry_out(conn: Connection, act: Act, row: Row, new: Reconsidered) -> bool:
    """Move one memory, with its entry in the ledger; False when it no longer stands as it was read, or a person's text
    about it is being checked.
    """
    moves = {Move.NOTE: _note, Move.HOLD: _hold, Move.REVISE: _revise, Move.RELEASE: _release, Move.ERASE: _erase}
    params = _params(act, row, new)
    if not moves[new.move](conn, row, new, params):
        return False
    detail = {
        "request": str(act.request), "move": new.move, "detectors": act.detectors, "classes": list(new.classes),
        "before": sorted(row.stored.classes), "reasons": list(new.reasons), "masked": new.masked,
    }  # fmt: skip
    ledger.record(conn, org_id=row.org_id, subject=("memory", str(row.id)), actor=act.actor,
                  action="memory_reclassified", detail=detail)  # fmt: skip
    return True


def _params(act: Act, row: Row, new: Reconsidered) -> dict[str, Any]:
    return {
        "id": row.id, "org_id": row.org_id, "run_id": row.run_id, "status": row.stored.status,
        "revision": row.revision, "content": new.content, "content_hash": content_hash(new.content),
        "rationale": new.rationale, "evidence": Jsonb(new.evidence), "classes": list(new.classes),
        "reasons": list(new.reasons), "subject_type": new.subject and new.subject.type,
        "subject_id": new.subject and new.subject.id, "actor": act.actor, "detectors": act.detectors,
        "review_id": row.review_id,
    }  # fmt: skip


def _note(conn: Connection, row: Row, new: Reconsidered, params: dict[str, Any]) -> bool:
    return conn.execute(query("reclassify.note_classes"), params).rowcount == 1


def _hold(conn: Connection, row: Row, new: Reconsidered, params: dict[str, Any]) -> bool:
    """The successor waits with the text that may stay; the memory itself keeps none. Where another memory of its run
    says the same once HIGH is masked, that one is the successor.
    """
    same = conn.execute(query("reclassify.same_text"), params).fetchone()
    params |= {"by": same["id"] if same else uuid7(), "review_id": uuid7()}
    if conn.execute(query("reclassify.give_way"), params).rowcount == 0:
        return False
    conn.execute(query("reclassify.void_reviews"), params)
    if same is None:
        conn.execute(query("reclassify.succeed"), params)
        conn.execute(query("reclassify.name_successor"), params)
        conn.execute(query("reclassify.open_hold"), params)
    _erase(conn, row, new, params | {"status": MemoryStatus.SUPERSEDED})
    return True


def _revise(conn: Connection, row: Row, new: Reconsidered, params: dict[str, Any]) -> bool:
    if new.masked and conn.execute(query("reclassify.same_text"), params).fetchone():
        return _hold(conn, row, new, params)
    if conn.execute(query("reclassify.revise"), params).rowcount == 0:
        return False
    conn.execute(query("reclassify.reason_anew"), params)
    return True


def _release(conn: Connection, row: Row, new: Reconsidered, params: dict[str, Any]) -> bool:
    if conn.execute(query("reclassify.release"), params).rowcount == 0:
        return False
    conn.execute(query("reclassify.void_reviews"), params)
    conn.execute(query("reclassify.carry_on"), params)
    conn.execute(query("reclassify.sample"), params)
    return True


def _erase(conn: Connection, row: Row, new: Reconsidered, params: dict[str, Any]) -> bool:
    erased = conn.execute(query("reclassify.erase"), params).fetchone()
    if erased is None or erased["erased"] == 0:
        return False
    for stamp in conn.execute(query("reclassify.stamps")).fetchall():
        table = sql.Identifier(f"embeddings_{stamp['id']}")
        conn.execute(sql.SQL(query("reclassify.forget_vector")).format(table=table), params)
    return True


# --- The other stores, and what is written where something was found.

Store = Literal["drops", "payloads", "transcripts", "envelopes"]


@dataclass(frozen=True, slots=True)
class Item:
    """A row of another store: its key there, and what it holds."""

    id: Any
    org_id: int
    body: Any
    on_hold: bool


def items(conn: Connection, store: Store, request: Request, *, detectors: str, limit: int) -> list[Item]:
    """The next of a store, that this set did not look at; envelopes, which come and go, each time."""
    params = {**_scope(request), "detectors": detectors, "limit": limit}
    return [Item(**row) for row in conn.execute(query(f"reclassify.{store}"), params)]


def mark_items(conn: Connection, store: Store, looked: Sequence[Item], detectors: str) -> None:
    if store != "envelopes" and looked:
        conn.execute(query(f"reclassify.mark_{store}"), {"ids": [item.id for item in looked], "detectors": detectors})


def repack(conn: Connection, act: Act, item: Item, body: bytes, masks: dict[str, int]) -> bool:
    """The transcript without what was found in it; False when it is gone."""
    params = {"id": item.id, "body": body, "before": sha256(item.body).digest()}
    if conn.execute(query("reclassify.repack_transcript"), params).rowcount == 0:
        return False
    _record(conn, act, item, "run", "transcript_reclassified", masks)
    return True


def rewrite(conn: Connection, act: Act, item: Item, body: Any) -> bool:
    """The envelope without what was found in it; False when it was worked off meanwhile."""
    params = {"id": item.id, "body": Jsonb(body), "before": Jsonb(item.body)}
    if conn.execute(query("reclassify.rewrite_envelope"), params).rowcount == 0:
        return False
    _record(conn, act, item, "run", "envelope_reclassified", {})
    return True


def erase_drop(conn: Connection, act: Act, item: Item, classes: Sequence[str]) -> bool:
    """What was dropped when nothing was found in it, and would not be today: it goes as it would on its date."""
    if conn.execute(query("reclassify.erase_drop"), {"id": item.id}).rowcount == 0:
        return False
    _record(conn, act, item, "drop", "drop_reclassified", dict.fromkeys(classes, 1))
    return True


def destroy_payload(conn: Connection, act: Act, item: Item, classes: Sequence[str]) -> bool:
    """The texts that a ledger entry stands for, and their key: what is hashed cannot be masked."""
    if conn.execute(query("reclassify.destroy_payload"), {"id": item.id}).rowcount == 0:
        return False
    _record(conn, act, item, "payload", "payload_erased", dict.fromkeys(classes, 1))
    return True


def _record(conn: Connection, act: Act, item: Item, kind: str, action: str, found: dict[str, int]) -> None:
    detail = {"request": str(act.request), "detectors": act.detectors, "found": found}
    subject = (kind, str(item.id))
    ledger.record(conn, org_id=item.org_id, subject=subject, actor=act.actor, action=action, detail=detail)
