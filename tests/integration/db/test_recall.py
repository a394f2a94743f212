"""Recall: what it finds by which leg, what it never hands out, that it is recorded, and that its indexes are used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import psycopg
import pytest
from pgvector import Vector
from psycopg import errors

from db import embedding, housekeeping, recall
from db.connect import Connection, connect, granted
from db.events import Org
from db.migrate import register_stamp
from db.recall import Question, QuestionRefused
from pipeline.embedding.port import Stamp, Vectors
from pipeline.recall.hit import Recall
from tests.integration.db import rows
from tests.services import STAMP, Database

NOW = datetime.now(UTC)


def vector(*parts: float) -> Vectors:
    """A unit vector of the test stamp: the parts given, then zeros."""
    full = np.zeros(STAMP.dimension, dtype=np.float32)
    full[: len(parts)] = parts
    return np.asarray(full / np.linalg.norm(full), dtype=np.float32)


def embedded(conn: Connection, org: Org, text: str, at: Vectors, **changes: Any) -> UUID:
    memory = rows.insert_memory(conn, org, text, **changes)
    stamp = embedding.stamp_id(conn, STAMP)
    assert stamp is not None
    embedding.insert(conn, stamp, [memory], at[np.newaxis])
    return memory


def ask(database: Database, org: Org, text: str, **question: Any) -> Recall:
    with rows.door(database, rows.token(database, org, "agent"), "agent") as conn:
        return recall.recall(conn, Question(text, **question))


def test_words_alone_rank_by_words(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        near = rows.insert_memory(conn, org, "the release train ships on Friday")
        far = rows.insert_memory(conn, org, "Friday is quiet")
        rows.insert_memory(conn, org, "the office has plants")
    found = ask(shared, org, "when does the release ship: Friday?")
    assert found.mode == "lexical"
    assert [hit.memory_id for hit in found.hits] == [near, far]
    assert [hit.lexical_rank for hit in found.hits] == [1, 2]
    assert all(hit.vector_score is None and hit.vector_rank is None for hit in found.hits)
    assert found.hits[0].lexical_score > found.hits[1].lexical_score  # type: ignore[operator]
    assert found.hits[0].allowed == "org in default"


def test_both_legs_fuse_by_rank(shared: Database) -> None:
    """Weighted reciprocal ranks with k = 60: who stands in both lists comes first."""
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        both = embedded(conn, org, "ships on Friday", vector(1, 0.5))
        close = embedded(conn, org, "goes out at the end of the week", vector(1, 0.1))
        words = rows.insert_memory(conn, org, "Friday: nobody ships")
    found = ask(shared, org, "ships Friday", vector=vector(1), stamp=1)
    assert found.mode == "hybrid"
    ranks = {hit.memory_id: (hit.vector_rank, hit.lexical_rank) for hit in found.hits}
    assert ranks[close] == (1, None)
    assert ranks[both][0] == 2
    assert ranks[words][0] is None
    assert found.hits[0].memory_id == both
    for hit in found.hits:
        wanted = sum(1 / (60 + rank) for rank in ranks[hit.memory_id] if rank is not None)
        assert hit.combined_score == pytest.approx(wanted, rel=1e-5)
        if hit.memory_id == close:
            assert hit.vector_score == pytest.approx(float(vector(1) @ vector(1, 0.1)), abs=1e-5)


def test_nothing_that_matches_gives_the_newest_and_says_so(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        ids = [
            rows.insert_memory(conn, org, f"item {day}", observed_at=rows.OBSERVED + timedelta(days=day))
            for day in range(4)
        ]
    for text in ("zebra", "the of and", "", "!!! ((( & | ':*"):
        found = ask(shared, org, text, max_hits=2)
        assert found.mode == "newest"
        assert [hit.memory_id for hit in found.hits] == [ids[3], ids[2]]


@pytest.mark.parametrize("text", ["well-known e-mail", "it's \\ 'quoted' & <-> !not", "a" * 5_000, "日本語 émigré ☃"])
def test_no_text_breaks_the_search(shared: Database, text: str) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        memory = rows.insert_memory(conn, org, f"about {text[:1500]}")
    assert [hit.memory_id for hit in ask(shared, org, text).hits] == [memory]


def test_an_empty_org_answers_with_an_empty_recorded_recall(shared: Database) -> None:
    org = rows.fresh_org(shared)
    found = ask(shared, org, "anything")
    assert (found.mode, found.hits) == ("newest", ())


def test_rows_without_a_vector_are_counted(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        embedded(conn, org, "ships", vector(1))
        late = rows.insert_memory(conn, org, "not embedded yet")
        housekeeping.index_vectors(conn, 1)
    assert ask(shared, org, "ships", vector=vector(1), stamp=1).excluded == {"unembedded": 1}
    with shared.as_role("worker") as conn:
        embedding.insert(conn, 1, [late], vector(1)[np.newaxis])
        housekeeping.index_vectors(conn, 1)
    assert ask(shared, org, "ships", vector=vector(1), stamp=1).excluded == {}


def test_as_of_admits_what_was_valid_then_and_nothing_withdrawn(shared: Database) -> None:
    """Friday held from day 0 to 10, Monday from day 10 on."""
    org = rows.fresh_org(shared)
    start = rows.OBSERVED
    with shared.as_role("worker") as conn:
        old = rows.insert_memory(conn, org, "ships on Friday", observed_at=start)
        new = rows.insert_memory(conn, org, "ships on Monday", observed_at=start + timedelta(days=10))
        conn.execute("UPDATE memories SET status = 'superseded', superseded_by = %s, valid_to = %s WHERE id = %s",
                     (new, start + timedelta(days=10), old))  # fmt: skip
        rows.pending(conn, org, "ships when it waits", observed_at=start)
        rows.insert_memory(conn, org, "ships though expired", observed_at=start, expires_at=NOW - timedelta(days=1))
        for change in ("status = 'tombstoned'", rows.EMPTIED, "status = 'rejected', review_id = NULL"):
            make = rows.pending if "rejected" in change else rows.insert_memory
            gone = make(conn, org, f"ships with {change}", observed_at=start)
            with conn.transaction():
                conn.execute("UPDATE reviews SET closed_at = now(), decision = 'reject', decided_by = 'x'"
                             " WHERE memory_id = %s", (gone,))  # fmt: skip
                conn.execute(f"UPDATE memories SET {change} WHERE id = %s", (gone,))
        repeat = rows.insert_memory(conn, org, "ships on Friday", observed_at=start)
        conn.execute("UPDATE memories SET status = 'superseded', superseded_by = %s, valid_to = valid_from"
                     " WHERE id = %s",
                     (old, repeat))  # fmt: skip
    for as_of, wanted in [
        (None, {new}),
        (start - timedelta(days=1), set()),
        (start, {old}),
        (start + timedelta(days=9), {old}),
        (start + timedelta(days=10), {new}),
        (NOW, {new}),
    ]:
        found = ask(shared, org, "ships", as_of=as_of, max_hits=50)
        assert {hit.memory_id for hit in found.hits} == wanted, as_of


def test_every_recall_is_recorded_and_the_first_rendering_stands(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        memory = rows.insert_memory(conn, org, "ships on Friday")
    token, other = (rows.token(shared, org, "agent") for _ in range(2))
    with rows.door(shared, token, "agent") as conn:
        found = recall.recall(conn, Question("ships"))
    for holder, block in ((other, b"\x03" * 32), (token, b"\x01" * 32), (token, b"\x02" * 32)):
        with rows.door(shared, holder, "agent") as conn:
            recall.rendered(conn, found.recall_id, block, [memory, uuid4()])
    with shared.as_role("worker") as conn:
        row = conn.execute("SELECT * FROM recalls WHERE id = %s", (found.recall_id,)).fetchone()
    assert row is not None
    assert (row["org_id"], row["actor"], row["mode"]) == (org.id, "agent-1", "lexical")
    assert [hit["id"] for hit in row["hits"]] == [str(memory)]
    assert row["block_hash"] == b"\x01" * 32
    assert row["shown"] == [memory]  # and nothing that was no hit
    assert "Friday" not in str(row)


def test_a_read_only_transaction_recalls_nothing(shared: Database) -> None:
    """It could not be recorded."""
    org = rows.fresh_org(shared)
    token = rows.token(shared, org, "agent")
    with shared.as_role("agent") as conn, granted(conn, token):
        conn.execute("SET transaction_read_only = on")
        with pytest.raises(errors.ReadOnlySqlTransaction), conn.transaction():
            recall.recall(conn, Question("ships"))


def test_what_was_handed_out_counts_as_used(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        used, unused = rows.insert_memory(conn, org, "ships on Friday"), rows.insert_memory(conn, org, "the plants")
    ask(shared, org, "ships")
    with shared.as_role("worker") as conn:
        housekeeping.mark_used(conn, seconds=3_600)
        assert housekeeping.mark_used(conn, seconds=3_600) == 0
        found = conn.execute("SELECT id, last_used_at FROM memories WHERE org_id = %s", (org.id,)).fetchall()
    assert {row["id"]: row["last_used_at"] is not None for row in found} == {used: True, unused: False}


# --- Plans. The function's own statement is taken from auto_explain, as it ran.


def _fill(database: Database, org: Org, count: int) -> None:
    """Active memories with words of their own and vectors spread over the sphere, by the superuser's bulk insert."""
    with database.as_role("worker") as conn, rows.as_admin(database) as admin:
        run = rows.insert_run(conn, org)
        admin.execute("SELECT setseed(0.5)")
        admin.execute(
            """
            WITH fresh AS (
              INSERT INTO memories (id, org_id, run_id, tier, kind, status, scope_kind, content, content_hash,
                rationale, evidence, author_kind, author, provenance, high_stakes, importance, observed_at, valid_from,
                expires_at)
              SELECT uuidv7(), %(org)s, %(run)s, 'semantic', 'fact', 'active', 'org', 'word' || n || ' common',
                sha256(n::text::bytea), 'r', '[]', 'agent', 'a', '{}', false, 3, now(), now(), now() + interval '1 day'
              FROM generate_series(1, %(count)s) n RETURNING id)
            INSERT INTO embeddings_1 (memory_id, org_id, vector)
            SELECT id, %(org)s, ARRAY(SELECT random() - 0.5 FROM generate_series(1, 8 + 0 * length(id::text)))::vector
            FROM fresh
            """,
            {"org": org.id, "run": run, "count": count},
        )
        admin.execute("ANALYZE")


