"""A model that does not answer, through the real stage: who waits, what it costs, and what the metrics say."""

from __future__ import annotations

from typing import Any

from db import model_calls
from pipeline.extraction.adapters.endpoint import Endpoint
from pipeline.extraction.adapters.pydantic_ai import ModelExtractor
from pipeline.extraction.circuit import FAILURES_MAX
from pipeline.provenance import EndpointClass
from tests.doubles.model_server import Answer, Failure, ModelServer
from tests.fleet import Fleet, event
from workers import metrics

EMPTY = Answer('{"candidates": []}')
SAID = "From now on the exports go to the Lisbon archive, number {}, since the one in Porto is full."


def sessions(fleet: Fleet, count: int) -> None:
    fleet.database.org("acme")
    fleet.ingest(*(event(SAID.format(n), session=f"s{n}") for n in range(count)))


def asking(fleet: Fleet, server: ModelServer, **changes: Any) -> None:
    endpoint = Endpoint(
        base_url=server.base_url, model="m-1", endpoint_class=EndpointClass.LOCAL, concurrency=1, **changes
    )
    reader = ModelExtractor(endpoint)  # one for all batches, as in a worker process
    fleet.install(extractor=reader, backoff_first_seconds=600, backoff_cap_seconds=600)


def circuits() -> dict[str, float]:
    return {sample.labels["state"]: sample.value for sample in metrics.MODEL_CIRCUITS.collect()[0].samples}


def test_runs_wait_while_a_model_is_left_alone_and_spend_nothing(fleet: Fleet) -> None:
    sessions(fleet, FAILURES_MAX + 3)
    with ModelServer([*[Failure(503)] * FAILURES_MAX, EMPTY]) as server:
        asking(fleet, server, cool_down_seconds=600)
        fleet.run("extraction")
        assert len(server.requests) == FAILURES_MAX
        waiting = fleet.rows("SELECT attempts, state FROM runs WHERE reason = 'model_unavailable'")
        assert waiting == [{"attempts": 0, "state": "received"}] * 3
        assert fleet.rows("SELECT attempts FROM runs WHERE reason IS NULL") == [{"attempts": 1}] * FAILURES_MAX
        assert circuits() == {"closed": 0, "open": 1, "half_open": 0}
        with fleet.database.as_role("worker") as conn:
            assert model_calls.waiting(conn)["model_unavailable"] == 3
        fleet.rows("UPDATE runs SET due_at = now() RETURNING id")
        fleet.run("extraction")
        assert len(server.requests) == FAILURES_MAX, "another batch of the same process knows"
        assert fleet.rows("SELECT count(*) AS calls FROM model_calls") == [{"calls": FAILURES_MAX}]


def test_what_waited_is_read_once_the_model_is_back(fleet: Fleet) -> None:
    sessions(fleet, FAILURES_MAX + 1)
    with ModelServer([*[Failure(500)] * FAILURES_MAX, EMPTY]) as server:
        asking(fleet, server, cool_down_seconds=0.01)
        fleet.run("extraction")
        fleet.rows("UPDATE runs SET due_at = now() WHERE state = 'received' RETURNING id")
        fleet.run("extraction")
    assert fleet.rows("SELECT DISTINCT state, reason FROM runs") == [{"state": "extracted", "reason": None}]
    assert circuits() == {"closed": 1, "open": 0, "half_open": 0}


def test_too_many_requests_never_kill_a_run(fleet: Fleet) -> None:
    sessions(fleet, 1)
    with ModelServer([Failure(429, retry_after="90")]) as server:
        asking(fleet, server)
        for _ in range(7):
            fleet.run("extraction")
            [run] = fleet.rows("SELECT state, attempts, reason, due_at > now() + interval '60 s' AS later FROM runs")
            assert run == {"state": "received", "attempts": 0, "reason": "model_unavailable", "later": True}
            fleet.rows("UPDATE runs SET due_at = now() RETURNING id")
    assert fleet.rows("SELECT sum(tokens_counted)::integer AS tokens FROM model_calls") == [{"tokens": 0}]
