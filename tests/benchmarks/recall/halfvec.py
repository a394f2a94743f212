"""python -m tests.benchmarks.recall.halfvec: what half precision costs, beside `vector`, over the same rows.

recall@10 against the exact answer in float32: of an exact search in halfvec, and of an HNSW search in each, with the
index as `embed register` makes it and the candidates as recall asks for them at least. Sizes are those of the table.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import psycopg
from pgvector import Vector
from pgvector.psycopg import register_vector
from psycopg import sql

from pipeline.embedding.port import Vectors
from tests.benchmarks.recall.population import Population
from tests.services import start_postgres

K = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--questions", type=int, default=200)
    options = parser.parse_args()
    rng, of = np.random.default_rng(5), Population(options.rows)
    rows, questions = of.points(rng, options.rows), of.points(rng, options.questions)
    best = np.argsort(-(questions @ rows.T), axis=1)[:, :K]
    with tempfile.TemporaryDirectory() as home:
        server = start_postgres(Path(home))
        try:
            with psycopg.connect(server.url("postgres"), autocommit=True) as conn:
                conn.execute("CREATE EXTENSION IF NOT EXISTS vector")
                register_vector(conn)
                for kind in ("vector", "halfvec"):
                    _measure(conn, kind, rows, questions, best)
        finally:
            server.stop()


def _measure(conn: psycopg.Connection, kind: str, rows: Vectors, questions: Vectors, best: np.ndarray) -> None:
    table = sql.Identifier(f"as_{kind}")
    conn.execute(sql.SQL("CREATE TABLE {} (id integer, vector {}({}))").format(
        table, sql.SQL(kind), sql.Literal(rows.shape[1])))  # fmt: skip
    with conn.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(table)) as copy:
        for number, row in enumerate(rows):
            copy.write_row((number, "[" + ",".join(map(str, row)) + "]"))
    exact = _recall(conn, table, questions, best)
    conn.execute(sql.SQL("CREATE INDEX ON {} USING hnsw (vector {}_cosine_ops) WITH (m = 24, ef_construction = 128)")
                 .format(table, sql.SQL(kind)))  # fmt: skip
    conn.execute("SET hnsw.ef_search = 100")
    conn.execute("SET enable_seqscan = off")
    indexed = _recall(conn, table, questions, best)
    sizes = conn.execute("SELECT pg_table_size(%(t)s::regclass), pg_indexes_size(%(t)s::regclass)",
                         {"t": f"as_{kind}"}).fetchone()  # fmt: skip
    assert sizes is not None
    print(f"{kind}: recall@{K} exact {exact:.4f}, by index {indexed:.4f}; "
          f"table {sizes[0] / 2**20:.0f} MB, index {sizes[1] / 2**20:.0f} MB")  # fmt: skip
    conn.execute("RESET enable_seqscan")


def _recall(conn: psycopg.Connection, table: sql.Identifier, questions: Vectors, best: np.ndarray) -> float:
    asked = sql.SQL("SELECT id FROM {} ORDER BY vector <=> %s LIMIT %s").format(table)
    found = [{row[0] for row in conn.execute(asked, (Vector(question), K))} for question in questions]
    return float(np.mean([len(got & set(map(int, due))) / K for got, due in zip(found, best, strict=True)]))


if __name__ == "__main__":
    main()
