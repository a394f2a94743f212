"""What a run's model calls cost stands in Postgres whatever becomes of the run; what nobody pays for waits."""

from __future__ import annotations

import json
import os
import signal
from datetime import UTC, datetime
from typing import Any

import pytest

from db import orgs
from db.connect import DatabaseDown
from pipeline.extraction.adapters.endpoint import Endpoint
from pipeline.extraction.adapters.pydantic_ai import ModelExtractor
from pipeline.provenance import EndpointClass
from tests.doubles.model_server import Answer, Failure, Hang, ModelServer
from tests.fleet import Fleet, event
from tests.waiting import wait_for
from workers.metering import next_day

pytest.importorskip("openai", reason="the extra `openai` is not installed")

EMPTY = Answer('{"candidates": []}')
FOUND = Answer(
    json.dumps(
        {
            "candidates": [
                {
                    "content": "Exports go to the Lisbon archive.",
                    "kind": "fact",
                    "rationale": "Said by the user.",
                    "evidence": [{"turn": 0, "quote": "exports go to the Lisbon archive"}],
                }
            ]
        }
    )
)
SAID = "From now on the exports go to the Lisbon archive, since the one in Porto is full."


def asking(fleet: Fleet, server: ModelServer, **limits: Any) -> None:
    fleet.install(
        extractor=ModelExtractor(Endpoint(base_url=server.base_url, model="m-1", deadline_seconds=20)), **limits
    )


def calls(fleet: Fleet) -> list[dict[str, Any]]:
    return fleet.rows("SELECT * FROM model_calls ORDER BY reserved_at")


def used(fleet: Fleet, session: str, tokens: int) -> None:
    """As if that session's run had asked for so many tokens today."""
    fleet.rows("""
        INSERT INTO model_calls (id, org_id, run_id, purpose, provider, model, endpoint_class, prompt_revision,
          reserved_input, reserved_output)
        SELECT uuidv7(), org_id, id, 'extraction', 'p', 'm', 'cloud', 'r', %s, 0 FROM runs WHERE session = %s
        RETURNING id""", tokens, session)  # fmt: skip


def test_a_run_s_calls_are_kept_with_who_answered(fleet: Fleet) -> None:
    fleet.database.org("acme")
    with ModelServer([Answer("no JSON"), FOUND]) as server:
        asking(fleet, server)
        fleet.ingest(event(SAID))
        fleet.run()
    first, second = calls(fleet)
    assert first["run_id"] == second["run_id"] == fleet.rows("SELECT id FROM runs")[0]["id"]
    assert [(one["outcome"], one["tokens_counted"], one["cost_counted"]) for one in (first, second)] == [
        ("answered", 110, None)
    ] * 2
    assert (second["model"], second["answered_by"], second["purpose"]) == ("m-1", "scripted-1", "extraction")
    assert fleet.rows("SELECT content FROM memories") == [{"content": "Exports go to the Lisbon archive."}]


def test_a_run_that_dies_keeps_what_it_cost_and_a_replay_adds_to_it(fleet: Fleet) -> None:
    fleet.database.org("acme")
    with ModelServer([Failure(500), Answer("no JSON"), Answer("still none"), EMPTY]) as server:
        asking(fleet, server, backoff_first_seconds=600, backoff_cap_seconds=600)
        fleet.ingest(event(SAID))
        fleet.run("extraction")
        assert [one["outcome"] for one in calls(fleet)] == ["unavailable"]
        fleet.rows("UPDATE runs SET due_at = now() RETURNING id")
        fleet.run("extraction")
        assert fleet.rows("SELECT state FROM runs") == [{"state": "dead_letter"}]
    assert [(one["outcome"], one["tokens_counted"]) for one in calls(fleet)] == [
        ("unavailable", 0), ("answered", 110), ("answered", 110)
    ]  # fmt: skip


