"""Who may use which route, what a refusal looks like, and that nothing of another org shows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest
from fastapi.routing import APIRoute

from gateway.app import ROUTERS
from gateway.caller import Admits
from tests.fleet import event
from tests.integration.gateway.conftest import Door

TABLE = {
    "GET /healthz": "anyone", "GET /readyz": "anyone",
    "POST /v1/sessions": "agent", "POST /v1/proposals": "agent", "GET /v1/runs/{id}": "agent operator reviewer",
    "POST /v1/recall": "agent", "POST /v1/recall/block": "agent", "POST /v1/digest": "agent",
    "GET /v1/reviews": "reviewer", "GET /v1/memories/{id}": "reviewer", "POST /v1/reviews/{memory}": "reviewer",
}  # fmt: skip
"""A new route is decided about here to pass."""

UNKNOWN = "0192f3a4-77aa-7000-8000-3f0d1c2b4a59"
BODIES: dict[str, Any] = {
    "POST /v1/recall": {"query": "x"}, "POST /v1/recall/block": {"query": "x"},
    "POST /v1/proposals": {"text": "x", "agent": "coder"}, "POST /v1/reviews/{memory}": {"verdict": "approve"},
    "POST /v1/sessions": {"session": "s", "agent": "coder", "ended_at": "2026-05-04T10:00:00Z", "transcript": {}},
}  # fmt: skip


def _routes() -> dict[str, str]:
    found = {}
    for router in ROUTERS:
        for route in router.routes:
            assert isinstance(route, APIRoute)
            admits = [d.call.roles for d in route.dependant.dependencies if isinstance(d.call, Admits)]
            (method,) = route.methods
            found[f"{method} {route.path}"] = " ".join(sorted(admits[0])) if admits else "anyone"
    return found


def _call(door: Door, name: str, headers: dict[str, str], id: str = UNKNOWN) -> Any:
    method, path = name.split()
    path = path.replace("{id}", id).replace("{memory}", id)
    return door.client.request(method, path, headers=headers, json=BODIES.get(name))


def test_every_route_is_decided_about() -> None:
    assert _routes() == TABLE


@pytest.mark.parametrize("role", ["agent", "reviewer", "operator"])
def test_a_route_takes_the_roles_of_its_row(door: Door, role: str) -> None:
    token = door.token(role)
    for name, admitted in TABLE.items():
        said = _call(door, name, token)
        allowed = admitted == "anyone" or role in admitted.split()
        assert (said.status_code != 403) == allowed, (name, said.text)
        assert said.status_code < 500


@pytest.mark.parametrize("given", ["", "Bearer x", "Bearer aw_agent_x", "Bearer aw_reviewer_x", "Basic eDp5", "Bearer"])
def test_no_route_opens_without_a_living_token(door: Door, given: str) -> None:
    for name, admitted in TABLE.items():
        if admitted != "anyone":
            said = _call(door, name, {"Authorization": given} if given else {})
            wrong_role = given.startswith("Bearer aw_") and given.split("_")[1] not in admitted.split()
            assert said.status_code == (403 if wrong_role else 401), name
            assert said.json()["status"] == said.status_code


def test_a_token_of_one_role_does_not_open_another_login(door: Door) -> None:
    text = door.token("agent")["Authorization"].replace("aw_agent_", "aw_reviewer_")
    assert door.client.get("/v1/reviews", headers={"Authorization": text}).status_code == 401


def test_ids_of_another_org_are_as_unknown_as_any(door: Door) -> None:
    door.fleet.database.org("other")
    door.fleet.ingest(event("Ring +44 20 7946 0958 before a release of the search service.", org="other"))
    door.fleet.run()
    (run,), (memory,) = door.fleet.rows("SELECT id, event_key FROM runs"), door.fleet.rows("SELECT id FROM memories")
    for role, name, ids in [
        ("agent", "GET /v1/runs/{id}", [run["id"], run["event_key"]]), ("operator", "GET /v1/runs/{id}", [run["id"]]),
        ("reviewer", "GET /v1/runs/{id}", [run["id"]]), ("reviewer", "GET /v1/memories/{id}", [memory["id"]]),
        ("reviewer", "POST /v1/reviews/{memory}", [memory["id"]]),
    ]:  # fmt: skip
        unknown = _call(door, name, door.token(role))
        for id in ids:
            said = _call(door, name, door.token(role), str(id))
            assert (said.status_code, said.json()) == (404, unknown.json()), name
    assert _call(door, "GET /v1/reviews", door.token("reviewer")).json() == {"reviews": []}
    assert _call(door, "GET /v1/memories/{id}", door.token("reviewer", "other"), str(memory["id"])).status_code == 200


def test_an_agent_sees_no_run_of_another_agent(door: Door) -> None:
    door.fleet.ingest(event("The search service stores its documents in Postgres."))
    (run,) = door.fleet.rows("SELECT id FROM runs")
    for bearer, status in [({"agent": "coder"}, 200), ({"agent": "other"}, 404), ({"project": "p"}, 404),
                           ({"user": "u1"}, 200), ({"user": "u2"}, 404), ({}, 200)]:  # fmt: skip
        assert _call(door, "GET /v1/runs/{id}", door.token(**bearer), str(run["id"])).status_code == status


def test_a_reviewer_decides_on_record_and_once(door: Door) -> None:
    door.fleet.ingest(event("Ring +44 20 7946 0958 before a release of the search service."))
    door.fleet.run()
    reviewer = door.token("reviewer")
    (waiting,) = door.client.get("/v1/reviews", headers=reviewer).json()["reviews"]
    path = f"/v1/reviews/{waiting['memory_id']}"
    seen = door.client.get(f"/v1/memories/{waiting['memory_id']}", headers=reviewer).json()
    assert "+44 20 7946 0958" in seen["memory"]["content"]
    assert door.client.post(path, json={"verdict": "reject"}, headers=reviewer).status_code == 422
    body = {"verdict": "reject", "comment": "a number"}
    assert door.client.post(path, json=body, headers=reviewer).json()["done"] == "rejected"
    assert door.client.post(path, json=body, headers=reviewer).json()["done"] == "already_rejected"
    late = door.client.post(path, json={"verdict": "approve"}, headers=reviewer)
    assert (late.status_code, "already_decided" in late.json()["detail"]) == (409, True)
    history = door.client.get(f"/v1/memories/{waiting['memory_id']}", headers=reviewer).json()["history"]
    assert "reviewer-1" in {entry["actor"] for entry in history}


def test_a_validator_is_told_why_it_gets_nothing(door: Door) -> None:
    door.fleet.ingest(event("The search service stores its documents in Postgres."))
    door.fleet.run()
    said = door.client.post(
        "/v1/recall", json={"query": "documents"}, headers=door.token(agent_role="validator")
    ).json()
    assert (said["hits"], said["access"]) == ([], [])
    assert "a validator judges" in said["nothing_because"]


def test_requests_are_framed(open_door: Callable[..., Door]) -> None:
    door = open_door(body_bytes=1000)
    agent = door.token()
    large = door.client.post("/v1/recall", json={"query": "x" * 2000}, headers=agent)
    chunked = door.client.post(
        "/v1/recall", content=iter([b"x" * 600] * 3), headers=agent | {"Content-Type": "application/json"}
    )
    assert (large.status_code, chunked.status_code) == (413, 413)
    form = door.client.post("/v1/recall", content=b"query=x", headers=agent | {"Content-Type": "text/plain"})
    assert form.status_code == 415
    for said in (large, form, door.client.get("/nowhere"), door.client.get("/healthz")):
        assert said.headers["x-content-type-options"] == "nosniff"
        assert said.headers["x-request-id"]
        assert "access-control-allow-origin" not in said.headers
    assert door.client.get("/healthz", headers={"X-Request-ID": "mine-12345"}).headers["x-request-id"] == "mine-12345"
    assert door.client.get("/nowhere").json()["status"] == 404


def test_a_token_has_a_rate_of_its_own(open_door: Callable[..., Door]) -> None:
    door = open_door(requests_a_minute=3)
    first, second = door.token(), door.token()
    statuses = [door.client.post("/v1/recall", json={"query": "x"}, headers=first).status_code for _ in range(8)]
    assert 429 in statuses
    refused = door.client.post("/v1/recall", json={"query": "x"}, headers=first)
    if refused.status_code == 429:  # unless the minute just turned
        assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert door.client.post("/v1/recall", json={"query": "x"}, headers=second).status_code == 200


def test_a_spent_pool_is_503_and_recovers(open_door: Callable[..., Door]) -> None:
    door = open_door(pool_size=2, pool_wait_seconds=0.2)
    agent = door.token()
    with ExitStack() as held:
        for _ in range(2):
            held.enter_context(door.app.state.gate.doors.bare("agent"))
        said = door.client.post("/v1/recall", json={"query": "x"}, headers=agent)
        assert (said.status_code, said.headers["retry-after"]) == (503, "1")
        assert door.client.get("/v1/reviews", headers=door.token("reviewer")).status_code == 200
    assert door.client.post("/v1/recall", json={"query": "x"}, headers=agent).status_code == 200
