"""A person's decisions: each once, by whoever is granted the memory, with what follows in the same transaction."""

from __future__ import annotations

import threading
from typing import Any
from uuid import UUID

import pytest
from psycopg import errors

from db import reviews, runs
from db.connect import Connection, granted
from db.reviews import Placement, VerdictRefused
from pipeline.states import RunState
from tests.integration.db import rows
from tests.integration.db.rows import uuid7
from tests.services import Database

PLAIN = Placement()


def _approve(conn: Connection, memory: UUID, placement: Placement = PLAIN) -> str:
    return reviews.approve(conn, memory, comment=None, placement=placement)


def _row(database: Database, memory: UUID) -> dict[str, Any]:
    with database.as_role("worker") as conn:
        row = conn.execute("SELECT * FROM memories WHERE id = %s", (memory,)).fetchone()
    assert row is not None
    return row


def _reviews(database: Database, memory: UUID) -> list[tuple[str, str | None]]:
    with database.as_role("worker") as conn:
        found = conn.execute(
            "SELECT kind, decision FROM reviews WHERE memory_id = %s ORDER BY opened_at, id", (memory,)
        )
        return [(row["kind"], row["decision"]) for row in found]


def _verdict_runs(database: Database, memory: UUID) -> list[tuple[str, str]]:
    with database.as_role("worker") as conn:
        found = conn.execute("SELECT state, reason FROM runs WHERE memory_id = %s ORDER BY created_at", (memory,))
        return [(row["state"], row["reason"]) for row in found]


def _held(database: Database, text: str = "we ship on Friday", **changes: Any) -> tuple[str, UUID]:
    """A reviewer's token and a pending memory of its org."""
    org = rows.fresh_org(database)
    with database.as_role("worker") as conn:
        memory = rows.pending(conn, org, text, **changes)
    return rows.token(database, org), memory


def test_an_approval_repeated_is_harmless_and_opens_one_run(shared: Database) -> None:
    token, memory = _held(shared)
    said = []
    for _ in range(3):
        with rows.door(shared, token) as conn:
            said.append(_approve(conn, memory))
    assert said == ["approved", "already_active", "already_active"]
    assert _row(shared, memory)["status"] == "active"
    assert _reviews(shared, memory) == [("hold", "approve")]
    assert _verdict_runs(shared, memory) == [("redacted", "approve")]


def test_repeating_an_approval_repairs_the_run_it_lost(shared: Database) -> None:
    """As if an older release had activated without opening the run."""
    token, memory = _held(shared)
    with shared.as_role("worker") as conn, conn.transaction():
        conn.execute("UPDATE reviews SET closed_at = now(), decision = 'approve', decided_by = 'x'"
                     " WHERE memory_id = %s",
                     (memory,))  # fmt: skip
        conn.execute("UPDATE memories SET status = 'active', review_id = NULL WHERE id = %s", (memory,))
    assert _verdict_runs(shared, memory) == []
    with rows.door(shared, token) as conn:
        assert _approve(conn, memory) == "already_active"
    assert _verdict_runs(shared, memory) == [("redacted", "approve")]


def test_a_senders_event_cannot_take_the_place_of_a_verdict(shared: Database) -> None:
    """An event named like the run an approval opens leaves the approval its run."""
    token, memory = _held(shared)
    with shared.as_role("worker") as conn:
        org = conn.execute("SELECT org_id FROM memories WHERE id = %s", (memory,)).fetchone()
        assert org is not None
        conn.execute(
            "INSERT INTO runs (id, org_id, kind, state, event_key, content_hash, session, agent, event, ended_at)"
            " VALUES (uuidv7(), %s, 'session', 'received', %s, '\\x00', 's', 'a', '{}', now())",
            (org["org_id"], f"verdict:{memory}:approve:1"),
        )
    with rows.door(shared, token) as conn:
        _approve(conn, memory)
    assert _verdict_runs(shared, memory) == [("redacted", "approve")]


@pytest.mark.parametrize("comment", ["", "  ", "\n\t"])
def test_a_rejection_needs_a_reason(shared: Database, comment: str) -> None:
    token, memory = _held(shared)
    with pytest.raises(VerdictRefused, match="needs a reason"), rows.door(shared, token) as conn:
        reviews.reject(conn, memory, comment=comment)
    assert _row(shared, memory)["status"] == "pending"


