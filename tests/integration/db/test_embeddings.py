"""Embeddings: one table a stamp, only what is active in it, wide vectors included; and the neighbours found there."""

from __future__ import annotations

import json
from uuid import UUID

import numpy as np
import pytest
from psycopg import errors, sql

from db import consolidation, embedding, housekeeping, recall
from db.connect import Connection
from db.embedding import on_stamp
from db.migrate import Storage, register_stamp
from db.recall import Question
from pipeline.embedding.port import Stamp, Vectors
from pipeline.errors import SettingError
from tests.integration.db import rows
from tests.services import STAMP, Database


def unit(dimension: int, *parts: float) -> Vectors:
    full = np.zeros(dimension, dtype=np.float32)
    full[: len(parts)] = parts
    return np.asarray(full / np.linalg.norm(full), dtype=np.float32)


def held_in(conn: Connection, stamp: int) -> set[UUID]:
    table = sql.Identifier(f"embeddings_{stamp}")
    return {row["memory_id"] for row in conn.execute(sql.SQL("SELECT memory_id FROM {}").format(table))}


def test_registering_twice_is_one_stamp(database: Database) -> None:
    wanted = Stamp("test", "words", "2", 8)
    first, again = register_stamp(database.admin, wanted), register_stamp(database.admin, wanted)
    assert first == again != register_stamp(database.admin, STAMP)
    with database.as_role("worker") as conn:
        assert embedding.stamp_id(conn, wanted) == first
        assert embedding.stamp_id(conn, Stamp("test", "words", "3", 8)) is None
        assert embedding.current_stamp(conn) == (1, STAMP)


def test_a_space_is_stored_one_way(database: Database) -> None:
    half = Stamp("test", "half", "1", 8)
    first = register_stamp(database.admin, half, "halfvec")
    assert register_stamp(database.admin, half) == first == register_stamp(database.admin, half, "halfvec")
    with pytest.raises(SettingError, match=f"space {first} is registered and stored otherwise"):
        register_stamp(database.admin, half, "vector")


@pytest.mark.parametrize("part", [("other", "words", "1", 8), ("test", "other", "1", 8), ("test", "words", "x", 8),
                                  ("test", "words", "1", 9)])  # fmt: skip
def test_each_part_of_a_stamp_makes_a_space_of_its_own(database: Database, part: tuple[str, str, str, int]) -> None:
    second = register_stamp(database.admin, Stamp(*part))
    org = database.org("acme")
    with database.as_role("worker") as conn:
        memory = rows.insert_memory(conn, org, "ships")
        embedding.insert(conn, second, [memory], unit(part[3], 1)[np.newaxis])
        assert held_in(conn, second) == {memory}
        assert held_in(conn, 1) == set()


def test_only_what_is_active_gets_a_vector(shared: Database) -> None:
    """By the workers' own write nothing happens, by a hand-written INSERT the database refuses."""
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        waiting, erased, gone = rows.pending(conn, org, "a"), *(rows.insert_memory(conn, org, text) for text in "bc")
        conn.execute(f"UPDATE memories SET {rows.EMPTIED} WHERE id = %s", (erased,))
        conn.execute("UPDATE memories SET status = 'tombstoned' WHERE id = %s", (gone,))
        for memory in (waiting, erased, gone):
            embedding.insert(conn, 1, [memory], unit(8, 1)[np.newaxis])
        assert held_in(conn, 1).isdisjoint({waiting, erased, gone})
        with pytest.raises(errors.CheckViolation, match="a pending memory is never embedded"):
            conn.execute("INSERT INTO embeddings_1 (memory_id, org_id, vector) VALUES (%s, %s, %s)",
                         (waiting, org.id, unit(8, 1)))  # fmt: skip
        with pytest.raises(errors.InsufficientPrivilege):
            conn.execute("UPDATE embeddings_1 SET memory_id = %s", (waiting,))


