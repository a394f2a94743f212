"""The queue and its transitions. Every move is a compare-and-set on (state, lease); a lost lease moves nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from db.connect import Connection
from db.sql import query
from pipeline.outcome import ErrorCode, SkipReason
from pipeline.redaction.redactor import without_high
from pipeline.states import RunKind, RunState

MAX_DETAIL_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True)
class Claimed:
    """A run this worker holds until its lease ends."""

    id: UUID
    org_id: int
    kind: RunKind
    session: str
    agent: str
    project: str | None
    user_id: str | None
    event: dict[str, Any]
    ended_at: datetime
    first_own: int
    memory_id: UUID | None
    attempts: int
    lease_losses: int
    actor: str


def claim(conn: Connection, state: RunState, lease: UUID, *, batch: int, lease_seconds: float) -> list[Claimed]:
    """At most `batch` due runs of `state`, fair across orgs, leased for `lease_seconds`."""
    params = {"state": state, "lease": lease, "batch": batch, "lease_seconds": lease_seconds}
    return [_claimed(row) for row in conn.execute(query("runs.claim"), params)]


def claim_suspect(conn: Connection, state: RunState, lease: UUID, *, lease_seconds: float) -> list[Claimed]:
    """One due run that lost at least two leases, or none."""
    params = {"state": state, "lease": lease, "lease_seconds": lease_seconds}
    return [_claimed(row) for row in conn.execute(query("runs.claim_suspect"), params)]


def _claimed(row: dict[str, Any]) -> Claimed:
    return Claimed(**{**row, "kind": RunKind(row["kind"])})


def renew(conn: Connection, lease: UUID, ids: Sequence[UUID], *, lease_seconds: float) -> int:
    """Lengthen the lease; returns how many are still held."""
    params = {"lease": lease, "ids": list(ids), "lease_seconds": lease_seconds}
    return conn.execute(query("runs.renew"), params).rowcount


def complete(
    conn: Connection, ids: Sequence[UUID], lease: UUID, *, from_state: RunState, to_state: RunState, actor: str
) -> set[UUID]:
    """Move to the next state; returns the winners, for whom alone outputs may be written."""
    params = {"ids": list(ids), "lease": lease, "from": from_state, "to": to_state, "actor": actor}
    return {row["id"] for row in conn.execute(query("runs.complete"), params)}


def retry(
    conn: Connection, run: UUID, lease: UUID, *, from_state: RunState, code: ErrorCode, detail: str,
    after_seconds: float
) -> bool:  # fmt: skip
    """Due again after `after_seconds`; one attempt is spent."""
    params = {"id": run, "lease": lease, "from": from_state, "code": code, "detail": _kept(detail),
              "after_seconds": after_seconds}  # fmt: skip
    return conn.execute(query("runs.retry"), params).rowcount == 1


def _kept(detail: str) -> str:
    """An error's words; whoever wrote them should have left content out, and here what is HIGH is."""
    return without_high(detail)[:MAX_DETAIL_CHARACTERS]


def snooze(conn: Connection, run: UUID, lease: UUID, *, from_state: RunState, until: datetime, reason: str) -> bool:
    """Due again at `until`; no attempt is spent."""
    params = {"id": run, "lease": lease, "from": from_state, "until": until, "reason": reason}
    return conn.execute(query("runs.snooze"), params).rowcount == 1


def release(conn: Connection, ids: Sequence[UUID], lease: UUID) -> None:
    """Give unworked runs back at once; no attempt and no lease loss is counted."""
    conn.execute(query("runs.release"), {"ids": list(ids), "lease": lease})


def skip(conn: Connection, run: UUID, lease: UUID, *, from_state: RunState, reason: SkipReason, actor: str) -> bool:
    params = {"id": run, "lease": lease, "from": from_state, "reason": reason, "actor": actor}
    return conn.execute(query("runs.skip"), params).rowcount == 1


def bury(
    conn: Connection, run: UUID, lease: UUID, *, from_state: RunState, code: ErrorCode, detail: str, actor: str
) -> bool:
    """To dead letter, with the state it died in, a code and the detail."""
    params = {"id": run, "lease": lease, "from": from_state, "code": code, "detail": _kept(detail),
              "actor": actor}  # fmt: skip
    return conn.execute(query("runs.bury"), params).rowcount == 1


def has_due(conn: Connection, state: RunState) -> bool:
    row = conn.execute(query("runs.has_due"), {"state": state}).fetchone()
    return bool(row and row["due"])