def test_a_rejection_repeated_is_harmless(shared: Database) -> None:
    token, memory = _held(shared)
    said = []
    for _ in range(2):
        with rows.door(shared, token) as conn:
            said.append(reviews.reject(conn, memory, comment="not so"))
    assert said == ["rejected", "already_rejected"]
    assert _reviews(shared, memory) == [("hold", "reject")]
    assert _verdict_runs(shared, memory) == []


def test_forgetting_repeated_is_harmless_and_dates_the_purge(shared: Database) -> None:
    token, memory = _held(shared)
    said = []
    for _ in range(2):
        with rows.door(shared, token) as conn:
            said.append(reviews.forget(conn, memory, comment=None))
    assert said == ["forgotten", "already_forgotten"]
    row = _row(shared, memory)
    assert row["status"] == "tombstoned"
    assert row["purge_after"] is not None
    assert _reviews(shared, memory) == [("hold", "forget")]


DECIDE = {
    "approve": _approve,
    "reject": lambda conn, memory: reviews.reject(conn, memory, comment="no"),
    "forget": lambda conn, memory: reviews.forget(conn, memory, comment=None),
    "edit": lambda conn, memory: reviews.retype(conn, memory, "edit", "other", comment=None),
    "redirect": lambda conn, memory: reviews.retype(conn, memory, "redirect", "other", comment=None),
    "correct": lambda conn, memory: reviews.retype(conn, memory, "correct", "other", comment=None),
}
DECIDED = [
    *[("reject", verdict) for verdict in ("approve", "forget", "edit", "redirect", "correct")],
    *[("forget", verdict) for verdict in ("approve", "reject", "edit", "redirect", "correct")],
    *[("approve", verdict) for verdict in ("reject", "edit", "redirect")],
]


@pytest.mark.parametrize(("first", "then"), DECIDED)
def test_what_was_decided_is_not_decided_otherwise(shared: Database, first: str, then: str) -> None:
    token, memory = _held(shared)
    with rows.door(shared, token) as conn:
        DECIDE[first](conn, memory)
    before = _row(shared, memory), _reviews(shared, memory), _verdict_runs(shared, memory)
    with pytest.raises(VerdictRefused, match="already_decided"), rows.door(shared, token) as conn:
        DECIDE[then](conn, memory)
    assert (_row(shared, memory), _reviews(shared, memory), _verdict_runs(shared, memory)) == before


@pytest.mark.parametrize("old_status", ["active", "pending"])
def test_an_approval_retires_what_it_replaces_in_one_transaction(shared: Database, old_status: str) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        make = rows.insert_memory if old_status == "active" else rows.pending
        old = make(conn, org, "we ship on Friday")
        new = rows.pending(conn, org, "we ship on Monday", replaces=(old,))
    token = rows.token(shared, org)
    with shared.as_role("reviewer") as conn, granted(conn, token):
        _approve(conn, new)
        assert [_row(shared, memory)["status"] for memory in (old, new)] == [old_status, "pending"]  # seen from outside
    assert [_row(shared, memory)["status"] for memory in (old, new)] == ["superseded", "active"]
    assert _row(shared, old)["superseded_by"] == new
    assert ("hold", None) not in _reviews(shared, old)
    with shared.as_role("worker") as conn:
        order = conn.execute(
            "SELECT subject_id, action FROM ledger WHERE subject_kind = 'memory' AND subject_id = ANY (%s)"
            " AND action IN ('memory_superseded', 'memory_active') AND detail ? 'from' ORDER BY id",
            ([str(old), str(new)],),
        ).fetchall()
    assert [row["subject_id"] for row in order] == [str(old), str(new)]  # out before in


def test_what_another_org_holds_is_never_replaced(shared: Database) -> None:
    org, other = rows.fresh_org(shared), rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        theirs = rows.insert_memory(conn, other, "we ship on Friday")
        new = rows.pending(conn, org, "we ship on Monday", replaces=(theirs,))
    with rows.door(shared, rows.token(shared, org)) as conn:
        assert _approve(conn, new) == "approved"
    assert _row(shared, theirs)["status"] == "active"


