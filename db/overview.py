"""What operators look at: runs with what became of them, dead letters, rejected events, spaces and stamps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from db import ledger
from db.connect import Connection
from db.sql import query


def ids_between(conn: Connection, kind: str, low: UUID, high: UUID) -> list[UUID]:
    """At most two ids of a kind ('run', 'memory', 'drop', 'rejected_event', 'reclassification') in [low, high]."""
    rows = conn.execute(query(f"overview.{kind}_between"), {"low": low, "high": high})
    return [row["id"] for row in rows]


def runs(conn: Connection, *, org: str | None, state: str | None, limit: int) -> list[dict[str, Any]]:
    """Newest first, without content."""
    return list(conn.execute(query("operate.runs"), {"org": org, "state": state, "limit": limit}))


def run(conn: Connection, id: UUID) -> dict[str, Any]:
    """A run with its memories, drops, verdict runs and replays, and the ledger of all of them in order."""
    found = conn.execute(query("operate.run"), {"id": id}).fetchone()
    assert found is not None
    parts = {
        "memories": _about(conn, "operate.run_memories", id),
        "drops": _about(conn, "operate.run_drops", id),
        "verdicts": _about(conn, "overview.run_verdicts", id),
        "replays": _about(conn, "overview.run_replays", id),
    }
    subjects = [id, found["memory_id"], *(row["id"] for row in parts["memories"] + parts["drops"])]
    timeline = ledger.timeline(conn, [str(subject) for subject in subjects if subject])
    return found | parts | {"timeline": timeline}


def _about(conn: Connection, name: str, id: UUID) -> list[dict[str, Any]]:
    return list(conn.execute(query(name), {"id": id}))


def run_state(conn: Connection, id: UUID) -> Mapping[str, Any]:
    """state, error_code, died_in and due_at of one run."""
    row = conn.execute(query("operate.run"), {"id": id}).fetchone()
    assert row is not None
    return row


def memory(conn: Connection, id: UUID) -> dict[str, Any]:
    """Where a memory stands: org, status, hold reasons, what superseded it, revision. No content."""
    row = conn.execute(query("overview.memory"), {"id": id}).fetchone()
    assert row is not None
    return row


def run_memories(conn: Connection, id: UUID) -> list[dict[str, Any]]:
    return _about(conn, "operate.run_memories", id)


def dead_letters(conn: Connection, *, org: str | None, code: str | None, limit: int) -> list[dict[str, Any]]:
    """Latest death first."""
    return list(conn.execute(query("operate.dead_letters"), {"org": org, "code": code, "limit": limit}))


def rejected(conn: Connection, *, reason: str | None, limit: int) -> list[dict[str, Any]]:
    """Latest first, without the originals."""
    return list(conn.execute(query("overview.rejected"), {"reason": reason, "limit": limit}))


def rejected_event(conn: Connection, id: UUID) -> dict[str, Any]:
    """One rejected event with `body`, the scrubbed original as zstd."""
    row = conn.execute(query("overview.rejected_event"), {"id": id}).fetchone()
    assert row is not None
    return row


def spaces(conn: Connection, org_id: int) -> dict[str, str]:
    """Name -> tier."""
    return {row["name"]: row["tier"] for row in conn.execute(query("overview.spaces"), {"org_id": org_id})}


def counts(conn: Connection, org: str) -> dict[str, Any]:
    """How many runs by state, memories by status and kind, and held memories by reason an org has."""
    params = {"org": org}
    return {
        "runs": {row["state"]: row["runs"] for row in conn.execute(query("operate.run_states"), params)},
        "memories": {
            f"{row['status']} {row['kind']}": row["memories"]
            for row in conn.execute(query("operate.memory_statuses"), params)
        },
        "held_for": {row["reason"]: row["memories"] for row in conn.execute(query("operate.held_reasons"), params)},
    }


def stamps(conn: Connection) -> list[dict[str, Any]]:
    """Every registered stamp with its coverage, the current one marked."""
    return list(conn.execute(query("overview.stamps")))


def coverage(conn: Connection) -> list[dict[str, Any]]:
    """By space and org: memories with and without a vector, as housekeeping last counted them."""
    return list(conn.execute(query("overview.coverage")))


def replay(conn: Connection, id: UUID) -> dict[str, Any]:
    """One replay as it stands."""
    row = conn.execute(query("overview.replay"), {"id": id}).fetchone()
    assert row is not None
    return row


def rejected_left(conn: Connection, which: str) -> list[dict[str, Any]]:
    """Rejected events of a reason, or with an id, that a replay would try: kept, and no run yet. Oldest first."""
    return list(conn.execute(query("overview.rejected_left"), {"which": which}))


def finished(conn: Connection, org_id: int) -> tuple[int, int]:
    """(finished, unfinished) runs of an org; a finished one is never due again by itself."""
    row = conn.execute(query("overview.finished"), {"org_id": org_id}).fetchone()
    assert row is not None
    return row["finished"], row["unfinished"]
