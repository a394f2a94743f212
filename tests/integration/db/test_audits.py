"""A sample of what the gate lets in is opened for a person in the same transaction; a bad answer demands an act."""

from __future__ import annotations

import threading
from typing import Any
from uuid import UUID

import pytest

from db import housekeeping, reviews, samples
from db.connect import Connection
from db.events import Org
from db.redaction import NewMemory, insert_memories
from db.reviews import Placement, VerdictRefused
from pipeline.extraction.stamp import rules_revision
from pipeline.memory import HoldReason, Scope, ScopeKind, Tier
from tests.integration.db import rows
from tests.integration.db.rows import uuid7
from tests.services import Database

BY = {"provider": "echo", "model": "none", "prompt_revision": "p@1", "rules_revision": rules_revision()}


@pytest.fixture
def org(shared: Database) -> Org:
    return rows.fresh_org(shared)


def audited(conn: Connection, org: Org, text: str = "we ship on Friday", **changes: Any) -> UUID:
    changes = {"provenance": BY} | changes
    return rows.insert_memory(conn, org, text, id=rows.new_id(in_sample=True), **changes)


@pytest.fixture
def memory(shared: Database, org: Org) -> UUID:
    with shared.as_role("worker") as conn:
        return audited(conn, org)


def _reviews(database: Database, memory: UUID) -> list[tuple[str, str | None]]:
    with database.as_role("worker") as conn:
        found = conn.execute(
            "SELECT kind, decision FROM reviews WHERE memory_id = %s ORDER BY opened_at, id", (memory,)
        )
        return [(row["kind"], row["decision"]) for row in found]


def _status(database: Database, memory: UUID) -> str:
    with database.as_role("worker") as conn:
        return rows.status(conn, memory)


def approve(conn: Connection, memory: UUID) -> object:
    return reviews.approve(conn, memory, comment=None, placement=Placement())


def reject(conn: Connection, memory: UUID) -> object:
    return reviews.reject(conn, memory, comment="it is Monday")


def forget(conn: Connection, memory: UUID) -> object:
    return reviews.forget(conn, memory, comment="it is Monday")


def test_a_tenth_of_what_is_let_in_is_audited_whatever_the_worker_says(shared: Database, org: Org) -> None:
    with shared.as_role("worker") as conn:
        run = rows.insert_run(conn, org)
        drafts = [rows.draft(org, run, f"fact {n}", id=uuid7(), provenance=BY) for n in range(400)]
        insert_memories(conn, [NewMemory(draft, None, "redaction") for draft in drafts])
        found = conn.execute("SELECT memory_id FROM reviews WHERE org_id = %s AND kind = 'audit'", (org.id,))
        opened = {row["memory_id"] for row in found}
        entries = conn.execute(
            "SELECT subject_id FROM ledger WHERE org_id = %s AND action = 'review_opened'", (org.id,)
        )
        ledgered = {UUID(row["subject_id"]) for row in entries}
    assert opened == ledgered == {draft.id for draft in drafts if rows.sampled(draft.id)}
    assert opened


def test_a_hundredth_of_turns_is_audited(shared: Database, org: Org) -> None:
    def turns(conn: Connection, in_sample: int) -> list[UUID]:
        ids = (id for id in iter(uuid7, None) if rows.sampled(id, 1_000) and rows.sampled(id, 100) == bool(in_sample))
        drafts = [rows.draft(org, run, f"turn {in_sample} {n}", id=next(ids), kind="turn", tier=Tier.EPISODIC,
                             scope=Scope(ScopeKind.AGENT, "coder")) for n in range(3)]  # fmt: skip
        insert_memories(conn, [NewMemory(draft, None, "redaction") for draft in drafts])
        return [draft.id for draft in drafts]

    with shared.as_role("worker") as conn:
        run = rows.insert_run(conn, org)
        turns(conn, False)
        wanted = turns(conn, True)
        found = conn.execute("SELECT memory_id FROM reviews WHERE org_id = %s AND kind = 'audit'", (org.id,))
        assert {row["memory_id"] for row in found} == set(wanted)


def test_what_a_person_decided_or_wrote_is_not_audited(shared: Database, org: Org) -> None:
    with shared.as_role("worker") as conn:
        held = audited(conn, org, "held", hold_reasons=(HoldReason.UNDATED,))
        own = audited(conn, org, "corrected", provenance={"provider": "person"})
    with rows.door(shared, rows.token(shared, org)) as conn:
        approve(conn, held)
    assert _reviews(shared, held) == [("hold", "approve")]
    assert _reviews(shared, own) == []


def test_an_eraser_that_lost_its_reach_is_seen(database: Database) -> None:
    with rows.as_admin(database) as admin:
        admin.execute("REVOKE UPDATE ON afterword.drops FROM afterword_eraser")
    with database.as_role("worker") as conn:
        assert not samples.record(conn, "echo/none", 0.5, "p@1").erasable