def test_over_budget_a_run_waits_for_tomorrow_spends_no_attempt_and_keeps_nobody_back(fleet: Fleet) -> None:
    poor = fleet.database.org("poor", budget_tokens_a_day=5_000)
    fleet.database.org("acme")
    with ModelServer([EMPTY]) as server:
        asking(fleet, server)
        fleet.ingest(*(event(SAID, org="poor", session=f"s{n}") for n in range(3)), event(SAID))
        used(fleet, "s0", 4_999)
        fleet.run("extraction")
        assert len(server.requests) == 1
        waiting = fleet.rows("SELECT session, attempts, reason, due_at FROM runs WHERE org_id = %s ORDER BY 1", poor.id)
        assert [(run["attempts"], run["reason"], run["due_at"]) for run in waiting] == [
            (0, "over_budget", next_day(datetime.now(UTC)))
        ] * 3
        assert fleet.rows("SELECT state FROM runs WHERE org_id <> %s", poor.id) == [{"state": "extracted"}]
        with fleet.database.as_role("operator") as conn:
            orgs.change(
                conn, poor, poor.settings.model_copy(update={"budget_tokens_a_day": 99_000}), actor="ana", reason="more"
            )
        fleet.run("extraction")
        assert len(server.requests) == 4
    assert fleet.rows("SELECT DISTINCT state, reason FROM runs WHERE org_id = %s", poor.id) == [
        {"state": "extracted", "reason": None}
    ]


def test_no_word_of_a_session_reaches_an_endpoint_its_org_does_not_admit(fleet: Fleet) -> None:
    shy = fleet.database.org("shy", endpoint_classes=["local"])
    fleet.database.org("acme")
    with ModelServer([EMPTY]) as server:
        asking(fleet, server)
        fleet.ingest(event(SAID, org="shy"), event("Nothing else was said here today.", org="acme"))
        fleet.run("extraction")
        assert len(server.requests) == 1
        assert SAID not in str(server.requests)
        [waits] = fleet.rows("SELECT state, attempts, reason FROM runs WHERE org_id = %s", shy.id)
        assert waits == {"state": "received", "attempts": 0, "reason": "endpoint_not_allowed"}
        fleet.run("extraction")
        assert len(server.requests) == 1
        with fleet.database.as_role("operator") as conn:
            wanted = shy.settings.model_copy(update={"endpoint_classes": frozenset(EndpointClass)})
            orgs.change(conn, shy, wanted, actor="ana", reason="contract of May")
        fleet.run("extraction")
        assert SAID in str(server.requests[-1])
    assert fleet.rows("SELECT DISTINCT state FROM runs") == [{"state": "extracted"}]


def test_what_no_day_can_pay_for_is_skipped_with_its_reason(fleet: Fleet) -> None:
    fleet.database.org("acme", budget_tokens_a_day=100)
    with ModelServer([EMPTY]) as server:
        asking(fleet, server)
        fleet.ingest(event(SAID))
        fleet.run("extraction")
        assert server.requests == []
    assert fleet.rows("SELECT state, skip_reason FROM runs") == [{"state": "skipped", "skip_reason": "over_budget"}]


def test_the_offline_extractor_asks_nobody(fleet: Fleet) -> None:
    fleet.database.org("acme", budget_tokens_a_day=0)
    fleet.ingest(event("We decided to use Postgres for the search service because it has row locks."))
    fleet.run()
    assert fleet.rows("SELECT state FROM runs") == [{"state": "consolidated"}]
    assert calls(fleet) == []


def test_a_worker_killed_while_it_waits_leaves_its_reservation(fleet: Fleet) -> None:
    fleet.database.org("acme")
    with ModelServer([Hang()]) as server:
        asking(fleet, server)
        fleet.ingest(event(SAID))
        if (child := os.fork()) == 0:
            try:
                fleet._opened.clear()
                fleet.run("extraction")
            finally:
                os._exit(1)
        wait_for(lambda: server.requests)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    (left,) = calls(fleet)
    assert (left["outcome"], left["input_tokens"]) == ("reserved", None)
    assert left["tokens_counted"] > 2_000


def test_a_call_that_cannot_be_settled_now_stays_reserved(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet.database.org("acme")
    with ModelServer([EMPTY]) as server:
        asking(fleet, server)
        fleet.ingest(event(SAID))
        monkeypatch.setattr("workers.metering.time.sleep", lambda seconds: None)
        with monkeypatch.context() as patch:

            def down(*_: object) -> bool:
                raise DatabaseDown("gone")

            patch.setattr("db.model_calls.settle", down)
            fleet.run("extraction")
    assert [one["outcome"] for one in calls(fleet)] == ["reserved"]
    assert fleet.rows("SELECT state FROM runs") == [{"state": "extracted"}], "the run itself goes on"


def test_a_budget_begins_anew_at_midnight_utc() -> None:
    assert next_day(datetime(2026, 12, 31, 23, 59, tzinfo=UTC)) == datetime(2027, 1, 1, tzinfo=UTC)
    assert next_day(datetime(2026, 12, 31, tzinfo=UTC)) == datetime(2027, 1, 1, tzinfo=UTC)