@contextmanager
def _explained(database: Database, token: str) -> Iterator[tuple[Connection, list[str]]]:
    """An agent's connection on which every statement's plan is noted, those inside functions included."""
    plans: list[str] = []
    with rows.as_admin(database) as admin:
        admin.execute("ALTER ROLE afterword_agent SET session_preload_libraries = auto_explain")
        for setting in ("log_min_duration = 0", "log_nested_statements = on", "log_level = notice"):
            admin.execute(f"ALTER ROLE afterword_agent SET auto_explain.{setting}")
    try:
        with connect(database.address("agent")) as conn, granted(conn, token):
            conn.add_notice_handler(lambda notice: plans.append(notice.message_primary or ""))
            yield conn, plans
    finally:
        with rows.as_admin(database) as admin:
            admin.execute("ALTER ROLE afterword_agent RESET ALL")


def _plans(database: Database, org: Org, question: Question) -> tuple[list[str], Recall]:
    """The plans of the statements that search, without their text, and what was found."""
    token = rows.token(database, org, "agent")
    with _explained(database, token) as (conn, plans):
        found = recall.recall(conn, question)
    return _searches(plans), found


def _searches(plans: list[str]) -> list[str]:
    return [plan.split("\nAggregate", 1)[1] for plan in plans if "FROM embeddings_1" in plan or "org_words(" in plan]


