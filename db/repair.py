"""What stands crooked, counted; and the two repairs that are inserts: missing runs, and replays of rejected events."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from psycopg import Rollback

from db.connect import Connection
from db.sql import query

LOOKED_AT = 1_000
"""Ids named at most, and runs opened at most, in one repair; another repair takes the next."""


def stuck_leases(conn: Connection) -> int:
    """Runs whose lease ended while a worker held them; the next claim takes them."""
    row = conn.execute(query("repair.stuck_leases")).fetchone()
    return int(row["runs"]) if row else 0


def unheld_pending(conn: Connection) -> list[UUID]:
    """Pending memories without an open review: the constraints forbid it, so one means that they were circumvented."""
    return [row["id"] for row in conn.execute(query("repair.unheld_pending"), {"limit": LOOKED_AT})]


def lost_approvals(conn: Connection) -> list[UUID]:
    """Approved memories whose approval no run carries onward."""
    return [row["id"] for row in conn.execute(query("repair.lost_approvals"), {"limit": LOOKED_AT})]


def open_missing_runs(conn: Connection, stamp: int, *, dry_run: bool) -> int:
    """Open a run for each active memory without a vector of `stamp` and without a run on its way; returns how many.

    A dry run opens them in a transaction that is rolled back: the operator's login reads no vectors, so that only the
    repair itself knows what is missing.
    """
    with conn.transaction():
        row = conn.execute(query("repair.open_missing_runs"), {"stamp": stamp, "limit": LOOKED_AT}).fetchone()
        assert row is not None
        opened = int(row["opened"])
        if dry_run:
            raise Rollback
    return opened


def unknown_names(conn: Connection) -> Iterator[tuple[str, bytes]]:
    """(reason, zstd original) of events rejected for an unknown org or space, one at a time: originals may be large."""
    with conn.transaction(), conn.cursor(name="unknown_names") as cursor:
        cursor.itersize = 20
        cursor.execute(query("repair.unknown_names"))
        for row in cursor:
            yield row["reason"], row["body"]


def open_rejected_replays(conn: Connection) -> set[str]:
    """Reasons (or ids) of rejected events that an unfinished replay tries again already."""
    return {row["reason"] for row in conn.execute(query("repair.open_rejected_replays"))}
