"""The passes against a real endpoint that answers by script: they propose, drop on record, and never decide."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from db import passes as store
from db.connect import Connection
from db.events import Org
from pipeline.extraction.adapters.endpoint import Endpoint
from pipeline.memory import Scope, ScopeKind, Tier
from pipeline.passes.adapters.model import ModelAdviser
from pipeline.passes.material import PassName
from pipeline.provenance import EndpointClass
from tests.doubles.model_server import Answer, Failure, Garbage, ModelServer, Reply
from tests.fleet import Fleet, event
from tests.integration.db import rows
from tests.integration.workers.scripted import Echo
from tests.integration.workers.test_consolidation import today
from tests.integration.workers.test_verdicts import Rita
from workers import passes

pytest.importorskip("openai", reason="the extra `openai` is not installed")

DRIFTED = [f"{start} the {what} before {end}." for start in ("Check", "Always check", "Do check")
           for what in ("totals", "dates", "names", "links", "units") for end in
           ("a release", "the release", "any release", "releasing")]  # fmt: skip
WORKFLOW = Scope(ScopeKind.WORKFLOW, "code-review")


@contextmanager
def asking(fleet: Fleet, script: Sequence[Any]) -> Iterator[ModelServer]:
    with ModelServer(script) as server:
        endpoint = Endpoint(base_url=server.base_url, model="m", endpoint_class=EndpointClass.LOCAL, deadline_seconds=5)
        fleet.install(extractor=Echo(), adviser=ModelAdviser(endpoint))
        yield server


def wanting(fleet: Fleet, *what: str, **more: Any) -> Org:
    return fleet.database.org("acme", consolidation=list(what), **more)


def rule(conn: Connection, org: Org, text: str, **more: Any) -> Any:
    return rows.insert_memory(conn, org, text, kind="rule", tier=Tier.PROCEDURAL, **more)


def ask(fleet: Fleet, org: Org, name: PassName) -> passes.Ran | None:
    with fleet.using.pool.connection() as conn:
        turn = store.claim(conn, org=org.id, name=name)
    assert turn is not None
    return passes.step(fleet.using.pool, fleet.using.adviser, turn)


PROPOSED = """
  SELECT id, content, status, namespace, hold_reasons, cardinality(replaces) AS replaces, author_kind FROM memories
  WHERE run_id IN (SELECT id FROM runs WHERE kind = 'proposal') ORDER BY id"""
DROPPED = """
  SELECT l.detail ->> 'reason' AS reason, p.content ->> 'text' AS text FROM ledger l
  JOIN payloads p ON p.entry_id = l.id WHERE l.action = 'proposal_dropped' ORDER BY l.id"""
ASKED = """
  SELECT m.content, cardinality(m.replaces) AS n FROM reviews r JOIN memories m ON m.id = r.memory_id
  WHERE r.kind = 'retire'"""


def proposed(fleet: Fleet) -> list[dict[str, Any]]:
    return fleet.rows(PROPOSED)


def dropped(fleet: Fleet) -> list[tuple[str, str]]:
    return [(row["reason"], row["text"]) for row in fleet.rows(DROPPED)]


@pytest.fixture
def sixty(fleet: Fleet) -> Org:
    """Sixty rules of one namespace that have drifted."""
    org = wanting(fleet, "compaction")
    with fleet.database.as_role("worker") as conn:
        for text in DRIFTED:
            rule(conn, org, text)
    assert len(DRIFTED) == 60
    return org


def test_sixty_rules_are_compacted_by_what_a_person_approves(fleet: Fleet, sixty: Org) -> None:
    merges = [{"keys": [f"r{n}" for n in range(1, 5)], "text": "Check the totals before a release, once."},
              {"keys": ["r5"], "text": "Alone."}, {"keys": ["r900", "r901"], "text": "Of nothing."}]  # fmt: skip
    with asking(fleet, [Answer(json.dumps({"merges": merges}))]) as server:
        ran = ask(fleet, sixty, PassName.COMPACTION)
        assert ran is not None
        assert (ran.pieces, ran.answer, len(ran.proposed), ran.dropped) == (60, "read", 1, ["too_few", "unknown_key"])
        asked = server.requests[0]["messages"][1]["content"].splitlines()
        assert len(asked) == 60
        fleet.run()
        (made,) = proposed(fleet)
        assert (made["status"], made["replaces"], made["author_kind"]) == ("pending", 4, "system")
        assert set(made["hold_reasons"]) == {"rule", "retires_active"}
        assert dropped(fleet) == [("too_few", "Alone."), ("unknown_key", "Of nothing.")]
        assert ask(fleet, sixty, PassName.COMPACTION) is None  # what waits there is decided first
    Rita(fleet, sixty).approve(made["id"])
    states = fleet.rows("SELECT status, count(*) AS n FROM memories WHERE kind = 'rule' GROUP BY 1 ORDER BY 1")
    assert [tuple(row.values()) for row in states] == [("active", 57), ("superseded", 4)]
    (call,) = fleet.rows("SELECT purpose, outcome, prompt_revision FROM model_calls")
    assert (call["purpose"], call["outcome"], call["prompt_revision"][:11]) == ("compaction", "answered", "compaction@")


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ([Answer("Certainly! I merged all of them.")], "unreadable"),
        ([Answer(None)], "unreadable"),
        ([Answer('{"merges": []}')], "read"),
        ([Answer('{"merges": [{"keys": ["r1", "r2"], "text": "x", "status": "active"}]}')], "unreadable"),
        ([Failure(500)], "unavailable"),
        ([Failure(401)], "unavailable"),
        ([Garbage()], "unavailable"),
    ],
)
def test_any_other_answer_proposes_nothing(fleet: Fleet, sixty: Org, script: list[Any], said: str) -> None:
    with asking(fleet, script):
        ran = ask(fleet, sixty, PassName.COMPACTION)
    assert ran is not None
    assert (ran.answer, ran.proposed, ran.dropped) == (said, [], [])
    assert proposed(fleet) == []
    (cursor,) = fleet.rows("SELECT after, ran_at IS NOT NULL AS ran FROM pass_cursors WHERE pass = 'compaction'")
    assert (cursor["after"] != store.START) is (said != "unavailable")  # without an answer it asks again


def test_an_approval_that_fails_removes_nothing(fleet: Fleet, sixty: Org) -> None:
    answer = {"merges": [{"keys": ["r1", "r2"], "text": "Call +44 20 7946 0958 before a release."}]}
    with asking(fleet, [Answer(json.dumps(answer))]):
        ask(fleet, sixty, PassName.COMPACTION)
        fleet.run()
    (made,) = proposed(fleet)
    with pytest.raises(Exception, match="subject_missing"):
        Rita(fleet, sixty).approve(made["id"])
    assert fleet.rows("SELECT count(*) AS n FROM memories WHERE status = 'active'") == [{"n": 60}]


def test_two_hundred_outcomes_are_mined_in_batches_of_forty(fleet: Fleet) -> None:
    org = wanting(fleet, "mining")
    with rows.as_admin(fleet.database) as conn:
        for number in range(200):
            conn.execute(
                "INSERT INTO outcomes (org_id, kind, score, comment, actor, expires_at)"
                " VALUES (%s, 'rating', 0.1, %s, 'a', now() + interval '1 day')", (org.id, f"asked twice, {number}"),
            )  # fmt: skip
    said = {"rules": [{"text": "Ask for the order number once.", "from": ["o1", "o2", "o40"], "namespace": "default"},
                      {"text": "Sell more.", "from": ["o1", "o2", "o3"], "namespace": "sales"},
                      {"text": "Guess.", "from": ["o1", "o2"], "namespace": "default"}]}  # fmt: skip
    script = [Answer(json.dumps(said)), Answer("oops"), Answer('{"rules": []}'), Answer(json.dumps(said))]
    with asking(fleet, script) as server:
        ran = [ask(fleet, org, PassName.MINING) for _ in range(6)]
        fleet.run()
        assert [len(r["messages"][1]["content"].splitlines()) for r in server.requests] == [41] * 5
    assert [one and one.answer for one in ran] == ["read", "unreadable", "read", "read", "read", None]
    (made,) = [row for row in proposed(fleet) if row["status"] == "pending"]
    assert (made["content"], made["namespace"], made["hold_reasons"]) == (
        "Ask for the order number once.", "default", ["rule"],
    )  # fmt: skip
    (kept,) = fleet.rows("SELECT occurrences AS n FROM memories WHERE id = %s", made["id"])
    assert kept["n"] == 3  # three batches say it: one question to a person
    assert [reason for reason, _ in dropped(fleet)] == ["no_namespace", "too_few"] * 3
    assert ask(fleet, org, PassName.MINING) is None


def test_fewer_than_three_outcomes_are_not_asked_about(fleet: Fleet) -> None:
    org = wanting(fleet, "mining")
    with rows.as_admin(fleet.database) as conn:
        for _ in range(2):
            conn.execute("INSERT INTO outcomes (org_id, kind, score, actor, expires_at)"
                         " VALUES (%s, 'rating', 0, 'a', now() + interval '1 day')", (org.id,))  # fmt: skip
    with asking(fleet, [Answer("x")]) as server:
        assert ask(fleet, org, PassName.MINING) is None
    assert server.requests == []


def test_eight_rules_of_a_workflow_are_amended_one_at_a_time(fleet: Fleet) -> None:
    org = wanting(fleet, "amendment")
    with fleet.database.as_role("worker") as conn:
        for number in range(8):
            rule(conn, org, f"Look at point {number} of the list.", scope=WORKFLOW)
        for number in range(4):  # one too few
            rule(conn, org, f"Point {number} of another list.", scope=Scope(ScopeKind.WORKFLOW, "other"))
    said = {"amendments": [{"key": "r3", "text": "Look at point 2 first."}, {"key": "r9", "text": "Look away."}]}
    with asking(fleet, [Answer(json.dumps(said))]) as server:
        ran = ask(fleet, org, PassName.AMENDMENT)
        assert ran is not None
        assert (ran.pieces, len(ran.proposed), ran.dropped) == (8, 1, ["unknown_key"])
        fleet.run()
        assert ask(fleet, org, PassName.AMENDMENT) is None  # one waits
        assert len(server.requests) == 1
    (made,) = proposed(fleet)
    Rita(fleet, org).approve(made["id"])
    active = fleet.rows("SELECT content FROM memories WHERE status = 'active' AND scope_value = 'code-review'")
    assert len(active) == 8
    assert {"content": "Look at point 2 first."} in active
    assert {"content": "Look at point 2 of the list."} not in active


def test_what_is_off_is_never_asked_and_housekeeping_finds_what_is_on(fleet: Fleet, sixty: Org) -> None:
    fleet.database.org("plain")
    with asking(fleet, [Answer('{"merges": []}')]) as server:
        with fleet.using.pool.connection() as conn:
            assert store.any_due(conn)
        passes.drain()
        with fleet.using.pool.connection() as conn:
            assert not store.any_due(conn)
            assert store.claim(conn) is None
    assert len(server.requests) == 1
    assert fleet.rows("SELECT DISTINCT org_id FROM pass_cursors") == [{"org_id": sixty.id}]


def test_a_worker_that_lost_its_lease_records_nothing(fleet: Fleet, sixty: Org) -> None:
    answer = Answer(json.dumps({"merges": [{"keys": ["r1", "r2"], "text": "Both."}]}))
    with asking(fleet, [answer]):
        with fleet.using.pool.connection() as conn:
            turn = store.claim(conn, org=sixty.id, name=PassName.COMPACTION)
        assert turn is not None
        fleet.rows("UPDATE pass_cursors SET due_at = now() + interval '1 minute' RETURNING org_id")
        ran = passes.step(fleet.using.pool, fleet.using.adviser, turn)
    assert ran is not None
    assert (ran.answer, ran.proposed) == ("lease_lost", [])
    assert proposed(fleet) == []


@pytest.mark.parametrize("settings", [{"budget_tokens_a_day": 10}, {"endpoint_classes": ["private"]}])
def test_what_the_org_does_not_pay_for_or_admit_is_not_asked(fleet: Fleet, settings: dict[str, Any]) -> None:
    org = wanting(fleet, "compaction", **settings)
    with fleet.database.as_role("worker") as conn:
        for text in DRIFTED[:4]:
            rule(conn, org, text)
    with asking(fleet, [Answer('{"merges": []}')]) as server:
        ran = ask(fleet, org, PassName.COMPACTION)
    assert ran is not None
    assert (ran.answer, server.requests) == ("not_admitted", [])


# --- Where contribute abstains.

OLD, NEW = "Search stores its data in Postgres for now.", "Search keeps its data in MySQL for now."


@pytest.mark.parametrize(
    ("answer", "asked"),
    [
        ('{"decision": "update", "of": "m1"}', [(NEW, 1)]),
        ('{"decision": "noop", "of": "m1"}', [(OLD, 1)]),
        ('{"decision": "add"}', []),
        ("I think it is an update.", []),
    ],
)
def test_a_doubt_becomes_a_question_to_a_person_at_most(fleet: Fleet, answer: str, asked: list[Any]) -> None:
    wanting(fleet, "model")
    with asking(fleet, [Answer(answer)]) as server:
        today(fleet, OLD, NEW)
    assert len(server.requests) == 1
    found = fleet.rows(ASKED)
    assert [tuple(row.values()) for row in found] == asked
    assert fleet.rows("SELECT count(*) AS n FROM memories WHERE status = 'active'") == [{"n": 2}]
    (call,) = fleet.rows("SELECT purpose, outcome FROM model_calls")
    assert tuple(call.values()) == ("contribute", "answered")


def test_nobody_is_asked_where_the_rules_decide_or_the_org_does_not_want_it(fleet: Fleet) -> None:
    wanting(fleet, "model")
    fleet.database.org("plain")
    with asking(fleet, [Reply(lambda _: "x")]) as server:
        today(fleet, "The API uses Postgres", "The API moved to MySQL", "The API moved to MySQL.")
        today(fleet, OLD, NEW, org="plain")
        fleet.ingest(event(OLD, session="old"), event(NEW, session="older"))
        fleet.run()
    assert server.requests == []