def test_what_an_org_lets_in_with_a_class_is_audited_too(shared: Database, org: Org) -> None:
    with shared.as_role("worker") as conn:
        memory = audited(conn, org, "call 912 345 678", classes=("phone",), subject=rows.about("ana"))
    assert _reviews(shared, memory) == [("audit", None)]


def test_a_sample_is_opened_with_what_it_looks_at_or_not_at_all(shared: Database, org: Org) -> None:
    """Seen by another connection: neither before the commit, both after it, and neither after a rollback."""
    with shared.as_role("worker") as conn, shared.as_role("worker") as other:
        run = rows.insert_run(conn, org)

        def seen() -> list[dict[str, Any]]:
            return other.execute("SELECT (SELECT count(*) FROM memories WHERE run_id = %(run)s) AS memories,"
                                 " (SELECT count(*) FROM reviews r JOIN memories m ON m.id = r.memory_id"
                                 "  WHERE m.run_id = %(run)s) AS reviews", {"run": run}).fetchall()  # fmt: skip

        with conn.transaction(force_rollback=True):
            audited(conn, org, run=run)
        assert seen() == [{"memories": 0, "reviews": 0}]
        with conn.transaction():
            audited(conn, org, run=run)
            assert seen() == [{"memories": 0, "reviews": 0}]
        assert seen() == [{"memories": 1, "reviews": 1}]


def test_no_role_lets_in_unseen_or_removes_a_sample(shared: Database, memory: UUID) -> None:
    for login in ("worker", "operator", "reviewer", "agent"):
        for statement in ("ALTER TABLE memories DISABLE TRIGGER memories_sampled",
                          "SET session_replication_role = replica", f"DELETE FROM reviews WHERE memory_id = '{memory}'",
                          "CREATE OR REPLACE FUNCTION in_share(id uuid, basis_points integer) RETURNS boolean"
                          " LANGUAGE sql IMMUTABLE AS 'SELECT false'"):  # fmt: skip
            done = rows.psql(shared, login, statement)
            assert "permission denied" in done.stderr or "must be owner" in done.stderr, (login, statement)


def test_right_closes_it_and_moves_nothing(shared: Database, org: Org, memory: UUID) -> None:
    token = rows.token(shared, org)
    said = []
    for _ in range(2):
        with rows.door(shared, token) as conn:
            said.append(approve(conn, memory))
    assert said == ["audit_approved", "already_active"]
    assert _reviews(shared, memory) == [("audit", "approve")]
    assert _status(shared, memory) == "active"


def test_wrong_moves_nothing_and_leaves_the_question_open(shared: Database, org: Org, memory: UUID) -> None:
    token = rows.token(shared, org)
    said = []
    for _ in range(2):
        with rows.door(shared, token) as conn:
            said.append(reject(conn, memory))
    assert said == ["audit_rejected", "audit_already_rejected"]
    assert _reviews(shared, memory) == [("audit", "reject"), ("amend", None)]
    assert _status(shared, memory) == "active"
    with rows.door(shared, token) as conn:
        forget(conn, memory)
    assert _reviews(shared, memory) == [("audit", "reject"), ("amend", "forget")]
    assert _status(shared, memory) == "tombstoned"


def test_forgetting_answers_and_puts_right_in_one_act(shared: Database, org: Org, memory: UUID) -> None:
    with rows.door(shared, rows.token(shared, org)) as conn:
        forget(conn, memory)
    assert _reviews(shared, memory) == [("audit", "forget")]


def test_answers_are_counted_for_the_gauges(database: Database) -> None:
    org = database.org("acme")
    with database.as_role("worker") as conn:
        right, wrong, gone, _ = (audited(conn, org, f"fact {n}") for n in range(4))
    for memory, act in ((right, approve), (wrong, reject), (gone, forget)):
        with rows.door(database, rows.token(database, org)) as conn:
            act(conn, memory)
    with database.as_role("worker") as conn:
        seen = housekeeping.gauges(conn)
    assert seen.sample_answers == {("audit", "right"): 1, ("audit", "wrong"): 2}
    assert seen.open_reviews == {("audit", "day"): 1, ("amend", "day"): 1}


def test_a_second_person_may_find_it_right_after_all(shared: Database, org: Org, memory: UUID) -> None:
    for act in (reject, approve):
        with rows.door(shared, rows.token(shared, org)) as conn:
            act(conn, memory)
    assert _reviews(shared, memory) == [("audit", "reject"), ("amend", "approve")]


def test_keeping_both_leaves_the_audit_open(shared: Database, org: Org, memory: UUID) -> None:
    """The question whether it may take another's place is not the question whether it is right."""
    with shared.as_role("worker") as conn:
        conn.execute("INSERT INTO reviews (id, org_id, memory_id, kind, reasons)"
                     " VALUES (uuidv7(), %s, %s, 'retire', '{retires_active}')", (org.id, memory))  # fmt: skip
    with rows.door(shared, rows.token(shared, org)) as conn:
        assert reject(conn, memory) == "kept_both"
    assert sorted(_reviews(shared, memory)) == [("audit", None), ("retire", "reject")]


