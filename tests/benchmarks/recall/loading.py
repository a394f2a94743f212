"""A population in the shipped schema, as the pipeline and housekeeping would have left it.

Rows are copied in with triggers off and plain indexes built afterwards, since a million runs through the pipeline would
take hours; what recall reads is the same. Not written: transcripts, and the ledger's entries of these rows.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray
from psycopg import sql

from db import housekeeping
from db.connect import Connection, connect
from tests.benchmarks.recall.population import DIMENSION, USERS, Part, Population, age_of, id_of, text
from tests.services import Database

STAMP_ID = 1
EMBEDDINGS = "embeddings_1"
SUBJECTS = 20
"""Of each org; a tenth of its memories are about one of them."""
DAYS = 80
START = datetime.now(UTC) - timedelta(days=DAYS)
_ORGS = "INSERT INTO orgs (name) SELECT 'org-' || x FROM generate_series(1, %(orgs)s) x"
_NAMESPACES = "INSERT INTO namespaces SELECT id, 'default' FROM orgs ON CONFLICT DO NOTHING"
_RUNS = """INSERT INTO runs (id, org_id, kind, state, due_at, event_key, content_hash, session, agent, event, ended_at)
  SELECT gen_random_uuid(), id, 'session', 'consolidated', NULL, name, sha256(name::bytea), name, 'coder', '{}', now()
  FROM orgs RETURNING org_id, id"""
_COPY = """COPY memories (id, org_id, run_id, tier, kind, status, scope_kind, scope_value, content, content_hash,
  rationale, evidence, subject_type, subject_id, author_kind, author, provenance, confidence, high_stakes, importance,
  observed_at, valid_from, expires_at) FROM STDIN"""
_PLAIN_INDEXES = """SELECT c.relname AS name, pg_get_indexdef(i.indexrelid) AS made FROM pg_index i
  JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = %s::regclass
  AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid)"""
_VECTOR_ROW = np.dtype([
    ("fields", ">i2"), ("id_length", ">i4"), ("id", "V16"), ("org_length", ">i4"), ("org", ">i4"),
    ("vector_length", ">i4"), ("dimension", ">i2"), ("unused", ">i2"), ("vector", ">f4", (DIMENSION,)),
    ("ann_length", ">i4"), ("ann", "u1"),
])  # fmt: skip
_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_TRAILER = b"\xff\xff"


@dataclass(frozen=True)
class Loaded:
    """Seconds of each step, and bytes of each table and index."""

    seconds: dict[str, float]
    bytes_of: dict[str, int]


def load(database: Database, population: Population, *, exact_rows: int = housekeeping.EXACT_ROWS) -> Loaded:
    """The population, indexed; orgs are numbered by their rank in size, from 1."""
    seconds: dict[str, float] = {}
    by_index = indexed(population.sizes, exact_rows)
    with connect(database.admin) as conn:
        conn.execute("SET session_replication_role = replica")
        conn.execute("SET maintenance_work_mem = '3GB'")
        runs = _make_orgs(conn, population.orgs)
        indexes = {name: _drop_indexes(conn, name) for name in ("memories", EMBEDDINGS)}
        for part in population.parts():
            with _timed(seconds, "memories"):
                _copy_memories(conn, population, part, runs)
            with _timed(seconds, "vectors"):
                _copy_vectors(conn, part, by_index)
        for made in indexes["memories"]:
            with _timed(seconds, "memory indexes"):
                conn.execute(made)
        for made in indexes[EMBEDDINGS]:
            with _timed(seconds, "hnsw index" if "hnsw" in made.as_string() else "vector index by org"):
                conn.execute(made)
        with _timed(seconds, "vacuum and analyze"):
            conn.execute("VACUUM ANALYZE")
    with database.as_role("worker") as conn, _timed(seconds, "housekeeping's round"):
        housekeeping.index_vectors(conn, STAMP_ID, exact_rows=exact_rows)
    with connect(database.admin) as conn:
        conn.execute("CHECKPOINT")
        return Loaded(seconds, _sizes(conn))


def indexed(sizes: NDArray[np.int64], exact_rows: int) -> NDArray[np.bool_]:
    """The orgs that housekeeping would have brought into the index, the largest first; by the rule of its queries."""
    inside = 0
    chosen = np.zeros(len(sizes), bool)
    for rank in np.argsort(-sizes, kind="stable").tolist():
        chosen[rank] = sizes[rank] > exact_rows and sizes[rank] ** 2 > 200 * inside
        inside += int(sizes[rank]) * int(chosen[rank])
    return chosen


@contextmanager
def _timed(seconds: dict[str, float], step: str):  # type: ignore[no-untyped-def]
    started = time.monotonic()
    yield
    seconds[step] = seconds.get(step, 0.0) + time.monotonic() - started


def _make_orgs(conn: Connection, orgs: int) -> dict[int, str]:
    """The run every memory of an org belongs to, by org."""
    conn.execute(_ORGS, {"orgs": orgs})
    conn.execute(_NAMESPACES)
    return {row["org_id"]: str(row["id"]) for row in conn.execute(_RUNS)}


def _drop_indexes(conn: Connection, table: str) -> list[sql.SQL]:
    found = conn.execute(_PLAIN_INDEXES, (table,)).fetchall()
    for row in found:
        conn.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(row["name"])))
    return [sql.SQL(row["made"]) for row in found]


def _copy_memories(conn: Connection, population: Population, part: Part, runs: dict[int, str]) -> None:
    with conn.cursor() as cursor, cursor.copy(_COPY) as copy:
        copy.write("".join(_lines(population, part, runs)))


def _lines(population: Population, part: Part, runs: dict[int, str]) -> Iterable[str]:
    for place, (rank, ranks) in enumerate(zip(part.orgs.tolist(), part.words, strict=True)):
        number, org = part.first + place, rank + 1
        user = f"user-{number // 5 % USERS}" if population.is_preference(number) else None
        kind, scope = ("preference", f"user\t{user}") if user else ("fact", "org\t\\N")
        subject = f"person\tsubject-{number // 10 % SUBJECTS}" if number % 10 == 1 else "\\N\t\\N"
        at = START + timedelta(days=DAYS * age_of(number))
        yield (
            f"{id_of(number)}\t{org}\t{runs[org]}\tsemantic\t{kind}\tactive\t{scope}\t{text(ranks)}\t"
            f"\\\\x{number:064x}\tIt was said.\t[]\t{subject}\tagent\tcoder\t{{}}\t0.9\tf\t3\t{at}\t{at}\t"
            f"{at + timedelta(days=DAYS + 10)}\n"
        )


def _copy_vectors(conn: Connection, part: Part, by_index: NDArray[np.bool_]) -> None:
    rows = np.zeros(len(part.orgs), _VECTOR_ROW)
    rows["fields"], rows["id_length"], rows["org_length"] = 4, 16, 4
    rows["vector_length"], rows["dimension"], rows["ann_length"] = 4 + 4 * DIMENSION, DIMENSION, 1
    rows["id"] = np.array([id_of(part.first + place).bytes for place in range(len(rows))], "V16")
    rows["org"], rows["vector"], rows["ann"] = part.orgs + 1, part.vectors, by_index[part.orgs]
    copied = sql.SQL("COPY {} (memory_id, org_id, vector, ann) FROM STDIN (FORMAT binary)")
    with conn.cursor() as cursor, cursor.copy(copied.format(sql.Identifier(EMBEDDINGS))) as copy:
        copy.write(_HEADER + rows.tobytes() + _TRAILER)


def _sizes(conn: Connection) -> dict[str, int]:
    rows = conn.execute(
        "SELECT relname AS name, pg_relation_size(oid) AS bytes FROM pg_class WHERE relkind IN ('r', 'i') "
        "AND relnamespace = 'afterword'::regnamespace AND pg_relation_size(oid) > 1e6 ORDER BY 2 DESC"
    )
    return {row["name"]: row["bytes"] for row in rows}
