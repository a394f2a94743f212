"""What is past its date, and its purge: the database defines both; this asks it, a batch a transaction."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from db.connect import Connection
from db.events import Org
from db.sql import query

STORES: Final = ("transcripts", "envelopes", "rejected_events", "drops", "expired", "forgotten", "recalls", "outcomes",
                 "tokens", "renewals")  # fmt: skip
"""As the view past_date names them. `expired` and `forgotten` are memories; `renewals` opens reviews of old rules."""
BATCH_ROWS = 500


@dataclass(frozen=True, slots=True)
class Due:
    """Rows of a store of one org (None: of no org) whose time has come, and what a legal hold keeps of it."""

    store: str
    org: str | None
    due: int
    held: int
    since: datetime | None


def due(conn: Connection, org: Org | None = None) -> list[Due]:
    """What a purge would do now."""
    return [Due(**row) for row in conn.execute(query("retention.due"), {"org": org and org.id})]


def overdue_seconds(conn: Connection) -> dict[str, float]:
    """For how long the oldest due row of each store has been due; stores without one are absent."""
    return {row["store"]: row["seconds"] for row in conn.execute(query("retention.overdue"))}


def purge_batch(
    conn: Connection, *, actor: str, org: Org | None = None, max_rows: int = BATCH_ROWS
) -> Counter[tuple[str, str | None]]:
    """At most `max_rows` of each store, oldest first, in one transaction; empty when nothing is due."""
    params = {"actor": actor, "org": org and org.id, "max_rows": max_rows}
    done: Counter[tuple[str, str | None]] = Counter()
    for row in conn.execute(query("retention.purge"), params):
        done[row["store"], row["org"]] += row["rows"]
    return done


def shortened(conn: Connection, org: Org) -> dict[str, int]:
    """How many rows by store the last change of the org's retention brought nearer to their end."""
    row = conn.execute(query("retention.shortened"), {"org": org.id}).fetchone()
    return row["detail"] if row else {}