def test_words_are_found_by_the_text_index(database: Database) -> None:
    org, other = database.org("acme"), database.org("other")
    _fill(database, org, 3_000)
    _fill(database, other, 3_000)
    (plan,), found = _plans(database, org, Question("word77"))
    assert [hit.content for hit in found.hits] == ["word77 common"]
    assert "memories_search" in plan
    assert "Seq Scan on memories" not in plan


def test_a_large_org_is_searched_by_index_and_a_small_one_exactly(database: Database) -> None:
    """The code chooses: housekeeping switches an org above the size, and the plan follows; both find the nearest."""
    large, small = database.org("large"), database.org("small")
    _fill(database, large, 3_000)
    _fill(database, small, 150)
    with database.as_role("worker") as conn:
        while housekeeping.index_vectors(conn, 1, exact_rows=2_000, limit=1_000):
            pass
        switched = conn.execute("SELECT org_id FROM org_search WHERE ann").fetchall()
    assert [row["org_id"] for row in switched] == [large.id]
    for org, by_index in ((large, True), (small, False)):
        question = Question("", vector=vector(1, 1, 1), stamp=1, max_hits=10)
        (plan,), found = _plans(database, org, question)
        assert ("embeddings_1_vector_idx" in plan) is by_index
        assert len({hit.memory_id for hit in found.hits} & _nearest(database, org, question)) >= 9
        assert [hit.vector_rank for hit in found.hits] == list(range(1, 11))


def _nearest(database: Database, org: Org, question: Question) -> set[UUID]:
    with database.as_role("worker") as conn:
        conn.execute("SET enable_indexscan = off")
        found = conn.execute(
            "SELECT memory_id FROM embeddings_1 WHERE org_id = %s ORDER BY vector <=> %s LIMIT 10",
            (org.id, question.vector),
        )
        return {row["memory_id"] for row in found}


