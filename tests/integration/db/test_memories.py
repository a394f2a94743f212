"""Memories and the reviews that hold them: no commit, in whatever order, leaves one without the other."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import product
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import errors

from db import consolidation, redaction, reviews
from db.connect import Connection
from db.consolidation import Repeat, Retirement
from db.redaction import NewMemory
from db.reviews import Placement, VerdictRefused
from pipeline.consolidation.similarity import Likeness, Similarity
from pipeline.memory import HoldReason
from pipeline.redaction.classes import CLASSES, PERSONAL, is_personal
from pipeline.states import MEMORY_MOVES, MemoryStatus
from tests.integration.db import rows
from tests.integration.db.rows import uuid7
from tests.services import Database

EXACT, LEXICAL = Similarity(Likeness.EXACT, 1.0), Similarity(Likeness.LEXICAL, 0.9)

INSERT = """
  INSERT INTO memories (id, org_id, run_id, tier, kind, status, scope_kind, content, content_hash, rationale, evidence,
    classes, author_kind, author, provenance, high_stakes, importance, observed_at, valid_from, expires_at, review_id)
  SELECT %(id)s, org_id, id, 'semantic', 'fact', %(status)s, 'org', %(text)s::text,
    sha256(convert_to(%(text)s::text, 'UTF8')), 'r', '[]',
    %(classes)s, 'agent', 'a', '{}', false, 3, now(), now(), now() + interval '1 day', %(review)s
  FROM runs WHERE id = %(run)s"""
OPEN = "INSERT INTO reviews (id, org_id, memory_id, kind, reasons) VALUES (%s, %s, %s, %s, '{undated}')"
CLOSE = "UPDATE reviews SET closed_at = now(), decision = 'voided', decided_by = 'x' WHERE id = %s"
RELEASE = "UPDATE memories SET status = 'active', review_id = NULL WHERE id = %s"


def _memory(conn: Connection, run: UUID, **values: Any) -> UUID:
    memory = uuid7()
    plain = {"id": memory, "status": "active", "text": str(memory), "classes": [], "review": None, "run": run}
    conn.execute(INSERT, plain | values)
    return memory


def _moved(conn: psycopg.Connection[Any], memory: UUID, status: str, other: UUID) -> None:
    """A hand-written UPDATE that fills what the CHECKs ask for; its review closes or opens in the same transaction."""
    with conn.transaction():
        conn.execute(
            "UPDATE reviews SET closed_at = now(), decision = 'voided', decided_by = 'x'"
            " WHERE memory_id = %s AND closed_at IS NULL",
            (memory,),
        )
        review = uuid7()
        if status == "pending":
            conn.execute(
                "INSERT INTO reviews (id, org_id, memory_id, kind, reasons)"
                " SELECT %s, org_id, id, 'hold', '{undated}' FROM memories WHERE id = %s",
                (review, memory),
            )
        conn.execute(
            "UPDATE memories SET status = %(to)s, valid_to = NULL,"
            " superseded_by = CASE WHEN %(to)s = 'superseded' THEN %(by)s::uuid END,"
            " review_id = CASE WHEN %(to)s = 'pending' THEN %(review)s::uuid END WHERE id = %(id)s",
            {"to": status, "by": other, "review": review, "id": memory},
        )


def test_every_pair_of_statuses_moves_or_is_refused_as_listed(database: Database) -> None:
    org = database.org("acme")
    with database.as_role("worker") as worker, rows.as_admin(database) as admin:
        other = rows.insert_memory(worker, org, "the newer one")
        for conn, (start, goal) in product((worker, admin), product(MemoryStatus, MemoryStatus)):
            if start is goal:
                continue
            make = rows.insert_memory if start == "active" else rows.pending
            memory = make(worker, org, str(uuid7()))
            if start not in ("active", "pending"):
                _moved(worker, memory, start, other)
            if (start, goal) in MEMORY_MOVES:
                _moved(conn, memory, goal, other)
                assert rows.status(worker, memory) == goal
            else:
                with pytest.raises(errors.CheckViolation) as refused:
                    _moved(conn, memory, goal, other)
                assert refused.value.diag.constraint_name == "memory_moves", (start, goal)
                assert rows.status(worker, memory) == start


@pytest.mark.parametrize("status", ["rejected", "superseded", "tombstoned"])
def test_a_memory_begins_pending_or_active(shared: Database, status: str) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        run = rows.insert_run(conn, org)
        with pytest.raises(errors.CheckViolation):
            _memory(conn, run, status=status)


@pytest.mark.parametrize(("status", "kind", "closed", "refused"), [
    ("pending", None, False, "pending_review_is_open"),  # the review it names does not exist
    ("pending", "hold", False, None),
    ("pending", "hold", True, "pending_review_is_open"),
    ("active", "hold", False, "open_hold_is_pending"),
    ("active", "hold", True, None),
    ("active", "audit", False, None),
    ("active", "retire", False, None),
])  # fmt: skip
def test_what_may_stand_together_at_commit(
    shared: Database, status: str, kind: str | None, closed: bool, refused: str | None
) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        run, review = rows.insert_run(conn, org), uuid7()

        def write() -> None:
            with conn.transaction():
                memory = _memory(conn, run, status=status, review=review if status == "pending" else None)
                if kind:
                    conn.execute(OPEN, (review, org.id, memory, kind))
                if closed:
                    conn.execute(CLOSE, (review,))

        if refused is None:
            write()
        else:
            with pytest.raises(errors.ForeignKeyViolation) as error:
                write()
            assert error.value.diag.constraint_name == refused


def test_pending_without_naming_a_review_is_refused_at_once(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        run = rows.insert_run(conn, org)
        with pytest.raises(errors.CheckViolation, match="pending_has_review"):
            _memory(conn, run, status="pending")


def test_another_memorys_review_holds_nothing(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        held = rows.pending(conn, org, "one")
        review = conn.execute("SELECT review_id FROM memories WHERE id = %s", (held,)).fetchone()
        assert review is not None
        run = rows.insert_run(conn, org)
        with pytest.raises(errors.ForeignKeyViolation, match="pending_review_is_open"):
            _memory(conn, run, status="pending", review=review["review_id"])


@pytest.mark.parametrize("kind", ["hold", "retire", "audit"])
def test_no_review_stays_open_beyond_a_terminal_move(shared: Database, kind: str) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        memory = rows.pending(conn, org, "x") if kind == "hold" else rows.insert_memory(conn, org, "x")
        if kind != "hold":
            conn.execute(OPEN, (uuid7(), org.id, memory, kind))
        with pytest.raises(errors.ForeignKeyViolation):
            conn.execute("UPDATE memories SET status = 'tombstoned', review_id = NULL WHERE id = %s", (memory,))


@pytest.mark.parametrize("statement", [
    "DELETE FROM reviews", "TRUNCATE reviews CASCADE", "DELETE FROM memories", "TRUNCATE memories CASCADE",
])  # fmt: skip
def test_neither_is_ever_removed(shared: Database, statement: str) -> None:
    with shared.as_role("worker") as worker, rows.as_admin(shared) as admin:
        for conn in (worker, admin):
            with pytest.raises(errors.InsufficientPrivilege):
                conn.execute(statement)


def test_a_decision_is_not_decided_again(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        memory = rows.pending(conn, org, "x")
        with conn.transaction():
            _approve(conn, memory)
        for change in (
            "decision = 'reject'",
            "decided_by = 'bob'",
            "closed_at = NULL, decision = NULL, decided_by = NULL",
        ):
            with pytest.raises(errors.CheckViolation, match="a decision stands"):
                conn.execute(f"UPDATE reviews SET {change} WHERE memory_id = %s", (memory,))


# --- Interleaved transactions. Each writes its half of a bad state; whichever commits last must fail.


@contextmanager
def _two(database: Database) -> Iterator[tuple[Connection, Connection]]:
    with ExitStack() as stack:
        yield stack.enter_context(database.as_role("worker")), stack.enter_context(database.as_role("worker"))


def _bad_states(database: Database) -> int:
    with rows.as_admin(database) as conn:
        row = conn.execute(
            """
            SELECT (SELECT count(*) FROM memories m WHERE m.status = 'pending' AND NOT EXISTS (SELECT FROM reviews r
                      WHERE r.id = m.review_id AND r.memory_id = m.id AND r.closed_at IS NULL))
                 + (SELECT count(*) FROM reviews r JOIN memories m ON m.id = r.memory_id WHERE r.closed_at IS NULL
                      AND ((r.kind = 'hold' AND m.status <> 'pending') OR m.status NOT IN ('pending', 'active'))) AS bad
            """
        ).fetchone()
    assert row is not None
    return int(row["bad"])


def _close_only(conn: Connection, memory: UUID) -> None:
    conn.execute("UPDATE reviews SET closed_at = now(), decision = 'voided', decided_by = 'x' WHERE memory_id = %s"
                 " AND closed_at IS NULL", (memory,))  # fmt: skip


def _touch(conn: Connection, memory: UUID) -> None:
    """Keeps the memory pending and writes its row, as an edit does."""
    conn.execute("UPDATE memories SET content = 'edited', revision = revision + 1 WHERE id = %s", (memory,))


def _hold_again(conn: Connection, memory: UUID) -> None:
    """Points the pending memory at a second review of its own."""
    review = uuid7()
    conn.execute("INSERT INTO reviews (id, org_id, memory_id, kind, reasons) SELECT %s, org_id, id, 'hold', '{undated}'"
                 " FROM memories WHERE id = %s", (review, memory))  # fmt: skip
    conn.execute("UPDATE memories SET review_id = %s WHERE id = %s", (review, memory))


def _release(conn: Connection, memory: UUID) -> None:
    conn.execute(RELEASE, (memory,))


def _approve(conn: Connection, memory: UUID) -> None:
    _close_only(conn, memory)
    _release(conn, memory)


def _open_another(conn: Connection, memory: UUID) -> None:
    conn.execute("INSERT INTO reviews (id, org_id, memory_id, kind, reasons) SELECT uuidv7(), org_id, id, 'hold',"
                 " '{undated}' FROM memories WHERE id = %s", (memory,))  # fmt: skip


def _audit(conn: Connection, memory: UUID) -> None:
    conn.execute("INSERT INTO reviews (id, org_id, memory_id, kind, reasons) SELECT uuidv7(), org_id, id, 'audit',"
                 " '{undated}' FROM memories WHERE id = %s", (memory,))  # fmt: skip


def _forget(conn: Connection, memory: UUID) -> None:
    _close_only(conn, memory)
    conn.execute("UPDATE memories SET status = 'tombstoned', review_id = NULL WHERE id = %s", (memory,))


INTERLEAVED = [
    (_close_only, _touch),
    (_close_only, _hold_again),
    (_close_only, _release),
    (_approve, _open_another),
    (_approve, _hold_again),
    (_approve, _touch),
    (_approve, _approve),
    (_forget, _audit),
    (_forget, _open_another),
    (_forget, _approve),
]


@pytest.mark.parametrize("level", ["READ COMMITTED", "REPEATABLE READ"])
@pytest.mark.parametrize(("one", "other"), INTERLEAVED + [(b, a) for a, b in INTERLEAVED if a is not b])
def test_interleaved_transactions_never_commit_into_a_bad_state(
    shared: Database, one: Any, other: Any, level: str
) -> None:
    """`one` writes, `other` writes or waits, then both commit; each may be refused, the state is never bad."""
    org = rows.fresh_org(shared)
    with _two(shared) as (first, second):
        memory = rows.pending(first, org, "held")
        begun, done = threading.Event(), threading.Event()

        def run_other() -> None:
            try:
                with second.transaction():
                    second.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
                    second.execute("SELECT count(*) FROM memories")
                    begun.set()
                    other(second, memory)
                    done.set()
                    committed.wait(0.2)  # the other's commit may be waiting for what this one holds
            except (errors.IntegrityError, errors.OperationalError):
                pass  # refused or told to try again: what the guarantee is for
            finally:
                begun.set()
                done.set()

        committed = threading.Event()
        thread = threading.Thread(target=run_other)
        try:
            with first.transaction():
                first.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
                one(first, memory)
                thread.start()
                begun.wait(20)
                done.wait(0.1)  # or it waits for this transaction's locks
        except (errors.IntegrityError, errors.OperationalError):
            pass
        committed.set()
        thread.join(20)
        assert not thread.is_alive()
    assert _bad_states(shared) == 0


# --- What a row may say.


@pytest.mark.parametrize("one_class", [*sorted(PERSONAL), "unknown", "a_class_of_tomorrow"])
def test_what_is_personal_is_not_active_without_a_subject(shared: Database, one_class: str) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        with pytest.raises(errors.CheckViolation, match="personal_names_its_subject"):
            rows.insert_memory(conn, org, "x", classes=(one_class,))
        rows.insert_memory(conn, org, "x", classes=(one_class,), subject=rows.about("ana"))
        held = rows.pending(conn, org, "y", classes=(one_class,))
        with pytest.raises(errors.CheckViolation, match="personal_names_its_subject"), conn.transaction():
            _approve(conn, held)


@pytest.mark.parametrize("one_class", sorted({row.name for row in CLASSES} - PERSONAL))
def test_an_impersonal_class_needs_no_subject(shared: Database, one_class: str) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        rows.insert_memory(conn, org, "x", classes=(one_class,))


def test_the_database_and_the_table_agree_on_what_is_personal(shared: Database) -> None:
    names = [*(row.name for row in CLASSES), "unknown", "a_class_of_tomorrow"]
    with shared.as_role("worker") as conn:
        found = conn.execute("SELECT c, is_personal(ARRAY[c]) AS it FROM unnest(%s::text[]) AS c", [names]).fetchall()
        none = conn.execute("SELECT is_personal('{}') AS it").fetchone()
    assert {row["c"]: row["it"] for row in found} == {name: is_personal(name) for name in names}
    assert none == {"it": False}


@pytest.mark.parametrize("order", [(True, False), (False, True), (False, False), (True, True)])
def test_what_a_run_says_twice_is_one_memory_the_held_one_first(shared: Database, order: tuple[bool, bool]) -> None:
    """In one write, in either order; the other candidate is in the ledger, and no review is left without its memory."""
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        run = rows.insert_run(conn, org)
        new = [
            NewMemory(
                rows.draft(org, run, text, hold_reasons=(HoldReason.UNDATED,) if held else ()),
                uuid7() if held else None,
                "redaction",
            )
            for text, held in zip(("We ship  on Friday", "we ship on friday"), order, strict=True)
        ]
        redaction.insert_memories(conn, new)
        kept = conn.execute("SELECT status FROM memories WHERE run_id = %s", (run,)).fetchall()
        assert [row["status"] for row in kept] == ["pending" if any(order) else "active"]
        said = conn.execute("SELECT count(*) AS n FROM ledger WHERE subject_id = %s AND action = 'candidate_repeated'",
                            (str(run),)).fetchone()  # fmt: skip
        assert said == {"n": 1}


def test_a_run_holds_one_memory_of_a_text(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        run = rows.insert_run(conn, org)
        _memory(conn, run, text="said once")
        with pytest.raises(errors.UniqueViolation, match="memories_once"):
            _memory(conn, run, text="said once")


@pytest.mark.parametrize("change", ["id = uuidv7()", "org_id = %(other)s", "run_id = %(run)s"])
def test_a_memory_keeps_its_identity(shared: Database, change: str) -> None:
    org, other = rows.fresh_org(shared), rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        memory = rows.insert_memory(conn, org, "x")
        run = rows.insert_run(conn, org)
        with pytest.raises((errors.CheckViolation, errors.ForeignKeyViolation)):
            conn.execute(
                f"UPDATE memories SET {change} WHERE id = %(id)s", {"other": other.id, "run": run, "id": memory}
            )


def test_a_text_changes_only_while_it_waits_or_when_it_is_erased(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        active, held = rows.insert_memory(conn, org, "x"), rows.pending(conn, org, "y")
        for memory, change in (
            (active, "content = 'z'"),
            (active, "content = 'z', revision = revision + 1"),
            (held, "content = 'z'"),
        ):
            with pytest.raises(errors.CheckViolation, match="a text changes only"):
                conn.execute(f"UPDATE memories SET {change} WHERE id = %s", (memory,))
        conn.execute("UPDATE memories SET content = 'z', revision = revision + 1 WHERE id = %s", (held,))
        for half in ("content = '', erased_at = now()", rows.EMPTIED.replace("rationale = '', ", "")):
            with pytest.raises(errors.CheckViolation, match="erased_is_empty"):
                conn.execute(f"UPDATE memories SET {half} WHERE id = %s", (active,))
        conn.execute(f"UPDATE memories SET {rows.EMPTIED} WHERE id = %s", (active,))
        for change in ("content = 'back'", "erased_at = NULL"):
            with pytest.raises(errors.CheckViolation, match=r"a text changes only|erased_is_empty"):
                conn.execute(f"UPDATE memories SET {change} WHERE id = %s", (active,))


# --- Consolidation's writes.


def _one(conn: Connection, memory: UUID) -> dict[str, Any]:
    row = conn.execute("SELECT * FROM memories WHERE id = %s", (memory,)).fetchone()
    assert row is not None
    return row


def test_a_repeat_is_counted_once_and_gives_way_with_its_reviews(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        kept, repeat = (rows.insert_memory(conn, org, "we ship on Friday") for _ in range(2))
        conn.execute(OPEN, (uuid7(), org.id, repeat, "audit"))
        for _ in range(3):
            consolidation.count_repeats(conn, [Repeat(kept, repeat, org.id, EXACT)], actor="consolidation")
        assert _one(conn, kept)["occurrences"] == 2
        gone = _one(conn, repeat)
        assert (gone["status"], gone["superseded_by"], gone["reason"]) == ("superseded", kept, "repeat")
        review = conn.execute("SELECT decision FROM reviews WHERE memory_id = %s", (repeat,)).fetchone()
        assert review == {"decision": "voided"}


def test_a_chain_of_repeats_in_one_batch_leaves_the_oldest(shared: Database) -> None:
    """The second gives way to the first and the third to the second: all are counted, none stays by oversight."""
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        a, b, c = (rows.insert_memory(conn, org, text) for text in ("we ship Friday", "we ship Fri", "ship Fri"))
        pairs = [Repeat(b, c, org.id, LEXICAL), Repeat(a, b, org.id, LEXICAL)]
        for _ in range(2):
            consolidation.count_repeats(conn, pairs, actor="consolidation")
        assert [_one(conn, memory)["status"] for memory in (a, b, c)] == ["active", "superseded", "superseded"]
        assert _one(conn, a)["occurrences"] == 3
        assert _one(conn, c)["superseded_by"] == a


def test_a_retirement_is_proposed_once_and_retires_nothing(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        old, new = (
            rows.insert_memory(conn, org, "we ship on Friday"),
            rows.insert_memory(conn, org, "we ship on Monday"),
        )
        for _ in range(2):
            retirement = Retirement(new, org.id, (old,), uuid7())
            consolidation.propose_retirements(conn, [retirement], actor="consolidation")
        assert [_one(conn, memory)["status"] for memory in (old, new)] == ["active", "active"]
        reviews = conn.execute("SELECT kind, closed_at FROM reviews WHERE memory_id = %s", (new,)).fetchall()
        assert reviews == [{"kind": "retire", "closed_at": None}]


@pytest.mark.parametrize("approved_first", [True, False])
def test_a_held_repeat_and_its_verdict_at_once_leave_one_of_them(shared: Database, approved_first: bool) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        kept, repeat = (rows.pending(conn, org, "we ship on Friday") for _ in range(2))
    token, said = rows.token(shared, org), []

    def approve() -> None:
        try:
            with rows.door(shared, token) as conn:
                said.append(reviews.approve(conn, repeat, comment=None, placement=Placement()))
        except VerdictRefused as error:
            said.append(str(error))

    def count() -> None:
        with shared.as_role("worker") as conn:
            pairs = [Repeat(kept, repeat, org.id, EXACT)]
            consolidation.count_repeats(conn, pairs, actor="consolidation", held=True)

    with ExitStack() as stack:
        if approved_first:
            door = stack.enter_context(rows.door(shared, token))
            said.append(reviews.approve(door, repeat, comment=None, placement=Placement()))
        else:
            conn = stack.enter_context(shared.as_role("worker"))
            stack.enter_context(conn.transaction())
            pairs = [Repeat(kept, repeat, org.id, EXACT)]
            consolidation.count_repeats(conn, pairs, actor="consolidation", held=True)
        other = threading.Thread(target=count if approved_first else approve)
        other.start()
        rows.wait_until_blocked(shared)
    other.join()
    with shared.as_role("worker") as conn:
        stands = [(_one(conn, memory)["status"], _one(conn, memory)["occurrences"]) for memory in (kept, repeat)]
        counted = conn.execute("SELECT count(*) AS n FROM occurrences WHERE repeat_id = %s", (repeat,)).fetchone()
    assert _bad_states(shared) == 0
    if approved_first:
        assert stands == [("pending", 1), ("active", 1)]
        assert (said, counted) == (["approved"], {"n": 0})
    else:
        assert stands == [("pending", 2), ("superseded", 1)]
        assert counted == {"n": 1}
        assert "already_decided" in said[0]
