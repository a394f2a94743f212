"""The texts and vectors of all sides, and each side's table of them: bulk-loaded, so that only searching is timed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psycopg
from pgvector import Vector
from pgvector.psycopg import register_vector
from psycopg import sql
from psycopg.types.json import Jsonb

from pipeline.embedding.port import Vectors
from tests.benchmarks.recall.population import Population, id_of, text, words
from tests.benchmarks.recording import Recording

USER = "benchmark"
_HNSW = "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = %s AND indexdef LIKE '%%USING hnsw%%'"
_AT = "2026-11-01T00:00:00+00:00"
WORDS_ASKED = 5


@dataclass(frozen=True)
class Rows:
    """One org's memories, the questions asked of them, and the ten nearest texts of each."""

    name: str
    texts: list[str]
    vectors: Vectors
    asked: list[str]
    asked_vectors: Vectors
    nearest: list[set[str]]


def population_of(size: int) -> Population:
    return Population(size, orgs=1, preferences=0)


def rows(size: int, questions: int, seed: int = 17) -> Rows:
    """Of the same population that recall is measured on, in one org."""
    population = population_of(size)
    parts = list(population.parts())
    texts = [text(ranks) for part in parts for ranks in part.words]
    vectors = np.concatenate([part.vectors for part in parts])
    rng = np.random.default_rng((seed, size))
    points = population.points(rng, questions)
    asked = [text(ranks[1 : 1 + WORDS_ASKED]) for ranks in words(rng, questions)]
    nearest = [{texts[row] for row in np.argsort(-(vectors @ point))[:10]} for point in points]
    return Rows(f"rows_{size}", texts, vectors, asked, points, nearest)


def save(folder: Path, sets: Sequence[Rows], recording: Recording) -> None:
    """As the peers' look-up reads them: what is added, and what is asked."""
    _save(folder / "added", recording.texts, recording.vectors)
    _save(
        folder / "asked", [said for one in sets for said in one.asked], np.concatenate([x.asked_vectors for x in sets])
    )


def _save(path: Path, texts: Sequence[str], vectors: Vectors) -> None:
    path.with_suffix(".json").write_text(json.dumps(texts))
    np.save(path.with_suffix(".npy"), vectors)


@contextmanager
def _loading(conninfo: str, table: str) -> Iterator[psycopg.Connection]:
    """A connection to copy into `table`, whose HNSW index is built again afterwards, as it was made."""
    with psycopg.connect(conninfo, autocommit=True) as conn:
        register_vector(conn)
        ((index, made),) = conn.execute(_HNSW, (table,)).fetchall()
        conn.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(index)))
        yield conn
        conn.execute("SET maintenance_work_mem = '1GB'")
        conn.execute(made)
        conn.execute("VACUUM ANALYZE")


def load_mem0(conninfo: str, one: Rows) -> None:
    """Into the table it made for this collection, as its own `add` leaves a row."""
    with _loading(conninfo, one.name) as conn:
        copied = sql.SQL("COPY {} (id, vector, payload) FROM STDIN (FORMAT binary)").format(sql.Identifier(one.name))
        with conn.cursor() as cursor, cursor.copy(copied) as copy:
            copy.set_types(["uuid", "vector", "jsonb"])
            for row, (said, vector) in enumerate(zip(one.texts, one.vectors, strict=True)):
                payload = {"data": said, "text_lemmatized": said, "user_id": USER, "role": "user",
                           "created_at": _AT, "updated_at": _AT, "hash": f"{row:032x}"}  # fmt: skip
                copy.write_row((id_of(row), Vector(vector), Jsonb(payload)))


def load_langgraph(conninfo: str, one: Rows) -> None:
    """Into its two tables, as its own `put` leaves an item."""
    prefix = f"{USER}.{one.name}"
    with _loading(conninfo, "store_vectors") as conn:
        with conn.cursor() as cursor, cursor.copy("COPY store (prefix, key, value) FROM STDIN (FORMAT binary)") as copy:
            copy.set_types(["text", "text", "jsonb"])
            for row, said in enumerate(one.texts):
                copy.write_row((prefix, str(id_of(row)), Jsonb({"text": said})))
        statement = "COPY store_vectors (prefix, key, field_name, embedding) FROM STDIN (FORMAT binary)"
        with conn.cursor() as cursor, cursor.copy(statement) as copy:
            copy.set_types(["text", "text", "text", "vector"])
            for row, vector in enumerate(one.vectors):
                copy.write_row((prefix, str(id_of(row)), "text", Vector(vector)))
