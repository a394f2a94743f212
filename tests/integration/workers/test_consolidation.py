"""Consolidation: a repeat is counted once, what would retire an active memory is proposed, and orgs never meet."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from uuid_utils.compat import uuid7

from db import embedding, orgs, runs, tokens
from db.connect import DatabaseError, granted
from db.recall import Question, recall
from pipeline.candidate import Kind
from pipeline.embedding.calibration import Calibration
from pipeline.embedding.port import Embedder, Vectors
from pipeline.states import RunState
from tests.fleet import Fleet, WordVectors, event
from tests.integration.db.rows import as_admin
from tests.integration.workers.scripted import Echo, Unsupported
from tests.integration.workers.test_verdicts import Rita
from workers.consolidation import Consolidation

FACT = "The search service stores its documents in Postgres."
OLD = "The request timeout of the gateway is 30 seconds."
NEW = "The request timeout of the gateway is 60 seconds."


def learned(fleet: Fleet, said: str, session: str, day: int = 1, **more: Any) -> None:
    at = f"2026-05-{day:02}T10:00:00+00:00"
    turn = {"role": "user", "text": said, "trust": "user", "at": at}
    assert fleet.ingest(event(session=session, transcript={"turns": [turn]}, ended_at=at, **more)) == []


def memories(fleet: Fleet) -> list[tuple[Any, ...]]:
    rows = fleet.rows("SELECT content, status, occurrences FROM memories ORDER BY id")
    return [tuple(row.values()) for row in rows]


@pytest.fixture(params=[WordVectors, lambda: None], ids=["vectors", "no vectors"])
def embedder(request: pytest.FixtureRequest, fleet: Fleet) -> Embedder | None:
    fleet.install(extractor=Echo(), embedder=request.param)
    fleet.database.org("acme")
    return None


@pytest.mark.usefixtures("embedder")
@pytest.mark.parametrize(
    "again",
    [FACT, FACT.upper(), "The search service stores its document in Postgres."],
    ids=["exact", "case", "near"],
)
def test_a_repeat_is_counted_where_it_was_said_first(fleet: Fleet, again: str) -> None:
    for number, said in enumerate([FACT, again, "The archive is kept on tape in the basement."]):
        learned(fleet, said, f"s{number}")
        fleet.run()
    assert memories(fleet) == [
        (FACT, "active", 2), (again, "superseded", 1), ("The archive is kept on tape in the basement.", "active", 1),
    ]  # fmt: skip
    assert len(fleet.rows("SELECT memory_id FROM occurrences")) == 1


@pytest.mark.usefixtures("embedder")
def test_repeats_of_one_batch_are_counted_for_the_first(fleet: Fleet) -> None:
    for number in range(4):
        learned(fleet, FACT, f"s{number}")
    fleet.run()
    assert sorted(memories(fleet)) == [(FACT, "active", 4), *[(FACT, "superseded", 1)] * 3]


def test_a_batch_that_is_written_again_counts_nothing_twice(fleet: Fleet) -> None:
    fleet.install(extractor=Echo())
    fleet.database.org("acme")
    learned(fleet, FACT, "a")
    learned(fleet, FACT, "b")
    fleet.run("extraction", "redaction", "embedding")
    with fleet.using.pool.connection() as conn:
        claimed = runs.claim(conn, RunState.EMBEDDED, uuid7(), batch=9, lease_seconds=60)
        done = [(run, out.output) for group in Consolidation().work(fleet.using, claimed) for run, out in group]  # type: ignore[union-attr]
        for _ in range(3):
            with conn.transaction():
                Consolidation().write(conn, done)
    assert sorted(memories(fleet)) == [(FACT, "active", 2), (FACT, "superseded", 1)]


@pytest.mark.usefixtures("embedder")
@pytest.mark.parametrize(
    ("decide", "left"), [(Rita.approve, [(NEW, "active")]), (Rita.reject, [(OLD, "active"), (NEW, "active")])]
)
def test_what_would_retire_an_active_memory_is_decided_by_a_person(fleet: Fleet, decide: Any, left: Any) -> None:
    with fleet.database.as_role("operator") as conn:
        rita = Rita(fleet, orgs.get(conn, "acme"))
    for day, said in enumerate([OLD, NEW], 1):
        learned(fleet, said, f"s{day}", day)
        fleet.run()
    assert [row[:2] for row in memories(fleet)] == [(OLD, "active"), (NEW, "active")]
    reviews = fleet.rows("SELECT memory_id, kind, reasons FROM reviews WHERE closed_at IS NULL")
    assert [(row["kind"], row["reasons"]) for row in reviews] == [("retire", ["retires_active"])]
    decide(rita, reviews[0]["memory_id"])
    assert [row[:2] for row in memories(fleet) if row[1] == "active"] == left
    assert fleet.rows("SELECT id FROM reviews WHERE closed_at IS NULL") == []


def test_what_arrives_late_is_asked_about_and_keeps_its_time(fleet: Fleet) -> None:
    fleet.install(extractor=Echo())
    with fleet.database.as_role("operator") as conn:
        rita = Rita(fleet, fleet.database.org("acme"))
    for day, said in ((9, NEW), (1, OLD)):
        learned(fleet, said, f"s{day}", day)
        fleet.run()
    (review,) = fleet.rows("SELECT r.kind, m.id, m.content FROM reviews r JOIN memories m ON m.id = r.memory_id")
    assert (review["kind"], review["content"]) == ("retire", NEW)
    rita.approve(review["id"])
    found = fleet.rows("SELECT content, status, valid_from::date::text AS since, valid_to::date::text AS until "
                       "FROM memories ORDER BY valid_from")  # fmt: skip
    assert [tuple(row.values()) for row in found] == [
        (OLD, "superseded", "2026-05-01", "2026-05-09"), (NEW, "active", "2026-05-09", None),
    ]  # fmt: skip
    with fleet.database.as_role("operator") as conn:
        bearer = tokens.Bearer("agent", "a-1", tiers=("semantic",))
        token = tokens.mint(conn, orgs.get(conn, "acme").id, bearer, lives_seconds=600)
    with fleet.database.as_role("agent") as conn, granted(conn, token):
        asked = [Question("gateway timeout", as_of=datetime(2026, 5, day, 12, tzinfo=UTC)) for day in (2, 10)]
        believed = [[hit.content for hit in recall(conn, question).hits] for question in asked]
    assert believed == [[OLD], [NEW]]


def test_a_repeat_was_so_since_it_was_first_said_and_is_as_fresh_as_its_last(fleet: Fleet) -> None:
    fleet.install(extractor=Echo())
    fleet.database.org("acme")
    for day in (5, 2, 9):
        learned(fleet, FACT, f"s{day}", day)
        fleet.run()
    (kept,) = fleet.rows("SELECT occurrences AS n, valid_from::date::text AS since, observed_at::date::text AS seen "
                         "FROM memories WHERE status = 'active'")  # fmt: skip
    assert kept == {"n": 3, "since": "2026-05-02", "seen": "2026-05-09"}


def test_what_two_runs_of_a_batch_would_replace_is_one_question(fleet: Fleet) -> None:
    fleet.install(extractor=Echo())
    fleet.database.org("acme")
    learned(fleet, NEW, "s9", 9)
    fleet.run()
    for day, value in ((1, 30), (2, 45)):
        learned(fleet, OLD.replace("30", str(value)), f"s{day}", day)
    fleet.run()
    (review,) = fleet.rows("SELECT m.content, m.replaces FROM reviews r JOIN memories m ON m.id = r.memory_id")
    assert (review["content"], len(review["replaces"])) == (NEW, 2)


def test_forty_orgs_that_say_the_same_do_not_see_each_other(fleet: Fleet) -> None:
    fleet.install(extractor=Echo())
    for number in range(40):
        fleet.database.org(f"org-{number}")
    for _ in range(2):
        for number in range(40):
            learned(fleet, FACT, f"s{_}", org=f"org-{number}")
        fleet.run()
    rows = fleet.rows("SELECT org_id, count(*) FILTER (WHERE status = 'active') AS active, max(occurrences) AS n "
                      "FROM memories GROUP BY org_id")  # fmt: skip
    assert len(rows) == 40
    assert {(row["active"], row["n"]) for row in rows} == {(1, 2)}
    crossed = fleet.rows("SELECT FROM occurrences o JOIN memories a ON a.id = o.memory_id JOIN memories b "
                         "ON b.id = o.repeat_id WHERE a.org_id <> b.org_id OR o.org_id <> a.org_id")  # fmt: skip
    assert crossed == []


# --- What waits.

RULE = "Always run the integration tests before a release."


def standing(fleet: Fleet) -> list[tuple[str, int]]:
    found = fleet.rows("SELECT status, occurrences FROM memories ORDER BY created_at, id")
    return [(row["status"], row["occurrences"]) for row in found]


@pytest.mark.parametrize("again", [RULE, RULE.upper(), "Always run the integration test before the release!"])
def test_what_waits_is_asked_once_however_often_it_is_said(fleet: Fleet, again: str) -> None:
    fleet.install(extractor=Echo(Kind.RULE))
    fleet.database.org("acme")
    for number, text in enumerate([RULE, again, again]):
        learned(fleet, text, f"s{number}")
        fleet.run()
    assert standing(fleet) == [("pending", 3), ("superseded", 1), ("superseded", 1)]
    assert len(fleet.rows("SELECT id FROM reviews WHERE closed_at IS NULL")) == 1


def test_what_waits_together_is_one_question(fleet: Fleet) -> None:
    fleet.install(extractor=Echo(Kind.RULE))
    fleet.database.org("acme")
    for number in range(3):
        learned(fleet, RULE, f"s{number}")
    fleet.run()
    assert sorted(standing(fleet)) == [("pending", 3), ("superseded", 1), ("superseded", 1)]


def test_an_approved_rule_is_not_asked_about_again(fleet: Fleet) -> None:
    fleet.install(extractor=Echo(Kind.RULE))
    fleet.database.org("acme")
    with fleet.database.as_role("operator") as conn:
        rita = Rita(fleet, orgs.get(conn, "acme"))
    learned(fleet, RULE, "a")
    fleet.run()
    (memory,) = fleet.rows("SELECT id FROM memories")
    rita.approve(memory["id"])
    fleet.run()
    learned(fleet, RULE, "b")
    fleet.run()
    assert standing(fleet) == [("active", 2), ("superseded", 1)]


def test_what_is_held_for_more_is_a_question_of_its_own(fleet: Fleet) -> None:
    """The first waits as a rule; the second as a rule that nothing in the session bears out."""
    fleet.database.org("acme")
    for session, extractor in (("a", Echo(Kind.RULE)), ("b", Unsupported(Kind.RULE))):
        fleet.install(extractor=extractor)
        learned(fleet, RULE, session)
        fleet.run()
    assert [status for status, _ in standing(fleet)] == ["pending", "pending"]


def test_an_approval_of_what_was_let_in_meanwhile_counts_for_it(fleet: Fleet) -> None:
    fleet.database.org("acme")
    with fleet.database.as_role("operator") as conn:
        rita = Rita(fleet, orgs.get(conn, "acme"))
    for session, extractor in (("a", Unsupported()), ("b", Echo())):
        fleet.install(extractor=extractor)
        fleet.ingest(event(FACT, session=session, user=None))
        fleet.run()
    (waits,) = fleet.rows("SELECT id FROM memories WHERE status = 'pending'")
    rita.approve(waits["id"])
    fleet.run()
    assert standing(fleet) == [("superseded", 1), ("active", 2)]


# --- Near duplicates.

SENT = "Bills are sent to the customer by post in March"
AGAIN = "Bills are posted to the customer in March by mail"


class Near(WordVectors):
    """Whatever is said, the same vector: near is what the guard lets through."""

    def _vector(self, text: str) -> Vectors:
        return super()._vector("one")


@pytest.fixture
def near(fleet: Fleet) -> Fleet:
    fleet.install(extractor=Echo(), embedder=Near)
    with fleet.database.as_role("worker") as conn:
        side = Calibration("passage", "installation", 10_000, 1, 0.5, 0.6, 0.7, 0.8, 0.5, 0.1)
        embedding.calibrate(conn, 1, [side], actor="test")
    fleet.database.org("acme", consolidation=["near_duplicates"])
    return fleet


def today(fleet: Fleet, *texts: str, **more: Any) -> None:
    """Each said a moment ago, in a session of its own."""
    for text in texts:
        at = datetime.now(UTC).isoformat()
        turn = {"role": "user", "text": text, "trust": "user", "at": at}
        fleet.ingest(event(session=f"s-{uuid7()}", transcript={"turns": [turn]}, ended_at=at, **more))
        fleet.run()


def test_a_near_duplicate_is_counted_with_its_pair_and_can_be_taken_back(near: Fleet) -> None:
    with near.database.as_role("operator") as conn:
        rita = Rita(near, orgs.get(conn, "acme"))
    today(near, SENT, AGAIN)
    assert memories(near) == [(SENT, "active", 2), (AGAIN, "superseded", 1)]
    (pair,) = near.rows("SELECT repeat_id, similarity, score FROM occurrences")
    assert (pair["similarity"], round(pair["score"], 3)) == ("cosine", 1.0)
    runs_opened = {rita.restore(pair["repeat_id"]) for _ in range(2)}
    near.run()
    assert len(runs_opened) == 1
    assert memories(near) == [(SENT, "active", 1), (AGAIN, "superseded", 1), (AGAIN, "active", 1)]
    assert near.rows("SELECT undone_by FROM occurrences") == [{"undone_by": "rita"}]


@pytest.mark.parametrize("why", ["off", "backfill", "uncalibrated", "another name"])
def test_near_duplicates_stand_where_they_must(near: Fleet, why: str) -> None:
    org, said = "acme", AGAIN
    if why == "off":
        org = near.database.org("plain").name
    elif why == "uncalibrated":  # the spread of a stamp before this one says nothing
        with as_admin(near.database) as conn:
            conn.execute("TRUNCATE calibrations")
    elif why == "another name":
        said = AGAIN.replace("customer", "tenant of Acme")
    if why == "backfill":
        for day, text in enumerate((SENT, AGAIN), 1):
            learned(near, text, f"s{day}", day)
            near.run()
    else:
        today(near, SENT, said, org=org)
    assert [row[1] for row in memories(near)] == ["active", "active"]


def test_near_duplicates_are_refused_before_calibration(fleet: Fleet) -> None:
    with pytest.raises(DatabaseError, match="need a calibrated stamp"):
        fleet.database.org("acme", consolidation=["near_duplicates"])
