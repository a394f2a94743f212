"""Claims: nobody's run twice, every org a place, lost leases counted, and the queue's index used."""

from __future__ import annotations

import json
import threading
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from psycopg import sql

from db import runs
from db.connect import Connection
from db.events import Org
from db.sql import query
from pipeline.outcome import ErrorCode, SkipReason
from pipeline.states import RunState
from tests.integration.db import rows
from tests.integration.db.rows import uuid7
from tests.services import Database

RECEIVED = RunState.RECEIVED
UNTIL = datetime(2030, 1, 1, tzinfo=UTC)


def _claim(conn: Connection, lease: UUID | None = None, *, batch: int = 64) -> list[runs.Claimed]:
    return runs.claim(conn, RECEIVED, lease or uuid7(), batch=batch, lease_seconds=60)


def _bulk(conn: Connection, org: Org, count: int, *, since: str = "1 hour") -> None:
    """Many due runs, each due a second after the one before; the oldest `since` ago."""
    conn.execute(
        """
        INSERT INTO runs (id, org_id, kind, state, event_key, content_hash, session, agent, event, ended_at, due_at)
        SELECT uuidv7(), %(org)s, 'session', 'received', 'bulk-' || n, '\\x00', lpad(n::text, 6, '0'), 'a', '{}', now(),
               now() - %(since)s::interval + n * interval '1 ms'
        FROM generate_series(1, %(count)s) n
        """,
        {"org": org.id, "count": count, "since": since},
    )


def _expire(conn: Connection, *ids: UUID) -> None:
    """As if their worker was gone for longer than the lease."""
    conn.execute("UPDATE runs SET due_at = now() - interval '1 second' WHERE id = ANY (%s)", (list(ids),))


def _run(conn: Connection, run: UUID) -> dict[str, Any]:
    found = conn.execute("SELECT * FROM runs WHERE id = %s", (run,)).fetchone()
    assert found is not None
    return found


def test_two_workers_in_open_transactions_never_hold_the_same_run(database: Database) -> None:
    org = database.org("acme")
    with database.as_role("worker") as first, database.as_role("worker") as second:
        _bulk(first, org, 100)
        with first.transaction():
            mine = {run.id for run in _claim(first)}
            theirs = {run.id for run in _claim(second)}
            assert len(mine) == 64
            assert len(theirs) == 36
            assert mine.isdisjoint(theirs)
        assert _claim(second) == []


def test_eight_workers_racing_take_every_run_once(database: Database) -> None:
    orgs = [database.org(f"org-{number}") for number in range(5)]
    taken: list[UUID] = []
    with database.as_role("worker") as conn:
        for org in orgs:
            _bulk(conn, org, 200)

    def work() -> None:
        with database.as_role("worker") as conn:
            empty = 0
            while empty < 3:  # skipped rows of others may leave one claim empty
                claimed = _claim(conn, batch=7)
                taken.extend(run.id for run in claimed)
                empty = 0 if claimed else empty + 1

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert max(Counter(taken).values()) == 1
    assert len(taken) == 1_000


def test_each_claim_offers_every_org_a_place_in_its_due_order(database: Database) -> None:
    """One org with 1,000 due and 39 with 3: none waits behind the large one, and within an org the oldest go first."""
    big, *small = [database.org(f"org-{number}") for number in range(40)]
    with database.as_role("worker") as conn:
        _bulk(conn, big, 1_000, since="2 hours")
        for org in small:
            _bulk(conn, org, 3)
        seen: dict[int, list[str]] = {}
        for turn in range(3):
            claimed = _claim(conn)
            assert 40 <= len(claimed) <= 64
            waiting = {org.id for org in small if len(seen.get(org.id, [])) < 3} | {big.id}
            assert waiting <= {run.org_id for run in claimed}, turn
            for run in sorted(claimed, key=lambda run: run.session):
                seen.setdefault(run.org_id, []).append(run.session)
    for sessions in seen.values():
        assert sessions == [f"{number:06d}" for number in range(1, len(sessions) + 1)]


def test_orgs_with_suspects_alone_take_no_places(database: Database) -> None:
    busy, stuck = database.org("busy"), [database.org(f"stuck-{number}") for number in range(15)]
    with database.as_role("worker") as conn:
        _bulk(conn, busy, 20)
        for org in stuck:
            rows.insert_run(conn, org, lease_losses=2)
        assert len(_claim(conn, batch=16)) == 16


