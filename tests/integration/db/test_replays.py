"""Replays: only by request, at the stated rate and cap, org-fair, and stopped when the cause is still there."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from psycopg import errors

from db import replays, runs
from db.connect import Connection
from db.replays import Selector, Tick
from pipeline.outcome import ErrorCode
from pipeline.states import RunState
from tests.integration.db import rows
from tests.integration.db.rows import uuid7
from tests.services import Database

FAST: dict[str, Any] = {"actor": "ana", "reason": "the model is back", "rate": 1000.0, "cap": 1000, "force": False}


def ask(database: Database, selector: Selector | None = None, **changes: Any) -> UUID:
    with database.as_role("operator") as operator:
        return replays.request(operator, selector or Selector(), **(FAST | changes))


def tick(conn: Connection) -> Tick:
    done = replays.tick(conn)
    assert done is not None
    return done


def later(conn: Connection, seconds: float) -> None:
    """As if the last re-arming were this much longer ago."""
    conn.execute("UPDATE replays SET last_at = last_at - make_interval(secs => %s)", (seconds,))


def row(conn: Connection, replay: UUID) -> dict[str, Any]:
    found = conn.execute("SELECT * FROM replays WHERE id = %s", (replay,)).fetchone()
    assert found is not None
    return found


def states(conn: Connection) -> dict[str, int]:
    return {r["state"]: r["n"] for r in conn.execute("SELECT state, count(*) AS n FROM runs GROUP BY state")}


def die(conn: Connection, run: UUID, code: str = "internal") -> None:
    """Claimed by a worker and buried again."""
    state, lease = rows.state(conn, run), uuid7()
    assert run in {claimed.id for claimed in runs.claim(conn, state, lease, batch=1000, lease_seconds=60)}
    assert runs.bury(conn, run, lease, from_state=state, code=ErrorCode(code), detail="again", actor="w")
    conn.execute("UPDATE runs SET lease = NULL, due_at = now() WHERE lease = %s", (lease,))


def test_each_run_returns_to_the_state_it_died_in_with_the_requests_words(database: Database) -> None:
    org = database.org("acme")
    with database.as_role("worker") as conn:
        dead = {state: rows.insert_run(conn, org, "dead_letter", died_in=state) for state in rows.LINE[:4]}
        ask(database)
        done = tick(conn)
        assert (done.rearmed, done.states) == (4, frozenset(rows.LINE[:4]))
        for state, run in dead.items():
            left = conn.execute("SELECT * FROM runs WHERE id = %s", (run,)).fetchone()
            assert left is not None
            wanted = (state, 1, 0, "ana", "the model is back")
            assert (left["state"], left["replays"], left["attempts"], left["actor"], left["reason"]) == wanted
            entry = conn.execute("SELECT actor, detail ->> 'reason' AS reason FROM ledger WHERE subject_id = %s"
                                 " ORDER BY id DESC LIMIT 1", (str(run),)).fetchone()  # fmt: skip
            assert entry == {"actor": "ana", "reason": "the model is back"}
            assert runs.has_due(conn, RunState(state))


def test_a_half_done_extraction_is_cleared_with_the_move(database: Database) -> None:
    org = database.org("acme")
    with database.as_role("worker") as conn:
        fresh = rows.insert_run(conn, org, "dead_letter", died_in="received")
        kept = rows.insert_run(conn, org, "dead_letter", died_in="extracted")
        for run in (fresh, kept):
            conn.execute("INSERT INTO envelopes (run_id, org_id, body) VALUES (%s, %s, '{}')", (run, org.id))
        ask(database)
        tick(conn)
        left = conn.execute("SELECT run_id FROM envelopes").fetchall()
    assert [r["run_id"] for r in left] == [kept]


@pytest.mark.parametrize("pick", ["run", "code", "org", "since", "nothing"])
def test_a_selector_takes_what_it_names(database: Database, pick: str) -> None:
    org, other = database.org("acme"), database.org("other")
    with database.as_role("worker") as conn:
        wanted = rows.insert_run(conn, org, "dead_letter", died_in="received", error_code="model_refused")
        rest = [
            rows.insert_run(conn, other, "dead_letter", died_in="received", error_code="internal") for _ in range(2)
        ]
        conn.execute("UPDATE runs SET state_at = now() - interval '1 day' WHERE id = ANY (%s)", (rest,))
        at = conn.execute("SELECT now() - interval '1 hour' AS at").fetchone()
        assert at is not None
        selector = {
            "run": Selector(run=wanted), "code": Selector(code="model_refused"), "org": Selector(org="acme"),
            "since": Selector(since=at["at"]), "nothing": Selector(org="nobody"),
        }[pick]  # fmt: skip
        matching = [] if pick == "nothing" else [wanted]
        assert [r["id"] for r in replays.matching(conn, selector, cap=10)] == matching
        ask(database, selector)
        assert tick(conn).rearmed == len(matching)
        assert [rows.state(conn, run) for run in rest] == ["dead_letter"] * 2
        assert rows.state(conn, wanted) == ("received" if matching else "dead_letter")


@pytest.mark.parametrize(("rate", "waits", "rearmed"), [
    (2.0, (0, 0.5, 0.5, 3.0), (2, 1, 1, 2)),  # never more than a second's worth, however long nobody ticked
    (0.1, (0, 1.0, 4.0, 5.0), (1, 0, 0, 1)),  # parts of one add up; a machine that stalls is not near the next one
    (0.3, (0, 1.0, 2.5, 60.0), (1, 0, 1, 1)),
    (0.007, (0, 100.0, 50.0), (1, 0, 1)),
])  # fmt: skip
def test_the_rate_holds(database: Database, rate: float, waits: tuple[float, ...], rearmed: tuple[int, ...]) -> None:
    org = database.org("acme")
    with database.as_role("worker") as conn:
        for _ in range(40):
            rows.insert_run(conn, org, "dead_letter", died_in="received")
        ask(database, rate=rate)
        seen = []
        for wait in waits:
            later(conn, wait)
            seen.append(tick(conn).rearmed)
    assert len(seen) == len(rearmed)
    assert all(abs(a - b) <= 1 if rate > 1 else a == b for a, b in zip(seen, rearmed, strict=True)), seen
    assert rate > 1 or sum(seen) == sum(rearmed)


@pytest.mark.parametrize("rate", [0.001 * n for n in range(1, 1000, 7)])
def test_every_rate_below_one_admits_one_when_its_time_has_come(rate: float) -> None:
    """rate * (1 / rate) may be less than 1 in floating point; a replay must not stand still for it."""
    now = datetime.now(UTC)
    replay = {"rate_per_second": rate, "last_at": now - timedelta(days=2), "now": now, "cap": 10, "rearmed": 1}
    assert replays._due(replay) == 1


def test_the_cap_holds(database: Database) -> None:
    org = database.org("acme")
    with database.as_role("worker") as conn:
        for _ in range(5):
            rows.insert_run(conn, org, "dead_letter", died_in="received")
        replay = ask(database, cap=3)
        assert tick(conn).rearmed == 3
        later(conn, 60)
        replays.tick(conn)
        assert states(conn) == {"dead_letter": 2, "received": 3}
        assert row(conn, replay)["rearmed"] == 3


def test_orgs_take_turns(database: Database) -> None:
    large, *small = [database.org(f"org-{number}") for number in range(4)]
    with database.as_role("worker") as conn:
        for _ in range(20):
            rows.insert_run(conn, large, "dead_letter", died_in="received")
        for org in small:
            rows.insert_run(conn, org, "dead_letter", died_in="received")
        ask(database, rate=4.0)
        tick(conn)
        found = conn.execute("SELECT org_id FROM runs WHERE state = 'received' ORDER BY org_id").fetchall()
    assert [r["org_id"] for r in found] == sorted(org.id for org in [large, *small])


def test_a_run_replayed_three_times_needs_force(database: Database) -> None:
    org = database.org("acme")
    with database.as_role("worker") as conn:
        run = rows.insert_run(conn, org, "dead_letter", died_in="received")
        for _ in range(3):
            ask(database, Selector(run=run))
            assert tick(conn).rearmed == 1
            die(conn, run, "model_refused")
            while replays.tick(conn) is not None:
                pass
        refused = ask(database, Selector(run=run))
        assert tick(conn).rearmed == 0
        assert (row(conn, refused)["refused"], row(conn, refused)["status"]) == (1, "finished")
        assert rows.state(conn, run) == "dead_letter"
        ask(database, Selector(run=run), force=True)
        assert tick(conn).rearmed == 1


@pytest.mark.parametrize(("code", "deaths", "status"), [
    ("internal", 4, "stopped"),
    ("internal", 2, "running"),  # fewer than three prove nothing
    ("model_refused", 6, "running"),  # another cause
])  # fmt: skip
def test_it_stops_when_a_third_die_again_of_the_same(database: Database, code: str, deaths: int, status: str) -> None:
    org = database.org("acme")
    with database.as_role("worker") as conn:
        for _ in range(12):
            rows.insert_run(conn, org, "dead_letter", died_in="received", error_code="internal")
        replay = ask(database, rate=8.0)
        assert tick(conn).rearmed == 8
        alive = conn.execute("SELECT id FROM runs WHERE state = 'received' LIMIT %s", (deaths,)).fetchall()
        for each in alive:
            die(conn, each["id"], code)
        assert tick(conn).status == status
        later(conn, 60)
        after = replays.tick(conn)
        assert (after is None) is (status == "stopped")
        assert row(conn, replay)["finished_at"] is not None if status == "stopped" else after is not None


def test_what_died_after_the_request_is_not_replayed_by_it(database: Database) -> None:
    """Else one request could turn a run in circles for ever."""
    org = database.org("acme")
    with database.as_role("worker") as conn:
        run = rows.insert_run(conn, org, "dead_letter", died_in="received")
        ask(database)
        assert tick(conn).rearmed == 1
        die(conn, run, "model_refused")
        later(conn, 60)
        replays.tick(conn)
        assert rows.state(conn, run) == "dead_letter"
        assert conn.execute("SELECT replays FROM runs WHERE id = %s", (run,)).fetchone() == {"replays": 1}


def test_two_replay_workers_rearm_each_run_once(database: Database) -> None:
    org = database.org("acme")
    with database.as_role("worker") as first, database.as_role("worker") as second:
        rows.insert_run(first, org, "dead_letter", died_in="received")
        ask(database)
        with first.transaction():
            assert tick(first).rearmed == 1
            assert replays.tick(second) is None  # the other holds the request
        ledgered = first.execute("SELECT count(*) AS n FROM ledger WHERE action = 'run_received'"
                                 " AND detail ->> 'from' = 'dead_letter'").fetchone()  # fmt: skip
        assert ledgered == {"n": 1}


@pytest.mark.parametrize("change", [{"reason": ""}, {"rate": 0.0}, {"rate": -1.0}, {"cap": 0}])
def test_a_request_states_reason_rate_and_cap(shared: Database, change: dict[str, Any]) -> None:
    with pytest.raises(errors.CheckViolation):
        ask(shared, **change)


def test_an_operator_only_asks(shared: Database) -> None:
    with shared.as_role("operator") as conn:
        replay = ask(shared)
        assert [item["id"] for item in replays.listed(conn)] == [replay]
        for statement in ("UPDATE replays SET cap = 9", "UPDATE runs SET state = 'received'", "DELETE FROM replays"):
            with pytest.raises(errors.InsufficientPrivilege):
                conn.execute(statement)


@pytest.mark.parametrize(
    ("selector", "rate"),
    [
        ("[]", "1"),
        ('{"until": "2026-01-01"}', "1"),
        ('{"org": 5}', "1"),
        ('{"run": "all"}', "1"),
        ('{"since": "yesterday or so"}', "1"),
        ('{"code": null}', "1"),
        ("{}", "0"),
        ("{}", "NaN"),
        ("{}", "Infinity"),
    ],
)
def test_a_request_that_no_worker_could_read_is_refused(database: Database, selector: str, rate: str) -> None:
    """One in the table would keep the worker from every other."""
    with database.as_role("operator") as conn, pytest.raises((errors.IntegrityError, errors.DataError)):
        conn.execute(
            "INSERT INTO replays (id, selector, actor, reason, rate_per_second, cap) "
            "VALUES (uuidv7(), %s::jsonb, 'ana', 'by hand', %s::real, 1)",
            (selector, rate),
        )