@pytest.mark.parametrize(("verdict", "said", "left"), [
    ("approve", "already_active", ["superseded", "active"]),
    ("reject", "kept_both", ["active", "active"]),
    ("forget", "forgotten", ["active", "tombstoned"]),
])  # fmt: skip
def test_a_proposed_retirement_is_decided_on_an_active_memory(
    shared: Database, verdict: str, said: str, left: list[str]
) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        old, new = (
            rows.insert_memory(conn, org, "we ship on Friday"),
            rows.insert_memory(conn, org, "we ship on Monday"),
        )
        conn.execute("UPDATE memories SET replaces = %s WHERE id = %s", ([old], new))
        conn.execute("INSERT INTO reviews (id, org_id, memory_id, kind, reasons)"
                     " VALUES (uuidv7(), %s, %s, 'retire', '{retires_active}')", (org.id, new))  # fmt: skip
    token = rows.token(shared, org)
    with rows.door(shared, token) as conn:
        assert DECIDE[verdict](conn, new) == said
    assert [_row(shared, memory)["status"] for memory in (old, new)] == left
    assert _reviews(shared, new) == [("retire", verdict)]
    with shared.as_role("worker") as conn:
        closed = conn.execute("SELECT actor, detail ->> 'decision' AS decision FROM ledger WHERE subject_id = %s"
                              " AND action = 'review_closed'", (str(new),)).fetchall()  # fmt: skip
    assert closed == [{"actor": "reviewer-1", "decision": verdict}]
    if verdict == "reject":  # and an approval after that retires nothing
        with rows.door(shared, token) as conn:
            _approve(conn, new)
        assert _row(shared, old)["status"] == "active"


def test_two_reviewers_at_once_leave_one_decision(shared: Database) -> None:
    """The second waits for the first's lock, then finds what was decided."""
    token, memory = _held(shared)
    said: list[str] = []

    def second() -> None:
        try:
            with rows.door(shared, token) as conn:
                said.append(_approve(conn, memory))
        except VerdictRefused as refused:
            said.append(str(refused))

    other = threading.Thread(target=second)
    with rows.door(shared, token) as conn:
        reviews.reject(conn, memory, comment="not so")
        other.start()
        rows.wait_until_blocked(shared)
    other.join(20)
    assert len(said) == 1
    assert "already_decided: this memory is rejected" in said[0]
    assert _reviews(shared, memory) == [("hold", "reject")]


def test_two_approvals_at_once_open_one_run(shared: Database) -> None:
    token, memory = _held(shared)
    said: list[str] = []

    def second() -> None:
        with rows.door(shared, token) as conn:
            said.append(_approve(conn, memory))

    other = threading.Thread(target=second)
    with rows.door(shared, token) as conn:
        assert _approve(conn, memory) == "approved"
        other.start()
        rows.wait_until_blocked(shared)
    other.join(20)
    assert said == ["already_active"]
    assert _verdict_runs(shared, memory) == [("redacted", "approve")]


@pytest.mark.parametrize("verdict", [*DECIDE, "view"])
def test_another_orgs_reviewer_finds_no_such_memory(shared: Database, verdict: str) -> None:
    _, memory = _held(shared)
    token = rows.token(shared, rows.fresh_org(shared))
    with pytest.raises(VerdictRefused, match="no such memory"), rows.door(shared, token) as conn:
        (DECIDE | {"view": reviews.view})[verdict](conn, memory)
    with pytest.raises(VerdictRefused, match="no such memory"), rows.door(shared, token) as conn:
        (DECIDE | {"view": reviews.view})[verdict](conn, uuid7())  # the same words as for one that never was


@pytest.mark.parametrize(("granted_project", "may"), [(None, True), ("apollo", True), ("apollo-2", False)])
def test_a_reviewer_of_one_project_decides_only_its_sessions(
    shared: Database, granted_project: str | None, may: bool
) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        memory = rows.pending(conn, org, "x", run=rows.insert_run(conn, org, project="apollo"))
    token = rows.token(shared, org, project=granted_project)
    with rows.door(shared, token) as conn:
        if may:
            assert reviews.view(conn, memory)["content"] == "x"
        else:
            with pytest.raises(VerdictRefused, match="no such memory"), conn.transaction():
                reviews.view(conn, memory)


def test_a_look_is_in_the_ledger_and_a_rolled_back_one_shows_nothing(shared: Database) -> None:
    token, memory = _held(shared)
    with rows.door(shared, token) as conn:
        reviews.view(conn, memory)
    with shared.as_role("worker") as conn:
        seen = conn.execute("SELECT actor FROM ledger WHERE subject_id = %s AND action = 'memory_viewed'",
                            (str(memory),)).fetchall()  # fmt: skip
    assert seen == [{"actor": "reviewer-1"}]


