"""The run state machine against hand-written SQL: the database refuses what pipeline/states.py does not list."""

from __future__ import annotations

from itertools import product

import psycopg
import pytest
from psycopg.errors import CheckViolation, InsufficientPrivilege

from pipeline.states import MEMORY_MOVES, RUN_ENTRIES, RUN_MOVES, RunKind, RunState
from tests.integration.db import rows
from tests.services import Database

PAIRS = [(a, b) for a, b in product(RunState, RunState) if a is not b]


def test_the_tables_of_moves_are_the_page_of_states(database: Database) -> None:
    with database.as_role("worker") as conn:
        runs = {(r["from_state"], r["to_state"]) for r in conn.execute("SELECT * FROM run_moves")}
        entries = {(r["kind"], r["state"]) for r in conn.execute("SELECT * FROM run_entries")}
        memories = {(r["from_status"], r["to_status"]) for r in conn.execute("SELECT * FROM memory_moves")}
    assert runs == {(str(a), str(b)) for a, b in RUN_MOVES}
    assert entries == {(str(a), str(b)) for a, b in RUN_ENTRIES}
    assert memories == {(str(a), str(b)) for a, b in MEMORY_MOVES}


def test_every_pair_of_states_moves_or_is_refused_as_listed(database: Database) -> None:
    """By hand as the workers' login and as the superuser; a refused move leaves state and ledger as they were."""
    org = database.org("acme")
    with database.as_role("worker") as worker, rows.as_admin(database) as admin:
        replay = rows.open_replay(admin)
        for conn, (start, goal) in product((worker, admin), PAIRS):
            died_in = goal if goal in rows.LINE[:4] else RunState.RECEIVED
            run = rows.insert_run(worker, org, start, died_in=died_in)
            before = _entries(worker, run)
            if (start, goal) in RUN_MOVES:
                rows.move(conn, run, goal, replay_id=replay if start == RunState.DEAD_LETTER else None)
                assert rows.state(worker, run) == goal
                assert _entries(worker, run) == [*before, f"run_{goal}"]
            else:
                with pytest.raises(CheckViolation) as refused:
                    rows.move(conn, run, goal)
                assert refused.value.diag.constraint_name == "run_moves", (start, goal)
                assert rows.state(worker, run) == start
                assert _entries(worker, run) == before


def _entries(conn: psycopg.Connection[dict[str, object]], run: object) -> list[object]:
    found = conn.execute("SELECT action FROM ledger WHERE subject_id = %s ORDER BY id", (str(run),))
    return [row["action"] for row in found]


@pytest.mark.parametrize("died_in", rows.LINE[:4])
def test_dead_letter_returns_only_to_the_state_it_died_in(shared: Database, died_in: str) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        run = rows.insert_run(conn, org, "dead_letter", died_in=died_in)
        for other in set(rows.LINE[:4]) - {died_in}:
            with pytest.raises(CheckViolation, match="no such move"):
                rows.move(conn, run, other)
            with pytest.raises(CheckViolation, match="no such move"):  # nor by first rewriting where it died
                conn.execute("UPDATE runs SET died_in = %s WHERE id = %s", (other, run))
        with pytest.raises(CheckViolation, match="without an open replay"):
            rows.move(conn, run, died_in)
        with shared.as_role("operator") as operator:
            replay = rows.open_replay(operator)
        rows.move(conn, run, died_in, replay_id=replay)
        assert rows.state(conn, run) == died_in


def test_a_worker_cannot_ask_for_a_replay_itself(shared: Database) -> None:
    with shared.as_role("worker") as conn, pytest.raises(InsufficientPrivilege):
        rows.open_replay(conn)


def test_a_run_cannot_claim_to_have_died_elsewhere(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        run = rows.insert_run(conn, org, "redacted")
        with pytest.raises(CheckViolation, match="no such move"):
            conn.execute(
                "UPDATE runs SET state = 'dead_letter', died_in = 'received', error_code = 'internal', due_at = NULL"
                " WHERE id = %s",
                (run,),
            )


@pytest.mark.parametrize(("kind", "entry"), list(product(RunKind, RunState)))
def test_a_run_enters_only_where_its_kind_may(shared: Database, kind: str, entry: str) -> None:
    org = rows.fresh_org(shared)
    columns: dict[str, object] = {"kind": kind, "state": entry}
    columns |= {"memory_id": rows.uuid7()} if kind == "verdict" else {}
    columns |= {"due_at": None} if entry in rows.STATES_DONE else {}
    columns |= {"skip_reason": "empty"} if entry == "skipped" else {}
    columns |= {"died_in": "received", "error_code": "internal"} if entry == "dead_letter" else {}
    with shared.as_role("worker") as conn:
        if (kind, entry) in RUN_ENTRIES:
            rows.insert_row(conn, org, columns)
        else:
            with pytest.raises(CheckViolation) as refused:
                rows.insert_row(conn, org, columns)
            assert refused.value.diag.constraint_name == "run_entries"


@pytest.mark.parametrize("change", ["id = uuidv7()", "org_id = %(other)s", "kind = 'note'", "event_key = 'other'"])
def test_a_run_keeps_its_identity(shared: Database, change: str) -> None:
    org, other = rows.fresh_org(shared), rows.fresh_org(shared)
    with rows.as_admin(shared) as conn:
        run = rows.insert_run(conn, org)
        with pytest.raises(CheckViolation, match="keeps its identity"):
            conn.execute(f"UPDATE runs SET {change} WHERE id = %(id)s", {"other": other.id, "id": run})


@pytest.mark.parametrize("statement", ["DELETE FROM runs", "TRUNCATE runs CASCADE", "DELETE FROM runs WHERE false"])
def test_runs_are_never_removed(shared: Database, statement: str) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as worker, rows.as_admin(shared) as admin:
        run = rows.insert_run(worker, org)
        for conn in (worker, admin):
            with pytest.raises(InsufficientPrivilege):
                conn.execute(statement)
        assert rows.state(worker, run) == "received"


@pytest.mark.parametrize(
    "change",
    [
        "due_at = NULL",  # an unfinished run is always due at some time
        "died_in = 'received'",
        "skip_reason = 'empty'",
        "memory_id = uuidv7()",
        "state = 'consolidated'",
        "state = 'lost'",
    ],
)
def test_states_and_their_columns_agree(shared: Database, change: str) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        run = rows.insert_run(conn, org)
        with pytest.raises(CheckViolation):
            conn.execute(f"UPDATE runs SET {change} WHERE id = %s", (run,))


def test_a_mixed_batch_is_refused_whole(database: Database) -> None:
    """One illegal move among legal ones in a single statement moves nothing."""
    org = database.org("acme")
    with database.as_role("worker") as conn:
        legal, illegal = rows.insert_run(conn, org), rows.insert_run(conn, org, "redacted")
        with pytest.raises(CheckViolation, match="no such move"):
            conn.execute("UPDATE runs SET state = 'extracted'")
        assert [rows.state(conn, run) for run in (legal, illegal)] == ["received", "redacted"]
