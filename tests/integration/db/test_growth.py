"""What is done every second, or once a row, reads by index: its cost does not follow the size of the store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from db import consolidation, retention
from db.connect import Connection
from db.events import Org
from db.sql import query
from tests.integration.db import rows
from tests.integration.db.rows import uuid7
from tests.services import Database
from tests.waiting import wait_for

MANY = 5_000


@pytest.fixture(scope="module")
def grown(shared: Database) -> tuple[Database, Org]:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        memory = rows.insert_memory(conn, org, "one of many")
        columns = "org_id, tier, kind, scope_kind, rationale, evidence, author_kind, author, provenance, high_stakes,"
        conn.execute(
            "INSERT INTO runs (id, org_id, kind, state, event_key, content_hash, session, agent, event, ended_at)"
            " SELECT uuidv7(), %s, 'session', 'received', n::text, '', n::text, 'a', '{}', now()"
            " FROM generate_series(1, %s) n", (org.id, MANY),
        )  # fmt: skip
        conn.execute(
            f"INSERT INTO memories (id, run_id, status, content, content_hash, {columns} importance, observed_at,"
            f" valid_from, expires_at) SELECT uuidv7(), run_id, 'active', 'number ' || n, sha256(n::text::bytea),"
            f" {columns} importance, observed_at, valid_from, expires_at FROM memories, generate_series(1, %s) n"
            " WHERE id = %s", (MANY, memory),
        )  # fmt: skip
        conn.execute(
            "INSERT INTO reviews (id, org_id, memory_id, kind, reasons, closed_at, decision, decided_by)"
            " SELECT uuidv7(), org_id, id, 'hold', '{undated}', now(), 'approve', 'ana' FROM memories"
        )
    with rows.as_admin(shared) as conn:
        wait_for(lambda: _is_vacuumed(conn))
    return shared, org


def _is_vacuumed(conn: Connection) -> bool:
    """The filling connection may be seen for a moment after it has closed."""
    conn.execute("VACUUM ANALYZE")
    seen = conn.execute("SELECT relallvisible FROM pg_class WHERE oid = 'afterword.memories'::regclass").fetchone()
    return bool(seen and seen["relallvisible"])


def _read_in_sequence(conn: Connection) -> dict[str, int]:
    """Rows that this transaction read by going through a whole table, of the tables that grow."""
    found = conn.execute(
        "SELECT relname, seq_tup_read AS n FROM pg_stat_xact_user_tables"
        " WHERE relname IN ('runs', 'memories', 'reviews', 'ledger') AND seq_tup_read > 100"
    )
    return {row["relname"]: row["n"] for row in found}


def _params(conn: Connection, org: Org) -> dict[str, Any]:
    memory = rows.pending(conn, org, "the one at hand")
    return {
        "id": memory, "by": uuid7(), "actor": "ana", "status": "pending", "revision": 1, "classes": [],
        "detectors": "new", "after": None, "org_id": None, "since": None, "limit": 4,
    }  # fmt: skip


@pytest.mark.parametrize("name", [
    "reclassify.give_way", "reclassify.release", "reclassify.payloads", "housekeeping.run_gauges",
    "housekeeping.memory_gauges", "housekeeping.sample_gauges", "housekeeping.review_gauges", "retention.overdue",
])  # fmt: skip
def test_no_large_table_is_read_through(grown: tuple[Database, Org], name: str) -> None:
    database, org = grown
    with database.as_role("worker") as conn, conn.transaction(force_rollback=True):
        conn.execute(query(name), _params(conn, org))
        assert _read_in_sequence(conn) == {}


def test_a_purge_of_one_memory_reads_no_large_table_through(grown: tuple[Database, Org]) -> None:
    database, org = grown
    with database.as_role("worker") as conn, conn.transaction(force_rollback=True):
        rows.insert_memory(conn, org, "long gone", expires_at=datetime.now(UTC) - timedelta(days=8))
        assert dict(retention.purge_batch(conn, actor="ana")) == {("expired", org.name): 1}
        assert _read_in_sequence(conn) == {}


def _fetched(conn: Connection) -> int:
    """Rows of memories that this transaction fetched by an index."""
    found = conn.execute(
        "SELECT idx_tup_fetch AS n FROM pg_stat_xact_user_tables WHERE relname = 'memories'"
    ).fetchone()
    return int(found["n"]) if found else 0


@pytest.mark.parametrize("phrase", ["number", "number 4711", "number nowhere", "the"], ids=str)
@pytest.mark.parametrize("analysed", [True, False])
def test_what_a_new_memory_is_compared_with_is_bounded(
    grown: tuple[Database, Org], phrase: str, analysed: bool
) -> None:
    database, org = grown
    with database.as_role("worker") as conn, conn.transaction(force_rollback=True):
        new = rows.insert_memory(conn, org, f"the {phrase} again")
        before = _fetched(conn)
        if not analysed:  # a plan made before anything was known
            conn.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        found = consolidation.neighbours(conn, {new: (phrase,)}, None).get(new, [])
        assert _read_in_sequence(conn) == {}
        assert _fetched(conn) - before < 300
    assert len(found) == {"number": 16, "number 4711": 1}.get(phrase, 0)