def test_a_retyped_text_opens_one_run_and_waits(shared: Database) -> None:
    token, memory = _held(shared)
    opened = []
    for text in ("we ship on Monday", "we ship on Monday", "we ship on Tuesday"):
        with rows.door(shared, token) as conn:
            opened.append(reviews.retype(conn, memory, "edit", text, comment=None))
    assert [run is None for run in opened] == [False, True, False]
    assert _verdict_runs(shared, memory) == [("extracted", "edit")] * 2
    assert _row(shared, memory)["content"] == "we ship on Friday"
    with shared.as_role("worker") as conn:
        staged = conn.execute("SELECT body FROM envelopes WHERE run_id = %s", (opened[0],)).fetchone()
    assert staged is not None
    assert staged["body"]["content"] == "we ship on Monday"


def test_a_memory_whose_edit_is_being_checked_is_not_approved(shared: Database) -> None:
    token, memory = _held(shared)
    with rows.door(shared, token) as conn:
        run = reviews.retype(conn, memory, "edit", "we ship on Monday", comment=None)
    assert run is not None
    with pytest.raises(VerdictRefused, match="is being checked"), rows.door(shared, token) as conn:
        _approve(conn, memory)
    lease = uuid7()
    with shared.as_role("worker") as conn:
        runs.claim(conn, RunState.EXTRACTED, lease, batch=64, lease_seconds=60)
        runs.complete(conn, [run], lease, from_state=RunState.EXTRACTED, to_state=RunState.REDACTED, actor="redaction")
    with rows.door(shared, token) as conn:
        assert _approve(conn, memory) == "approved"


@pytest.mark.parametrize(("act", "text"), [("edit", ""), ("edit", "  "), ("edit", "x" * 2001), ("erase", "x")])
def test_a_text_has_bounds_and_an_act_a_name(shared: Database, act: Any, text: str) -> None:
    token, memory = _held(shared)
    with pytest.raises(VerdictRefused), rows.door(shared, token) as conn:
        reviews.retype(conn, memory, act, text, comment=None)
    assert _verdict_runs(shared, memory) == []


@pytest.mark.parametrize(("placement", "refused"), [
    (Placement(namespace="unheard"), "no such namespace"),
    (Placement(scope_kind="user"), "scope"),
    (Placement(scope_kind="org", scope_value="acme"), "scope"),
    (Placement(scope_kind="galaxy", scope_value="x"), "scope"),
    (Placement(subject_type="person"), "subject_complete"),
])  # fmt: skip
def test_a_placement_that_cannot_be_is_refused_whole(shared: Database, placement: Placement, refused: str) -> None:
    token, memory = _held(shared)
    before = _row(shared, memory)
    with pytest.raises(VerdictRefused, match=refused), rows.door(shared, token) as conn:
        _approve(conn, memory, placement)
    assert _row(shared, memory) == before


def test_what_is_personal_is_approved_only_with_a_subject(shared: Database) -> None:
    token, memory = _held(shared, classes=("phone",))
    with pytest.raises(VerdictRefused, match="subject_missing"), rows.door(shared, token) as conn:
        _approve(conn, memory)
    with rows.door(shared, token) as conn:
        assert _approve(conn, memory, Placement(subject_type="person", subject_id="ana")) == "approved"
    assert _row(shared, memory)["subject_id"] == "ana"


def test_the_inbox_shows_the_orgs_open_reviews_without_content(shared: Database) -> None:
    token, memory = _held(shared, high_stakes=True)
    _held(shared)
    with rows.door(shared, token) as conn:
        inbox = reviews.inbox(conn)
    assert [item["memory_id"] for item in inbox] == [memory]
    assert "we ship" not in str(inbox)


def test_a_verdict_without_a_reviewers_grant_is_no_verdict(shared: Database) -> None:
    _, memory = _held(shared)
    with pytest.raises(VerdictRefused, match="no such memory"), rows.door(shared, "made-up") as conn:
        _approve(conn, memory)
    for role in ("agent", "operator", "worker"):
        with shared.as_role(role) as conn, pytest.raises(errors.InsufficientPrivilege):
            conn.execute("SELECT approve(%s)", (memory,))
