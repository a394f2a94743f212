"""What a door may tell of a run and of a memory's history, inside a granted transaction."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from db.connect import Connection
from db.sql import query


def run(conn: Connection, key: str) -> dict[str, Any] | None:
    """The run of this id or event key, if it is the bearer's to see; None where there is none."""
    return conn.execute(query("doors.run_told"), {"key": key}).fetchone()


def history(conn: Connection, memory: UUID) -> list[dict[str, Any]]:
    """The ledger's entries on a memory of the grant's org, oldest first, as a reviewer."""
    return conn.execute(query("doors.history"), {"memory": str(memory)}).fetchall()