def test_more_orgs_than_places_take_turns_by_due_order(database: Database) -> None:
    orgs = [database.org(f"org-{number}") for number in range(10)]
    with database.as_role("worker") as conn:
        for hours, org in enumerate(orgs):
            _bulk(conn, org, 5, since=f"{hours + 1} hours")
        assert {run.org_id for run in _claim(conn, batch=4)} == {org.id for org in orgs[-4:]}


def test_an_expired_lease_is_claimed_again_and_counted(database: Database) -> None:
    org, old, new = database.org("acme"), uuid7(), uuid7()
    with database.as_role("worker") as conn:
        run = rows.insert_run(conn, org)
        assert [c.lease_losses for c in _claim(conn, old)] == [0]
        assert _claim(conn) == []
        _expire(conn, run)
        assert [c.lease_losses for c in _claim(conn, new)] == [1]
        assert _run(conn, run)["attempts"] == 0
        assert _run(conn, run)["lease"] == new


def test_after_two_lost_leases_a_run_is_taken_alone(database: Database) -> None:
    """The third worker takes it without company, so that it can take nobody else along; losses go on being counted."""
    org = database.org("acme")
    with database.as_role("worker") as conn:
        killer = rows.insert_run(conn, org)
        for losses in (0, 1):
            assert [c.lease_losses for c in _claim(conn)] == [losses]
            _expire(conn, killer)
        plain = [rows.insert_run(conn, org) for _ in range(3)]
        assert {c.id for c in _claim(conn)} == set(plain)
        for losses in (2, 3, 4, 5):
            alone = runs.claim_suspect(conn, RECEIVED, uuid7(), lease_seconds=60)
            assert [(c.id, c.lease_losses) for c in alone] == [(killer, losses)]
            assert runs.claim_suspect(conn, RECEIVED, uuid7(), lease_seconds=60) == []
            _expire(conn, killer)


def test_suspects_are_taken_one_at_a_time(database: Database) -> None:
    org = database.org("acme")
    with database.as_role("worker") as conn:
        for _ in range(2):
            rows.insert_run(conn, org, lease_losses=2)
        assert _claim(conn) == []
        assert runs.has_due(conn, RECEIVED)
        assert len(runs.claim_suspect(conn, RECEIVED, uuid7(), lease_seconds=60)) == 1


LOST = {
    "complete": lambda c, r, lease: runs.complete(
        c, [r], lease, from_state=RECEIVED, to_state=RunState.EXTRACTED, actor="late"
    ),
    "retry": lambda c, r, lease: runs.retry(
        c, r, lease, from_state=RECEIVED, code=ErrorCode.MODEL_UNAVAILABLE, detail="late", after_seconds=1
    ),
    "snooze": lambda c, r, lease: runs.snooze(c, r, lease, from_state=RECEIVED, until=UNTIL, reason="late"),
    "skip": lambda c, r, lease: runs.skip(c, r, lease, from_state=RECEIVED, reason=SkipReason.EMPTY, actor="late"),
    "bury": lambda c, r, lease: runs.bury(
        c, r, lease, from_state=RECEIVED, code=ErrorCode.INTERNAL, detail="late", actor="late"
    ),
    "renew": lambda c, r, lease: runs.renew(c, lease, [r], lease_seconds=3_600),
    "release": lambda c, r, lease: runs.release(c, [r], lease),
}


@pytest.mark.parametrize("verb", LOST)
def test_who_lost_the_lease_moves_nothing(shared: Database, verb: str) -> None:
    org, old, new = rows.fresh_org(shared), uuid7(), uuid7()
    with shared.as_role("worker") as conn:
        run = rows.insert_run(conn, org)
        _claim(conn, old)
        _expire(conn, run)
        assert run in {c.id for c in _claim(conn, new)}
        before = _run(conn, run)
        assert not LOST[verb](conn, run, old)
        assert _run(conn, run) == before


@pytest.mark.parametrize("verb", ["complete", "retry", "snooze", "skip", "bury"])
def test_a_verb_moves_only_from_the_state_it_names(shared: Database, verb: str) -> None:
    """The holder of a lease, whose run somehow stands elsewhere."""
    org, lease = rows.fresh_org(shared), uuid7()
    with shared.as_role("worker") as conn:
        run = rows.insert_run(conn, org, "extracted")
        assert run in {c.id for c in runs.claim(conn, RunState.EXTRACTED, lease, batch=64, lease_seconds=60)}
        before = _run(conn, run)
        assert not LOST[verb](conn, run, lease)
        assert _run(conn, run) == before