def test_missing_names_the_runs_memories_and_those_a_verdict_queued(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        run = rows.insert_run(conn, org)
        own = rows.insert_memory(conn, org, "own", run=run)
        rows.pending(conn, org, "waits", run=run)
        other = rows.insert_memory(conn, org, "approved")
        verdict = rows.insert_row(conn, org, {"kind": "verdict", "state": "redacted", "memory_id": other})
    with shared.as_role("worker") as conn:
        found = {(item.id, item.run_id) for item in embedding.missing(conn, 1, [run, verdict])}
        assert found == {(own, run), (other, verdict)}
        embedding.insert(conn, 1, [own, other], np.stack([unit(8, 1), unit(8, 0, 1)]))
        embedding.insert(conn, 1, [own], unit(8, 0, 0, 1)[np.newaxis])  # the first stands
        assert embedding.missing(conn, 1, [run, verdict]) == []
        embedding.insert(conn, 1, [], np.zeros((0, 8), dtype=np.float32))


@pytest.mark.parametrize(("dimension", "storage", "type_", "indexed"), [
    (2_000, None, "vector", True), (2_001, None, "halfvec", True), (4_000, None, "halfvec", True),
    (4_001, None, "halfvec", False), (8, "halfvec", "halfvec", True), (2_001, "vector", "vector", False),
])  # fmt: skip
def test_wide_vectors_are_stored_found_and_indexed(
    database: Database, dimension: int, storage: Storage | None, type_: str, indexed: bool
) -> None:
    stamp = register_stamp(database.admin, Stamp("test", "wide", "1", dimension), storage)
    org = database.org("acme")
    with database.as_role("worker") as conn:
        near, far = rows.insert_memory(conn, org, "near"), rows.insert_memory(conn, org, "far")
        vectors = np.stack([unit(dimension, 1, 0.1), unit(dimension, 0.2, 1)])
        embedding.insert(conn, stamp, [near, far], vectors)
        made = conn.execute(
            "SELECT format_type(atttypid, atttypmod) AS type, EXISTS (SELECT FROM pg_indexes WHERE tablename = %(t)s"
            " AND indexdef LIKE '%%hnsw%%') AS indexed FROM pg_attribute"
            " WHERE attname = 'vector' AND attrelid = %(t)s::regclass",
            {"t": f"embeddings_{stamp}"},
        ).fetchone()
        found = consolidation.neighbours(conn, {far: ()}, stamp)
        assert housekeeping.index_vectors(conn, stamp, exact_rows=1) == 2
    assert made == {"type": f"{type_}({dimension})", "indexed": indexed}
    assert [view.id for view in found[far]] == [near]
    with rows.door(database, rows.token(database, org, "agent"), "agent") as conn:
        question = Question("", vector=unit(dimension, 1), stamp=stamp)
        hits = recall.recall(conn, question).hits
    assert [hit.memory_id for hit in hits] == [near, far]
    assert hits[0].vector_score == pytest.approx(float(unit(dimension, 1) @ vectors[0]), abs=1e-3)


def test_neighbours_are_the_orgs_own_scope_and_earlier(shared: Database) -> None:
    org, other = rows.fresh_org(shared), rows.fresh_org(shared)
    mine = {"scope": rows.Scope(rows.ScopeKind.USER, "u-1")}
    with shared.as_role("worker") as conn:
        made = [
            rows.insert_memory(conn, place, text, **changes)
            for place, text, changes in (
                (org, "ships on Friday", {}),
                (other, "ships on Friday night", {}),
                (org, "ships on Friday noon", mine),
                (org, "ships on Friday morning", {}),
                (org, "ships on Friday evening", {}),
            )
        ]
        embedding.insert(conn, 1, made, np.stack([unit(8, 1, n / 10) for n in range(5)]))
        for stamp in (1, None):
            found = consolidation.neighbours(conn, {made[3]: ("ships Friday",)}, stamp)
            assert [view.id for view in found[made[3]]] == [made[0]], stamp
        repeat = rows.insert_memory(conn, org, "Ships on  FRIDAY")
        for stamp in (1, None):  # the same words need no vector
            assert [view.id for view in consolidation.neighbours(conn, {repeat: ()}, stamp)[repeat]] == [made[0]]


def test_neighbours_of_a_large_org_are_read_by_index(database: Database) -> None:
    """Right after the switch, when the statistics still say that nothing is in the index."""
    org = database.org("acme")
    with database.as_role("worker") as conn, rows.as_admin(database) as admin:
        memories = [rows.insert_memory(conn, org, f"item {number}") for number in range(600)]
        points = np.random.default_rng(7).normal(size=(600, 8)).astype(np.float32)
        embedding.insert(conn, 1, memories, points / np.linalg.norm(points, axis=1, keepdims=True))
        admin.execute("ANALYZE")
        while housekeeping.index_vectors(conn, 1, exact_rows=500):
            pass
        with conn.transaction():
            conn.execute("SET LOCAL hnsw.iterative_scan = 'relaxed_order'")
            conn.execute("SET LOCAL enable_sort = off")
            plan = conn.execute(sql.SQL("EXPLAIN (FORMAT JSON) ") + on_stamp("neighbours", 1),
                                {"ids": memories[-1:], "stamp": 1, "exact_rows": 500}).fetchone()  # fmt: skip
        assert plan is not None
        assert "embeddings_1_vector_idx" in json.dumps(plan["QUERY PLAN"])
        found = consolidation.neighbours(conn, {memories[-1]: ()}, 1)[memories[-1]]
        with conn.transaction():
            conn.execute("SET LOCAL enable_indexscan = off")
            nearest = conn.execute(
                "SELECT e.memory_id FROM embeddings_1 e, embeddings_1 n WHERE n.memory_id = %s"
                " AND e.memory_id <> n.memory_id ORDER BY e.vector <=> n.vector LIMIT 3",
                (memories[-1],),
            ).fetchall()
    assert {row["memory_id"] for row in nearest} <= {view.id for view in found}


def test_housekeeping_moves_an_org_into_the_index_in_batches(database: Database) -> None:
    """Below the size nothing moves; above it batch by batch; the org is switched once all are in; stragglers follow."""
    org, small = database.org("acme"), database.org("small")
    with database.as_role("worker") as conn:
        memories = [rows.insert_memory(conn, org, f"item {number}") for number in range(5)]
        embedding.insert(conn, 1, memories, np.stack([unit(8, 1, number) for number in range(5)]))
        embedding.insert(conn, 1, [rows.insert_memory(conn, small, "one")], unit(8, 1)[np.newaxis])
        assert housekeeping.index_vectors(conn, 1, exact_rows=5) == 0
        moved = [housekeeping.index_vectors(conn, 1, exact_rows=4, limit=2) for _ in range(4)]
        assert moved == [2, 2, 1, 0]
        assert _search(conn) == {org.id: (True, 5), small.id: (False, 1)}
        late = rows.insert_memory(conn, org, "late")
        embedding.insert(conn, 1, [late], unit(8, 1)[np.newaxis])
        assert conn.execute("SELECT ann FROM embeddings_1 WHERE memory_id = %s", (late,)).fetchone() == {"ann": True}
        conn.execute("UPDATE embeddings_1 SET ann = false WHERE memory_id = %s", (late,))  # written during the switch
        assert housekeeping.index_vectors(conn, 1, exact_rows=100) == 1


def _search(conn: Connection) -> dict[int, tuple[bool, int]]:
    return {row["org_id"]: (row["ann"], row["embedded"]) for row in conn.execute("SELECT * FROM org_search")}


def test_the_vectors_of_what_is_gone_go_and_an_emptied_org_counts_nothing(database: Database) -> None:
    org = database.org("acme")
    with database.as_role("worker") as conn:
        kept, gone, bare = (rows.insert_memory(conn, org, text) for text in ("kept", "gone", "bare"))
        embedding.insert(conn, 1, [kept, gone], np.stack([unit(8, 1), unit(8, 0, 1)]))
        conn.execute("UPDATE memories SET status = 'tombstoned' WHERE id = %s", (gone,))
        housekeeping.index_vectors(conn, 1)
        assert held_in(conn, 1) == {kept}
        counted = "SELECT embedded, missing FROM org_search WHERE org_id = %s"
        assert conn.execute(counted, (org.id,)).fetchone() == {"embedded": 1, "missing": 1}
        conn.execute("UPDATE memories SET status = 'tombstoned' WHERE id = ANY (%s)", ([kept, bare],))
        housekeeping.index_vectors(conn, 1)
        assert conn.execute(counted, (org.id,)).fetchone() == {"embedded": 0, "missing": 0}