def test_what_is_mostly_for_others_gives_no_short_answer(database: Database) -> None:
    """The index gives up before it has met enough rows of this reader; then the org is searched exactly."""
    org = database.org("acme")
    _fill(database, org, 3_000)
    _index(database, exact_rows=2_000)
    with database.as_role("worker") as conn:
        conn.execute("UPDATE memories SET scope_kind = 'user', scope_value = 'u-' || right(content_hash::text, 2)")
    with rows.door(database, rows.token(database, org, "agent", user="u-7f"), "agent") as conn:
        found = recall.recall(conn, Question("", vector=vector(1, 1, 1), stamp=1, max_hits=5))
    with database.as_role("worker") as conn:
        nearest = conn.execute(
            "SELECT id FROM memories m JOIN embeddings_1 e ON e.memory_id = m.id WHERE scope_value = 'u-7f' "
            "ORDER BY e.vector <=> %s LIMIT 5", (vector(1, 1, 1),),
        ).fetchall()  # fmt: skip
    assert len(found.hits) == len(nearest) == 5
    assert len({hit.memory_id for hit in found.hits} & {row["id"] for row in nearest}) >= 4


def test_an_org_that_is_small_beside_the_others_in_the_index_is_searched_exactly(database: Database) -> None:
    """It came into the index while that was small; now the index would meet ten others before one of its own."""
    medium, large = database.org("medium"), database.org("large")
    question = Question("", vector=vector(1, 1, 1), stamp=1, max_hits=10)
    _fill(database, medium, 300)
    _index(database, exact_rows=200)
    assert "embeddings_1_vector_idx" in _plans(database, medium, question)[0][0]
    _fill(database, large, 3_000)
    _index(database, exact_rows=200)
    assert "embeddings_1_vector_idx" in _plans(database, large, question)[0][0]
    (plan,), found = _plans(database, medium, question)
    assert "embeddings_1_vector_idx" not in plan
    assert {hit.memory_id for hit in found.hits} == _nearest(database, medium, question)


def _index(database: Database, *, exact_rows: int) -> None:
    with database.as_role("worker") as conn:
        while housekeeping.index_vectors(conn, 1, exact_rows=exact_rows, limit=3_000):
            pass


@pytest.mark.parametrize("wanted", ["auto", "force_generic_plan"])
def test_the_plan_is_made_anew_for_each_size(database: Database, wanted: str) -> None:
    """Many calls of a prepared statement on one connection: a generic plan would pin one path for all orgs."""
    large, small = database.org("large"), database.org("small")
    _fill(database, large, 3_000)
    _fill(database, small, 50)
    _index(database, exact_rows=2_000)
    tokens = [rows.token(database, org, "agent") for org in (large, small)]
    with _explained(database, tokens[0]) as (conn, plans):
        conn.execute("SELECT set_config('plan_cache_mode', %s, true)", (wanted,))
        for turn in range(16):
            conn.execute("SELECT set_config('afterword.token', %s, true)", (tokens[turn % 2],))
            conn.execute("SELECT * FROM recall('', %b, 1)", (Vector(vector(1)),), prepare=True)
    used = ["embeddings_1_vector_idx" in plan for plan in _searches(plans)]
    assert used == [True, False] * 8


def test_an_org_switched_in_one_stamp_is_not_searched_by_index_in_another(database: Database) -> None:
    """Rows of the new space are not in its index yet; looking only there would find nothing."""
    org = database.org("acme")
    _fill(database, org, 300)
    second = register_stamp(database.admin, Stamp("test", "words", "2", 8))
    with database.as_role("worker") as conn:
        while housekeeping.index_vectors(conn, 1, exact_rows=100):
            pass
        memory = rows.insert_memory(conn, org, "the new one")
        with rows.as_admin(database) as admin:  # as a backfill begun before the switch left it
            admin.execute(
                f"INSERT INTO embeddings_{second} VALUES (%s, %s, '[1,0,0,0,0,0,0,0]', false)", (memory, org.id)
            )
    found = ask(database, org, "", vector=vector(1), stamp=second)
    assert [hit.memory_id for hit in found.hits if hit.vector_rank] == [memory]


def test_a_vector_of_another_dimension_is_refused(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        embedded(conn, org, "ships", vector(1))
    with pytest.raises(psycopg.DataError, match="dimensions"):
        ask(shared, org, "ships", vector=np.ones(9, dtype=np.float32), stamp=1)


@pytest.mark.parametrize(
    ("text", "question", "refusal"),
    [
        ("x", {"vector": vector(1), "stamp": None}, "needs the stamp"),
        ("x", {"vector": vector(1), "stamp": 999}, "there is no stamp 999"),
        ("x", {"max_hits": 0}, "1 to 100 hits"),
        ("x", {"max_hits": 101}, "1 to 100 hits"),
        ("lorem " * 200_000, {}, "at most 10,000 characters"),
    ],
)
def test_a_question_no_recall_answers_is_refused_in_words(
    shared: Database, text: str, question: dict[str, Any], refusal: str
) -> None:
    with pytest.raises(QuestionRefused, match=refusal):
        ask(shared, rows.fresh_org(shared), text, **question)