def test_complete_returns_the_winners_alone(database: Database) -> None:
    org, lease = database.org("acme"), uuid7()
    with database.as_role("worker") as conn:
        ids = [rows.insert_run(conn, org) for _ in range(3)]
        _claim(conn, lease)
        _expire(conn, ids[1])
        _claim(conn)
        won = runs.complete(conn, ids, lease, from_state=RECEIVED, to_state=RunState.EXTRACTED, actor="extraction")
        assert won == {ids[0], ids[2]}
        assert [rows.state(conn, run) for run in ids] == ["extracted", "received", "extracted"]


@pytest.mark.parametrize("verb", ["retry", "snooze", "skip", "bury", "release"])
def test_what_each_verb_leaves(shared: Database, verb: str) -> None:
    org, lease = rows.fresh_org(shared), uuid7()
    with shared.as_role("worker") as conn:
        run = rows.insert_run(conn, org)
        _claim(conn, lease)
        LOST[verb](conn, run, lease)
        left = _run(conn, run)
    kept = {key: left[key] for key in ("state", "attempts", "lease", "died_in", "error_code", "skip_reason")}
    empty = {
        "state": "received",
        "attempts": 0,
        "lease": None,
        "died_in": None,
        "error_code": None,
        "skip_reason": None,
    }
    assert (
        kept
        == empty
        | {
            "retry": {"attempts": 1, "error_code": "model_unavailable"},
            "snooze": {},
            "skip": {"state": "skipped", "skip_reason": "empty"},
            "bury": {"state": "dead_letter", "attempts": 1, "died_in": "received", "error_code": "internal"},
            "release": {},
        }[verb]
    )
    if verb == "snooze":
        assert left["due_at"] == UNTIL
    elif verb == "retry":
        assert timedelta(0) < left["due_at"] - left["state_at"] < timedelta(seconds=10)
    elif verb == "release":
        assert left["due_at"] <= datetime.now(UTC)
    else:
        assert left["due_at"] is None


def test_a_finished_state_is_never_due(database: Database) -> None:
    org, lease = database.org("acme"), uuid7()
    with database.as_role("worker") as conn:
        run = rows.insert_run(conn, org, "embedded")
        runs.claim(conn, RunState.EMBEDDED, lease, batch=1, lease_seconds=60)
        runs.complete(conn, [run], lease, from_state=RunState.EMBEDDED, to_state=RunState.CONSOLIDATED, actor="c")
        assert _run(conn, run)["due_at"] is None
        assert not any(runs.has_due(conn, state) for state in RunState)


def test_a_renewed_lease_keeps_others_away(database: Database) -> None:
    org, lease = database.org("acme"), uuid7()
    with database.as_role("worker") as conn:
        run = rows.insert_run(conn, org)
        runs.claim(conn, RECEIVED, lease, batch=1, lease_seconds=0)
        assert runs.renew(conn, lease, [run], lease_seconds=60) == 1
        assert _claim(conn) == []


def _scans(plan: dict[str, Any]) -> list[tuple[str, str | None, str | None]]:
    own = [(plan["Node Type"], plan.get("Relation Name"), plan.get("Index Name"))]
    return own + [scan for child in plan.get("Plans", []) for scan in _scans(child)]


CLAIMS = {
    "runs.claim": {"runs_due"},
    "runs.claim_suspect": {"runs_suspect", "runs_due"},
    "runs.has_due": {"runs_due"},
}


def test_claims_read_the_queue_by_its_index(database: Database) -> None:
    """20,000 rows of 41 orgs, most of them finished, as a queue looks like after some months."""
    with database.as_role("worker") as conn, rows.as_admin(database) as admin:
        for number in range(40):
            _bulk(conn, database.org(f"org-{number}"), 450)
        conn.execute("UPDATE runs SET state = 'skipped', skip_reason = 'empty', due_at = NULL WHERE session > '000050'")
        _bulk(conn, database.org("large"), 2_000)
        admin.execute("ANALYZE runs")
        for name, indexes in CLAIMS.items():
            statement = sql.SQL("EXPLAIN (FORMAT JSON) ") + sql.SQL(query(name))
            params = {"state": "received", "lease": uuid7(), "batch": 64, "lease_seconds": 60}
            found = conn.execute(statement, params).fetchone()
            assert found is not None
            scans = _scans(found["QUERY PLAN"][0]["Plan"])
            text = json.dumps(scans)
            assert not [scan for scan in scans if scan[0] == "Seq Scan" and scan[1] == "runs"], (name, text)
            assert indexes & {index for _, _, index in scans}, (name, text)
