"""Decay: use keeps a fact longer, within a cap, and never what is about somebody; what has expired is gone at once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from db import housekeeping, recall
from db.recall import Question
from pipeline.memory import Scope, ScopeKind, Tier
from tests.integration.db import rows
from tests.services import Database

NOW = datetime.now(UTC)
SOON = {"expires_at": NOW + timedelta(days=10)}


def days_left(database: Database, memory: UUID) -> int:
    with database.as_role("worker") as conn:
        row = conn.execute("SELECT expires_at FROM memories WHERE id = %s", (memory,)).fetchone()
    assert row is not None
    return round((row["expires_at"] - NOW) / timedelta(days=1))


@pytest.mark.parametrize(
    ("changes", "age_days", "left"),
    [
        ({}, 80, 90),  # as long after its last use as a new one
        ({}, 170, 10),  # twice that in all
        ({}, 100, 80),
        ({"subject": rows.about("ana silva")}, 80, 10),
        ({"kind": "preference"}, 80, 10),
        ({"scope": Scope(ScopeKind.USER, "u-1")}, 80, 10),
        ({"kind": "turn", "tier": Tier.EPISODIC}, 80, 10),
    ],
)
def test_use_keeps_a_fact_about_nobody_within_a_cap(
    shared: Database, changes: dict[str, Any], age_days: int, left: int
) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        memory = rows.insert_memory(conn, org, "ships on Friday", **SOON, **changes)
    with rows.as_admin(shared) as conn:
        conn.execute("SET session_replication_role = replica")
        conn.execute("UPDATE memories SET created_at = %s WHERE id = %s", (NOW - timedelta(days=age_days), memory))
    bearer = rows.token(shared, org, "agent", user="u-1", tiers=("semantic", "episodic"))
    with rows.door(shared, bearer, "agent") as conn:
        assert [hit.memory_id for hit in recall.recall(conn, Question("ships Friday")).hits] == [memory]
    with shared.as_role("worker") as conn:
        for _ in range(2):
            housekeeping.mark_used(conn, seconds=60)
    assert days_left(shared, memory) == left


@pytest.mark.parametrize(
    ("set_", "changes"),
    [
        ("expires_at = now() + interval '20 days'", {}),  # unused
        ("last_used_at = now(), expires_at = now() + interval '91 days'", {}),
        ("last_used_at = now() - interval '80 days', expires_at = now() + interval '11 days'", {}),
        ("last_used_at = now(), expires_at = now() + interval '20 days'", {"subject": rows.about("ana silva")}),
        ("last_used_at = now(), expires_at = now() + interval '20 days'", {"kind": "preference"}),
    ],
)
def test_nothing_else_moves_a_date_later(shared: Database, set_: str, changes: dict[str, Any]) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        memory = rows.insert_memory(conn, org, "ships on Friday", **SOON, **changes)
        with pytest.raises(psycopg.errors.CheckViolation, match="not kept longer"):
            conn.execute(f"UPDATE memories SET {set_} WHERE id = %s", (memory,))  # type: ignore[arg-type]


def test_what_has_expired_is_not_found_before_any_sweep_and_not_brought_back(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        memory = rows.insert_memory(conn, org, "ships on Friday", expires_at=datetime.now(UTC) + timedelta(seconds=4))
        agent = rows.token(shared, org, "agent")
        with rows.door(shared, agent, "agent") as door:
            assert recall.recall(door, Question("ships Friday")).hits
        rows.wait_for(lambda: days_left(shared, memory) == 0 and datetime.now(UTC) > _ends(conn, memory))
        housekeeping.mark_used(conn, seconds=60)
    with rows.door(shared, agent, "agent") as door:
        assert recall.recall(door, Question("ships Friday")).hits == ()
    assert days_left(shared, memory) == 0


def _ends(conn: Any, memory: UUID) -> datetime:
    ends: datetime = conn.execute("SELECT expires_at FROM memories WHERE id = %s", (memory,)).fetchone()["expires_at"]
    return ends
