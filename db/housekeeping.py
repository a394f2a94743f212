"""What housekeeping reads and mends: gauges, the search index. Each function is one short statement."""

from __future__ import annotations

from dataclasses import dataclass

import psycopg
from psycopg import sql

from db.connect import Connection, Row
from db.sql import query

EXACT_ROWS = 2_000
"""Above this many vectors an org is searched by index: exact search took 3.8 ms at 2,636 rows of 384 dimensions and
14 ms at 12,321, the index 3.2 ms with recall 0.99."""

ROWS_COUNTED = 100_000
"""A round counts about so many memories, which takes a tenth of a second; every org's turn comes once per as many."""

_KEY = 0x686F7573  # 'hous': one housekeeper a database


@dataclass(frozen=True, slots=True)
class Gauges:
    """What the database knows of the fleet, for /metrics; seconds and counts."""

    runs: dict[str, int]
    oldest_due_seconds: dict[str, float]
    dead_letters: dict[str, int]
    open_reviews: dict[tuple[str, str], int]
    memories: dict[str, int]
    unsealed: int
    sample_answers: dict[tuple[str, str], int]


def is_only_one(conn: Connection) -> bool:
    """Whether this connection holds the housekeeper's lock, which it keeps until it closes."""
    row = conn.execute(query("housekeeping.only_one"), {"key": _KEY}).fetchone()
    return bool(row and row["mine"])


def gauges(conn: Connection) -> Gauges:
    def read(name: str, key: str, value: str) -> dict[str, int]:
        return {row[key]: row[value] for row in conn.execute(query(f"housekeeping.{name}"))}

    unsealed = conn.execute(query("ledger.unsealed")).fetchone()
    return Gauges(
        runs=read("run_gauges", "state", "runs"),
        oldest_due_seconds=oldest_due(conn),
        dead_letters=read("dead_gauges", "code", "runs"),
        open_reviews={
            (row["kind"], row["age"]): row["reviews"] for row in conn.execute(query("housekeeping.review_gauges"))
        },
        memories=read("memory_gauges", "status", "memories"),
        unsealed=unsealed["entries"] if unsealed else 0,
        sample_answers={
            (row["kind"], row["answer"]): row["reviews"] for row in conn.execute(query("housekeeping.sample_gauges"))
        },
    )


def oldest_due(conn: Connection) -> dict[str, float]:
    """Seconds since the oldest due run of each state became due; states with none are absent."""
    return {row["state"]: row["seconds"] for row in conn.execute(query("housekeeping.oldest_due"))}


def empty_digests(conn: Connection) -> dict[str, int]:
    """By org, how many digests of the last hour held nothing."""
    return {row["org"]: row["digests"] for row in conn.execute(query("housekeeping.empty_digests"))}


def mark_used(conn: Connection, *, seconds: float) -> int:
    """Derive last_used_at from the recalls of the last `seconds`."""
    return conn.execute(query("housekeeping.used"), {"seconds": seconds}).rowcount


def newly_excluded(conn: Connection) -> int:
    """Memories that recalls left out for want of a vector since this connection last asked; 0 the first time."""
    row = conn.execute(query("housekeeping.newly_excluded")).fetchone()
    return int(row["excluded"]) if row else 0


def index_vectors(conn: Connection, stamp: int, *, exact_rows: int = EXACT_ROWS, limit: int = 500) -> int:
    """Count some orgs, drop vectors of what is gone, move a batch into the index; returns the rows moved."""
    table = sql.Identifier(f"embeddings_{stamp}")
    params: dict[str, object] = {"exact_rows": exact_rows, "limit": limit, "stamp": stamp, "rows_counted": ROWS_COUNTED}

    def run(name: str) -> psycopg.Cursor[Row]:
        return conn.execute(sql.SQL(query(f"housekeeping.{name}")).format(table=table), params)

    params["orgs"] = [row["org_id"] for row in run("count_orgs")]
    run("drop_forgotten_vectors")
    moved = run("index_vectors").rowcount
    run("switch_orgs")
    run("count_indexed")
    return moved
