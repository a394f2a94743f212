"""What was handed out, as a reviewer of the org reads it: ids, scores and hashes. In a granted transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from db.connect import Connection
from db.sql import query
from pipeline.recall.standing import Standing
from pipeline.states import MemoryStatus


def log(
    conn: Connection, *, since: datetime | None, until: datetime | None, agent: str | None, memory: UUID | None,
    limit: int,
) -> list[dict[str, Any]]:  # fmt: skip
    """Recalls of the grant's org, newest first; only those that handed out `memory` where one is named."""
    params = {"since": since, "until": until, "agent": agent, "memory": memory, "limit": limit}
    return list(conn.execute(query("recalls.log"), params))


def ids_between(conn: Connection, low: UUID, high: UUID) -> list[UUID]:
    """At most two ids of the grant's recalls in [low, high]."""
    return [row["id"] for row in conn.execute(query("recalls.between"), {"low": low, "high": high})]


def one(conn: Connection, id: UUID) -> dict[str, Any]:
    """One recall as it was recorded."""
    row = conn.execute(query("recalls.one"), {"id": id}).fetchone()
    assert row is not None
    return row


def standing(conn: Connection, ids: Sequence[UUID]) -> dict[UUID, Standing]:
    """How these memories stand now."""
    found = conn.execute(query("recalls.standing"), {"ids": list(ids)})
    return {row["id"]: Standing(**(row | {"status": MemoryStatus(row["status"])})) for row in found}
