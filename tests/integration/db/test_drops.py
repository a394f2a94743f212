"""What was kept out: kept whole, sampled by the database, judged once, restored like any other candidate."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from psycopg import errors

from db import redaction, retention, reviews
from db.connect import Connection
from db.events import Org
from db.redaction import NewDrop
from db.reviews import VerdictRefused
from pipeline.extraction.staging import StagedEnvelope
from pipeline.gate import DropRule
from pipeline.memory import Scope, ScopeKind
from tests.integration.db import rows
from tests.services import Database

BY = {"provider": "echo", "model": "none", "prompt_revision": "p@1", "rules_revision": "r@1"}
TEXT = "The build probably moves to another host at some point."


def dropped(conn: Connection, org: Org, *, in_sample: bool = False, **changes: Any) -> UUID:
    """A fact stated at 0.2 where 0.5 was asked for."""
    run = changes.pop("run", None) or rows.insert_run(conn, org)
    draft = rows.draft(org, run, TEXT, id=rows.new_id(in_sample=in_sample), provenance=BY, confidence=0.2, **changes)
    redaction.insert_drops(conn, [NewDrop(draft, DropRule.CONFIDENCE_BELOW, 0.5, 90, 1_000)])
    return draft.id


@pytest.fixture
def org(shared: Database) -> Org:
    return rows.fresh_org(shared)


@pytest.fixture
def drop(shared: Database, org: Org) -> UUID:
    with shared.as_role("worker") as conn:
        return dropped(conn, org, in_sample=True)


def _one(database: Database, statement: str, *params: Any) -> dict[str, Any] | None:
    with database.as_role("worker") as conn:
        return conn.execute(statement, params).fetchone()  # type: ignore[call-overload,no-any-return]


def _actions(database: Database, drop: UUID) -> list[str]:
    with database.as_role("worker") as conn:
        found = conn.execute("SELECT action FROM ledger WHERE subject_id = %s ORDER BY id", (str(drop),))
        return [row["action"] for row in found]


def test_a_drop_keeps_what_it_dropped_and_a_sampled_one_asks_a_person(shared: Database, org: Org) -> None:
    with shared.as_role("worker") as conn:
        asked, silent = dropped(conn, org, in_sample=True), dropped(conn, org, in_sample=False)
    for drop, is_asked in ((asked, True), (silent, False)):
        row = _one(shared, "SELECT content, rule, threshold, sampled, rationale FROM drops WHERE id = %s", drop)
        assert row == {"content": TEXT, "rule": "confidence_below", "threshold": 0.5, "sampled": is_asked,
                       "rationale": "said in the session"}  # fmt: skip
        review = _one(shared, "SELECT kind, closed_at FROM reviews WHERE drop_id = %s", drop)
        assert review == ({"kind": "drop", "closed_at": None} if is_asked else None)
    assert _actions(shared, asked) == ["candidate_dropped", "review_opened"]
    assert _actions(shared, silent) == ["candidate_dropped"]


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "a class": ({"classes": ["email"]}, "drops_classes_check"),
    "no share": ({"review_share": 0}, "some_drops_are_reviewed"),
    "stated at the threshold": ({"confidence": 0.5}, "stated_below_threshold"),
    "nothing stated": ({"confidence": None}, "stated_below_threshold"),
    "no threshold": ({"threshold": None}, "stated_below_threshold"),
    "no prompt": ({"provenance": {"provider": "x", "model": "y", "rules_revision": "z"}}, "drop_is_attributed"),
    "another rule": ({"rule": "noise"}, "drops_rule_check"),
    "a rule of conduct": ({"kind": "rule"}, "drops_kind_check"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "constraint"), BAD.values(), ids=BAD)
def test_what_may_not_be_dropped_so(
    shared: Database, org: Org, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], constraint: str
) -> None:
    whole = redaction._dropped
    monkeypatch.setattr(redaction, "_dropped", lambda drop: whole(drop) | change)
    with shared.as_role("worker") as conn, pytest.raises(errors.CheckViolation) as refused:
        dropped(conn, org)
    assert refused.value.diag.constraint_name == constraint


def test_nobody_says_whether_a_drop_is_sampled(shared: Database, org: Org) -> None:
    with shared.as_role("worker") as conn:
        drop = dropped(conn, org, in_sample=True)
        for statement in ("UPDATE drops SET review_share = 1", "UPDATE drops SET sampled = false", "DELETE FROM drops",
                          "DELETE FROM reviews"):  # fmt: skip
            with pytest.raises((errors.InsufficientPrivilege, errors.GeneratedAlways)):
                conn.execute(statement)
        with pytest.raises(errors.CheckViolation, match="a drop stands"):
            conn.execute("UPDATE drops SET content = 'other' WHERE id = %s", (drop,))


def test_the_share_is_the_same_wherever_it_is_asked(shared: Database) -> None:
    with shared.as_role("worker") as conn:
        for _ in range(200):
            id = rows.uuid7()
            row = conn.execute("SELECT in_share(%s, 1000) AS found", (id,)).fetchone()
            assert row == {"found": rows.sampled(id)}
        found = conn.execute(
            "SELECT count(*) FILTER (WHERE in_share(uuidv7(), 1000)) AS n FROM generate_series(1, 20000)"
        )
        counted = found.fetchone()
    assert counted is not None
    assert 1_800 <= counted["n"] <= 2_200  # 2,000 expected, 42 the standard deviation


# --- A reviewer's answers.


def test_a_look_shows_it_and_is_recorded(shared: Database, org: Org, drop: UUID) -> None:
    token = rows.token(shared, org)
    done = rows.psql(shared, "reviewer", f"SET afterword.token = '{token}'; SELECT content FROM view_drop('{drop}')")
    assert done.stdout.splitlines()[1:] == [TEXT]
    assert _actions(shared, drop)[-1] == "drop_viewed"


@pytest.mark.parametrize("login", ["reviewer", "operator", "agent"])
def test_no_door_reads_what_was_dropped(shared: Database, drop: UUID, login: str) -> None:
    for statement in (f"SELECT content FROM drops WHERE id = '{drop}'", "SELECT * FROM drops", "COPY drops TO STDOUT"):
        done = rows.psql(shared, login, statement)
        assert "permission denied" in done.stderr
        assert done.stdout == ""


@pytest.mark.parametrize("login", ["operator", "agent", "worker"])
@pytest.mark.parametrize(
    "call", ["view_drop('{}')", "restore_drop('{}', 'x')", "confirm_drop('{}')", "granted_drop('{}')"]
)
def test_only_a_reviewer_judges(shared: Database, org: Org, drop: UUID, login: str, call: str) -> None:
    token = rows.token(shared, org)
    done = rows.psql(shared, login, f"SET afterword.token = '{token}'; SELECT {call.format(drop)}")
    assert "permission denied for function" in done.stderr


def test_another_org_or_project_does_not_exist(shared: Database, drop: UUID) -> None:
    with shared.as_role("worker") as conn:
        org = rows.fresh_org(shared)
        theirs = dropped(conn, org, run=rows.insert_run(conn, org, project="billing"))
    for token, which in ((rows.token(shared, org), drop), (rows.token(shared, org, project="search"), theirs)):
        for act in (
            reviews.view_drop,
            reviews.confirm_drop,
            lambda conn, id: reviews.restore_drop(conn, id, comment="x"),
        ):
            with pytest.raises(VerdictRefused, match="no such drop for this grant"), rows.door(shared, token) as conn:
                act(conn, which)


def test_a_confirmation_repeats_and_stands(shared: Database, org: Org, drop: UUID) -> None:
    token = rows.token(shared, org)
    said = []
    for _ in range(2):
        with rows.door(shared, token) as conn:
            said.append(reviews.confirm_drop(conn, drop))
    assert said == ["confirmed", "already_confirmed"]
    with pytest.raises(VerdictRefused, match="found right"), rows.door(shared, token) as conn:
        reviews.restore_drop(conn, drop, comment="no, keep it")
    assert _one(shared, "SELECT decision, decided_by FROM reviews WHERE drop_id = %s", drop) == {
        "decision": "approve", "decided_by": "reviewer-1"}  # fmt: skip


def test_a_restoration_repeats_with_the_same_run_and_carries_the_whole_candidate(shared: Database, org: Org) -> None:
    with shared.as_role("worker") as conn:
        drop = dropped(conn, org, in_sample=True, subject=rows.about("ana silva"), scope=Scope(ScopeKind.USER, "u-1"))
    token = rows.token(shared, org)
    opened = []
    for _ in range(3):
        with rows.door(shared, token) as conn:
            opened.append(reviews.restore_drop(conn, drop, comment="it is a fact"))
    assert len(set(opened)) == 1
    run = _one(shared, "SELECT kind, state, drop_id, memory_id FROM runs WHERE id = %s", opened[0])
    assert run == {"kind": "verdict", "state": "extracted", "drop_id": drop, "memory_id": None}
    staged = _one(shared, "SELECT body FROM envelopes WHERE run_id = %s", opened[0])
    assert staged is not None
    envelope = StagedEnvelope.model_validate(staged["body"])
    (candidate,) = envelope.candidates
    assert (candidate.content, candidate.confidence, candidate.lifetime_days) == (TEXT, 0.2, 90)
    assert (candidate.subject, candidate.scope) == (rows.about("ana silva"), Scope(ScopeKind.USER, "u-1"))
    assert envelope.provenance == BY | {"restored": str(drop)}
    assert _one(shared, "SELECT decision FROM reviews WHERE drop_id = %s", drop) == {"decision": "restore"}
    with pytest.raises(VerdictRefused, match="was restored"), rows.door(shared, token) as conn:
        reviews.confirm_drop(conn, drop)
    assert _actions(shared, drop)[-2:] == ["drop_restored", "review_closed"]


def test_what_was_not_sampled_can_be_restored_and_not_confirmed(shared: Database, org: Org) -> None:
    with shared.as_role("worker") as conn:
        drop = dropped(conn, org)
    token = rows.token(shared, org)
    with pytest.raises(VerdictRefused, match="not sampled"), rows.door(shared, token) as conn:
        reviews.confirm_drop(conn, drop)
    with rows.door(shared, token) as conn:
        assert reviews.restore_drop(conn, drop, comment="it is a fact")


def test_a_restoration_needs_a_reason(shared: Database, org: Org, drop: UUID) -> None:
    with pytest.raises(VerdictRefused, match="needs a reason"), rows.door(shared, rows.token(shared, org)) as conn:
        reviews.restore_drop(conn, drop, comment=" ")


Act = Callable[[Connection, UUID], object]


def _restore(conn: Connection, drop: UUID) -> object:
    return reviews.restore_drop(conn, drop, comment="it is a fact")


@pytest.mark.parametrize(("first", "second"), [
    (_restore, _restore), (_restore, reviews.confirm_drop), (reviews.confirm_drop, _restore),
    (reviews.confirm_drop, reviews.confirm_drop),
])  # fmt: skip
def test_two_reviewers_at_once_leave_one_answer(
    shared: Database, org: Org, drop: UUID, first: Act, second: Act
) -> None:
    said: list[object] = []
    token = rows.token(shared, org)

    def follow() -> None:
        try:
            with rows.door(shared, token) as conn:
                said.append(second(conn, drop))
        except VerdictRefused as error:
            said.append(error)

    with rows.door(shared, token) as conn:
        mine = first(conn, drop)
        other = threading.Thread(target=follow)
        other.start()
        rows.wait_until_blocked(shared)
    other.join()
    if first is second:
        assert said in ([mine], ["already_confirmed"])
    else:
        assert isinstance(said[0], VerdictRefused)
    opened = _one(shared, "SELECT count(*) AS n FROM runs WHERE drop_id = %s", drop)
    answers = _one(shared, "SELECT count(*) AS n FROM reviews WHERE drop_id = %s AND closed_at IS NOT NULL", drop)
    assert opened == {"n": int(first is _restore)}
    assert answers == {"n": 1}


def test_an_expired_drop_loses_its_text_and_nobody_is_asked_about_it(shared: Database, org: Org) -> None:
    with shared.as_role("worker") as conn:
        drop, kept = dropped(conn, org, in_sample=True), dropped(conn, org)
        with rows.as_admin(shared) as admin:
            admin.execute("UPDATE drops SET expires_at = now() - interval '1 day' WHERE id = %s", (drop,))
        assert retention.purge_batch(conn, actor="housekeeping") == {("drops", org.name): 1}
        assert retention.purge_batch(conn, actor="housekeeping") == {}
    row = _one(shared, "SELECT content, rationale, evidence, author, erased_at FROM drops WHERE id = %s", drop)
    assert row is not None
    assert (row["content"], row["rationale"], row["evidence"], row["author"]) == ("", "", [], "")
    assert _one(shared, "SELECT decision FROM reviews WHERE drop_id = %s", drop) == {"decision": "voided"}
    assert _one(shared, "SELECT content FROM drops WHERE id = %s", kept) == {"content": TEXT}
    assert "drop_erased" in _actions(shared, drop)
    with pytest.raises(VerdictRefused, match="its text is gone"), rows.door(shared, rows.token(shared, org)) as conn:
        reviews.restore_drop(conn, drop, comment="too late")
    with shared.as_role("worker") as conn, pytest.raises(errors.CheckViolation, match="erased_drop_is_empty"):
        conn.execute("UPDATE drops SET content = 'back again' WHERE id = %s", (drop,))