def test_an_active_memory_nobody_asks_about_is_not_rejected(shared: Database, org: Org) -> None:
    with shared.as_role("worker") as conn:
        memory = rows.insert_memory(conn, org, "we ship on Friday")
    with pytest.raises(VerdictRefused, match="already_decided"), rows.door(shared, rows.token(shared, org)) as conn:
        reject(conn, memory)


@pytest.mark.parametrize(
    ("first", "second"), [(approve, reject), (reject, approve), (reject, reject), (forget, reject)]
)
def test_two_reviewers_at_once_leave_one_answer(
    shared: Database, org: Org, memory: UUID, first: Any, second: Any
) -> None:
    said: list[object] = []
    token = rows.token(shared, org)

    def follow() -> None:
        try:
            with rows.door(shared, token) as conn:
                said.append(second(conn, memory))
        except VerdictRefused as error:
            said.append(str(error).partition(":")[0])

    with rows.door(shared, token) as conn:
        first(conn, memory)
        other = threading.Thread(target=follow)
        other.start()
        rows.wait_until_blocked(shared)
    other.join()
    assert [decision for kind, decision in _reviews(shared, memory) if kind == "audit"] == [
        {approve: "approve", reject: "reject", forget: "forget"}[first]
    ]
    answers = {(approve, reject): "already_decided", (reject, approve): "audit_approved",
               (reject, reject): "audit_already_rejected", (forget, reject): "already_decided"}  # fmt: skip
    assert said == [answers[first, second]]


# --- What the answers say.


def test_answers_are_counted_by_stamp_prompt_and_rules(shared: Database, org: Org) -> None:
    token = rows.token(shared, org)
    with shared.as_role("worker") as conn:
        memories = [audited(conn, org, f"fact {n}", confidence=0.1 * n) for n in range(5)]
        older = audited(conn, org, "older", provenance=BY | {"prompt_revision": "p@0"})
        held = rows.pending(conn, org, "held", provenance=BY, confidence=0.15)
        seen_first = rows.pending(conn, org, "typed anew", provenance=BY, confidence=0.95)
        conn.execute("UPDATE memories SET content = 'other', revision = 2 WHERE id = %s", (seen_first,))
    acts = [approve, approve, reject, forget, None, approve, reject, approve]
    for memory, act in zip([*memories, older, held, seen_first], acts, strict=True):
        if act is not None:
            with rows.door(shared, token) as conn:
                act(conn, memory)
    with shared.as_role("operator") as conn:
        found = samples.precision(conn, org=org.name, since=None)
        weeks = samples.trend(conn, org=org.name, since=None)
        tenths = samples.calibration(conn, org=org.name, since=None)
    assert [(row["prompt_revision"], row["right"], row["wrong"], row["open"]) for row in found] == [
        ("p@0", 1, 0, 0), ("p@1", 2, 2, 1)]  # fmt: skip
    assert [(row["stamp"], row["decided"], row["approved"], row["changed"], row["refused"]) for row in weeks] == [
        ("echo/none", 2, 0, 1, 1)]  # fmt: skip
    assert {row["tenth"]: (row["judged"], row["right"]) for row in tenths} == {
        0: (1, 1), 1: (2, 1), 2: (1, 0), 3: (1, 0), 9: (1, 0)}  # fmt: skip


def test_the_record_of_a_threshold_counts_today_s_prompt_and_rules_alone(shared: Database) -> None:
    org = rows.fresh_org(shared)
    by = BY | {"model": f"model-of-{org.id}"}
    token = rows.token(shared, org)
    with shared.as_role("worker") as conn:
        counted = [audited(conn, org, f"fact {n}", provenance=by, confidence=0.2 * n) for n in range(1, 5)]
        other = [audited(conn, org, f"other {key}", provenance=by | {key: "x"}, confidence=0.1)
                 for key in ("prompt_revision", "rules_revision", "provider")]  # fmt: skip
    for memory in (*counted, *other):
        with rows.door(shared, token) as conn:
            forget(conn, memory)
    with shared.as_role("worker") as conn:
        record = samples.record(conn, f"echo/{by['model']}", 0.5, "p@1")
        assert (record.verdicts, record.samples, record.right, record.waiting) == (4, 2, 2, 0)
        assert record.erasable
        for _ in range(2):
            samples.note_loaded(conn, [record], actor="redaction")
        loaded = conn.execute("SELECT detail ->> 'threshold' AS t FROM ledger WHERE subject_id = %s", (record.stamp,))
        assert loaded.fetchall() == [{"t": "0.5"}]
