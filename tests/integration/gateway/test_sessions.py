"""Sessions in over HTTP: on disk before 202, scrubbed before the stream, one run however often, sent again if lost."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from redis import Redis

from tests.integration.gateway.conftest import Door
from workers.keys import STREAM

KEY = "AKIAQ3EGRT7VNO5K2JXW"


def session(*said: str, **more: Any) -> dict[str, Any]:
    turns = [{"role": "user", "trust": "user", "text": text} for text in said]
    return {
        "session": "s-1",
        "agent": "coder",
        "ended_at": "2026-05-04T10:00:00Z",
        "transcript": {"turns": turns},
    } | more


SAID = "The search service stores its documents in Postgres."


def _stream(door: Door) -> list[Any]:
    with Redis.from_url(door.fleet.valkey.url("admin")) as admin:
        return list(admin.xrange(STREAM))


def test_a_session_becomes_recallable_under_the_id_that_was_answered(door: Door) -> None:
    agent = door.token(agent="coder", tiers=("semantic",))
    said = door.client.post("/v1/sessions", json=session(SAID), headers=agent)
    assert said.status_code == 202, said.text
    (taken,) = said.json()["runs"]
    assert door.client.get(f"/v1/runs/{taken['id']}", headers=agent).status_code == 404
    assert door.take_in() == 1
    assert door.client.get(f"/v1/runs/{taken['id']}", headers=agent).json()["state"] == "received"
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(door.client.get, f"/v1/runs/{taken['id']}?wait=20", headers=agent)
        door.fleet.run()
        run = waiting.result().json()
    assert run["recallable"]
    assert run["memories"] == {"active": 1}
    assert door.client.get(f"/v1/runs/{run['id']}", headers=agent).json()["session"] == "s-1"
    found = door.client.post("/v1/recall", json={"query": "where are documents stored"}, headers=agent).json()
    assert [hit["content"] for hit in found["hits"]] == [SAID]
    assert found["mode"] == "hybrid"
    block = door.client.post("/v1/recall/block", json={"query": "documents"}, headers=agent).json()
    assert SAID in block["text"]
    recorded = door.fleet.rows("SELECT encode(block_hash, 'hex') AS hash FROM recalls WHERE block_hash IS NOT NULL")
    assert [row["hash"] for row in recorded] == [block["sha256"]]


def test_the_same_session_is_one_run(door: Door) -> None:
    agent = door.token(agent="coder")
    answers = [door.client.post("/v1/sessions", json=session(SAID), headers=agent).json() for _ in range(3)]
    named = [
        door.client.post("/v1/sessions", json=session(SAID, event_id="e-1"), headers=agent).json() for _ in range(2)
    ]
    assert len({str(answer) for answer in answers}) == 1
    assert [answer["runs"][0]["id"] for answer in named] == ["e-1", "e-1"]
    door.take_in()
    assert len(door.fleet.rows("SELECT FROM runs")) == 2


def test_what_is_secret_does_not_reach_the_stream(door: Door) -> None:
    said = door.client.post(
        "/v1/sessions", json=[session(f"the key is {KEY}"), session("x", session=f"s {KEY}")], headers=door.token()
    )
    assert said.status_code == 202
    assert len(_stream(door)) == 2
    assert KEY not in str(_stream(door))
    assert KEY not in said.text
    ids = [taken["id"] for taken in said.json()["runs"]]
    door.take_in()
    assert {row["event_key"] for row in door.fleet.rows("SELECT event_key FROM runs")} == set(ids)


def test_a_flushed_redis_loses_nothing_that_was_taken(open_door: Callable[..., Door]) -> None:
    door = open_door(resend_seconds=0.01)
    (taken,) = door.client.post("/v1/sessions", json=session(SAID), headers=door.token()).json()["runs"]
    spool = door.app.state.gate.spool
    assert spool.waiting() == 1
    door.fleet.flush()
    spool.look()
    assert door.take_in() >= 1
    spool.look()
    assert spool.waiting() == 0
    assert [row["event_key"] for row in door.fleet.rows("SELECT event_key FROM runs")] == [taken["id"]]


def test_a_proposal_is_no_memory_until_the_gate_and_a_person_say_so(door: Door) -> None:
    agent = door.token(agent="coder", tiers=("semantic",))
    body = {"text": "Never deploy on Fridays."}
    (taken,) = door.client.post("/v1/proposals", json=body, headers=agent).json()["runs"]
    assert door.client.post("/v1/proposals", json=body, headers=agent).json()["runs"] == [taken]
    door.take_in()
    door.fleet.run()
    run = door.client.get(f"/v1/runs/{taken['id']}", headers=agent).json()
    assert (run["kind"], run["ended"]) == ("proposal", True)
    assert "active" not in run["memories"] or run["memories"] == {"active": 1}


@pytest.mark.parametrize(("bearer", "given", "status"), [
    ({"agent": "coder"}, {"agent": "other"}, 403), ({"project": "p-1"}, {"project": "p-2"}, 403),
    ({"user": "u-1"}, {"user": "u-2"}, 403), ({"agent": "coder", "project": "p-1"}, {"project": "p-1"}, 202),
    ({}, {"agent": None}, 422), ({}, {"spaces": ["nowhere"]}, 422), ({}, {"org": "other"}, 422),
    ({}, {"transcript": None}, 422), ({}, {"event_id": "a/b"}, 422), ({}, {"ended_at": "yesterday"}, 422),
])  # fmt: skip
def test_a_session_is_the_bearers_own(door: Door, bearer: dict[str, str], given: dict[str, Any], status: int) -> None:
    said = door.client.post("/v1/sessions", json=session(SAID, **given), headers=door.token(**bearer))
    assert said.status_code == status, said.text
    assert len(_stream(door)) == (status == 202)
    if status != 202:
        assert said.headers["content-type"] == "application/problem+json"
        assert SAID not in said.text


def test_without_redis_a_session_is_refused_and_recall_goes_on(open_door: Callable[..., Door]) -> None:
    door = open_door()
    gate = door.app.state.gate
    agent = door.token(tiers=("semantic",))
    gate.outbox.redis.connection_pool.connection_kwargs["path"] = "/nowhere/valkey.sock"
    gate.rates._redis.connection_pool.connection_kwargs["path"] = "/nowhere/valkey.sock"
    gate.outbox.redis.connection_pool.disconnect()
    said = door.client.post("/v1/sessions", json=session(SAID), headers=agent)
    assert (said.status_code, said.headers["retry-after"]) == (503, "1")
    assert door.client.post("/v1/recall", json={"query": "x"}, headers=agent).status_code == 200
    assert door.client.get("/readyz").status_code == 503
    assert door.client.get("/healthz").status_code == 200
