"""The stage runner: what an outcome does to a run, and that no run takes its neighbours along."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from uuid_utils.compat import uuid7

from db import runs
from db.connect import connect
from pipeline.errors import SettingError
from pipeline.outcome import Bury, Done, ErrorCode, Outcome, Retry, Skip, SkipReason, Snooze
from pipeline.states import RunState
from tests.fleet import Fleet, event
from tests.integration.workers.scripted import Script, Scripted
from tests.waiting import wait_for
from workers.stage import work_through

SAID = "We decided to use Postgres for the search service because it has row locks."


def raises(error: Exception) -> Callable[[Any], None]:
    def work(_: Any) -> None:
        raise error

    return work


def received(fleet: Fleet, *sessions: str) -> None:
    fleet.database.org("acme")
    fleet.ingest(*[event(SAID, session=session) for session in sessions])


def work(fleet: Fleet, **scripts: Script | Outcome[Any]) -> None:
    """Each session by its script, the others done."""

    def script(run: Any) -> Outcome[Any] | None:
        asked = scripts.get(run.session)
        return asked(run) if callable(asked) else asked

    work_through(Scripted(script))


def by_session(fleet: Fleet, *columns: str) -> dict[str, tuple[Any, ...]]:
    rows = fleet.rows(f"SELECT session, {', '.join(columns)} FROM runs")
    return {row["session"]: tuple(row[column.split()[-1]] for column in columns) for row in rows}


FAILURES: dict[str, tuple[Script | Outcome[Any], tuple[str, str, str]]] = {
    "raises": (raises(KeyError("secret")), ("received", "internal", "KeyError")),
    "raises one of ours": (raises(SettingError("X is unset")), ("received", "internal", "X is unset")),
    "a key nobody has": (Done(999), ("dead_letter", "data_refused", "23503 envelopes_org_id_fkey")),
    "nothing JSON could hold": (Done(object()), ("received", "internal", "TypeError")),
    "raises in write": (Done(ValueError("x")), ("received", "internal", "ValueError")),
    "buried": (Bury(ErrorCode.MODEL_REFUSED, "401"), ("dead_letter", "model_refused", "401")),
    "retried": (Retry(ErrorCode.MODEL_UNAVAILABLE, "503"), ("received", "model_unavailable", "503")),
}  # fmt: skip


@pytest.mark.parametrize(("failure", "expected"), FAILURES.values(), ids=FAILURES)
def test_a_run_that_fails_fails_alone(
    fleet: Fleet, failure: Script | Outcome[Any], expected: tuple[str, str, str]
) -> None:
    received(fleet, "a", "b", "c")
    fleet.install(backoff_first_seconds=60, backoff_cap_seconds=60)
    work(fleet, b=failure)
    found = by_session(fleet, "state", "error_code", "error_detail", "attempts")
    assert found == {"a": ("extracted", None, None, 0), "b": (*expected, 1), "c": ("extracted", None, None, 0)}
    assert fleet.rows("SELECT count(*) AS n FROM envelopes")[0]["n"] == 2
    assert fleet.rows("SELECT count(*) AS n FROM runs WHERE lease IS NOT NULL")[0]["n"] == 0


def test_a_stage_that_forgets_a_run_is_asked_again_for_it_alone(fleet: Fleet) -> None:
    class Forgetful(Scripted):
        def work(self, using: Any, claimed: Any) -> Any:
            return super().work(using, [run for run in claimed if run.session != "b"])

    received(fleet, "a", "b")
    fleet.install(backoff_first_seconds=60, backoff_cap_seconds=60)
    work_through(Forgetful(lambda _: None))
    assert by_session(fleet, "state", "error_code") == {"a": ("extracted", None), "b": ("received", "internal")}


def test_attempts_are_spaced_and_then_spent(fleet: Fleet) -> None:
    received(fleet, "a")
    fleet.install(attempts_max=4, backoff_first_seconds=8, backoff_cap_seconds=20)
    waits = []
    for _ in range(3):
        work(fleet, a=Retry(ErrorCode.MODEL_UNAVAILABLE, "503"))
        row = fleet.rows("SELECT state, attempts, extract(epoch FROM due_at - now())::float AS wait FROM runs")[0]
        waits.append(row["wait"])
        assert (row["state"], row["attempts"]) == ("received", len(waits))
        fleet.rows("UPDATE runs SET due_at = now() RETURNING id")
    for wait, full in zip(waits, (8, 16, 20), strict=True):
        assert full / 2 - 1 <= wait <= full
    work(fleet, a=Retry(ErrorCode.MODEL_UNAVAILABLE, "503"))
    assert by_session(fleet, "state", "died_in", "error_code", "attempts", "due_at") == {
        "a": ("dead_letter", "received", "model_unavailable", 4, None)
    }
    entry = fleet.rows("SELECT detail FROM ledger WHERE action = 'run_dead_letter'")[0]
    assert entry["detail"]["code"] == "model_unavailable"


def test_a_time_that_was_asked_for_is_kept(fleet: Fleet) -> None:
    until = datetime.now(UTC) + timedelta(hours=5)
    received(fleet, "retry", "snooze", "skip")
    work(
        fleet, retry=Retry(ErrorCode.MODEL_UNAVAILABLE, "429", 3_600), snooze=Snooze(until, "over budget"),
        skip=Skip(SkipReason.TOO_SHORT),
    )  # fmt: skip
    found = by_session(fleet, "state", "attempts", "due_at", "reason", "skip_reason")
    assert 3_500 < (found["retry"][2] - datetime.now(UTC)).total_seconds() <= 3_600
    assert found["snooze"] == ("received", 0, until, "over budget", None)
    assert found["skip"] == ("skipped", 0, None, None, "too_short")
    work(fleet)
    assert by_session(fleet, "state") == {"retry": ("received",), "snooze": ("received",), "skip": ("skipped",)}


@pytest.mark.parametrize(
    "outcome",
    [Done(1), Retry(ErrorCode.INTERNAL, ""), Bury(ErrorCode.INTERNAL, ""), Skip(SkipReason.EMPTY),
     Snooze(datetime(2030, 1, 1, tzinfo=UTC), "")],
    ids=lambda outcome: type(outcome).__name__,
)  # fmt: skip
def test_who_lost_the_lease_writes_nothing(fleet: Fleet, outcome: Outcome[Any]) -> None:
    received(fleet, "a", "b")
    before = "SELECT id, state, lease, due_at, attempts, skip_reason FROM runs WHERE session = 'a'"

    def loses(run: Any) -> Outcome[Any]:
        fleet.rows(
            "UPDATE runs SET lease = uuidv7(), due_at = due_at + interval '1 h' WHERE session = 'a' RETURNING id"
        )
        stolen.extend(fleet.rows(before))
        return outcome

    stolen: list[dict[str, Any]] = []
    work(fleet, a=loses)
    assert fleet.rows(before) == stolen
    assert by_session(fleet, "state")["b"] == ("extracted",)
    assert len(fleet.rows("SELECT run_id FROM envelopes")) == 1


def test_a_batch_slower_than_its_lease_is_not_taken_from_its_worker(fleet: Fleet) -> None:
    received(fleet, "a")
    fleet.install(lease_seconds=0.6)
    taken = []

    def slow(_: Any) -> None:
        for _ in range(4):
            time.sleep(0.5)
            with connect(fleet.database.address("worker")) as conn:
                taken.extend(runs.claim(conn, RunState.RECEIVED, uuid7(), batch=9, lease_seconds=60))

    work(fleet, a=slow)
    assert taken == []
    assert by_session(fleet, "state", "lease_losses") == {"a": ("extracted", 0)}


def test_a_lapsed_lease_is_counted_as_a_loss_and_not_as_an_attempt(fleet: Fleet) -> None:
    received(fleet, "a")
    fleet.rows("UPDATE runs SET lease = uuidv7() RETURNING id")
    seen = []
    work(fleet, a=lambda run: seen.append((run.lease_losses, run.attempts)))
    assert seen == [(1, 0)]
    assert by_session(fleet, "state", "lease_losses") == {"a": ("extracted", 0)}


@pytest.mark.parametrize(("losses", "batches"), [(1, [["a", "b", "c"]]), (2, [["a"], ["b", "c"]])])
def test_what_two_workers_were_lost_with_is_taken_alone(fleet: Fleet, losses: int, batches: list[list[str]]) -> None:
    received(fleet, "a", "b", "c")
    fleet.rows("UPDATE runs SET lease_losses = %s, lease = uuidv7() WHERE session = 'a' RETURNING id", losses - 1)
    claimed: list[list[str]] = []

    class Notes(Scripted):
        def work(self, using: Any, batch: Any) -> Any:
            claimed.append(sorted(run.session for run in batch))
            return super().work(using, batch)

    work_through(Notes(lambda _: None))
    assert sorted(claimed) == sorted(batches)


def test_after_five_lost_workers_a_run_is_set_aside_unworked(fleet: Fleet) -> None:
    received(fleet, "a", "b")
    fleet.rows("UPDATE runs SET lease_losses = 4, lease = uuidv7() WHERE session = 'a' RETURNING id")
    worked = []
    work(fleet, a=lambda run: worked.append(run.session))
    assert worked == []
    assert by_session(fleet, "state", "error_code") == {"a": ("dead_letter", "kills_worker"), "b": ("extracted", None)}


def test_runs_at_hand_are_given_back_when_postgres_goes_away(fleet: Fleet) -> None:
    received(fleet, "a", "b")

    def cut_off(_: Any) -> None:
        with fleet.using.pool.connection() as conn:
            conn.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    with pytest.raises(Exception, match="terminat"):
        work(fleet, a=cut_off)
    wait_for(lambda: by_session(fleet, "state", "lease", "lease_losses")["a"] == ("received", None, 0))
    work(fleet)
    assert by_session(fleet, "state") == {"a": ("extracted",), "b": ("extracted",)}
