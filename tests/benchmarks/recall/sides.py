"""Who answers: the recall call as an agent's login makes it, and the hand-written queries it is compared with.

A hand-written query has the org as an ordinary predicate and gives the ids and texts of what a bearer without user may
see. It runs as the superuser, past row-level security, in autocommit, records nothing, and is planned for its org.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray
from pgvector import Vector

from db import tokens
from db.connect import Connection, connect, granted
from db.recall import Question, recall
from db.tokens import Bearer
from tests.benchmarks.recall.loading import DAYS, STAMP_ID, START
from tests.benchmarks.recall.population import row_of
from tests.benchmarks.recall.questions import EARLY, HITS, Asked
from tests.services import Database

EARLY_SIDE = "recall, as of the second day"
THEN = START + timedelta(days=DAYS * EARLY)
_SEEN = "m.status = 'active' AND m.expires_at > now() AND m.erased_at IS NULL AND m.scope_kind = 'org'"
_EXACT = f"""SELECT m.id, m.content, x.distance FROM
  (SELECT memory_id, vector <=> %(vector)b AS distance FROM embeddings_1 WHERE org_id = %(org)s ORDER BY 2 LIMIT 40) x
  JOIN memories m ON m.id = x.memory_id WHERE {_SEEN} ORDER BY x.distance LIMIT 10"""
_JOINED = f"""SELECT m.id, m.content, e.vector <=> %(vector)b AS distance FROM embeddings_1 e
  JOIN memories m ON m.id = e.memory_id WHERE e.org_id = %(org)s AND {_SEEN} ORDER BY 3 LIMIT 10"""
_INDEXED = f"""SELECT m.id, m.content, e.vector <=> %(vector)b AS distance FROM embeddings_1 e
  JOIN memories m ON m.id = e.memory_id
  WHERE e.org_id = %(org)s AND e.ann AND {_SEEN} ORDER BY e.vector <=> %(vector)b LIMIT %(limit)s"""  # fmt: skip


@dataclass
class Told:
    """Milliseconds and recall@10 of each answer, and how many gave fewer than there were."""

    milliseconds: list[float] = field(default_factory=list)
    recalls: list[float] = field(default_factory=list)
    short: int = 0

    def add(self, seconds: float, rows: list[int], nearest: NDArray[np.int64]) -> None:
        self.milliseconds.append(1000 * seconds)
        self.short += len(rows) < len(nearest)
        if len(nearest):
            self.recalls.append(len(set(rows[:HITS]) & set(nearest.tolist())) / len(nearest))

    @property
    def p50(self) -> float:
        return float(np.percentile(self.milliseconds, 50))

    @property
    def p99(self) -> float:
        return float(np.percentile(self.milliseconds, 99))

    @property
    def recall(self) -> float:
        return float(np.mean(self.recalls or [1.0]))


Answer = Callable[[Asked], tuple[float, list[int]] | None]
"""Seconds, and the rows answered, best first; None where nobody would ask this way."""


@contextmanager
def afterword(database: Database, orgs: set[int]) -> Iterator[Mapping[str, Answer]]:
    """The recall call: alone in its granted transaction, with that transaction, and with words beside the vector."""
    with database.as_role("operator") as conn:
        bearer = Bearer("agent", "benchmark")
        minted = {org: tokens.mint(conn, org, bearer, lives_seconds=86_400) for org in orgs}
    with database.as_role("agent") as conn:

        def ask(asked: Asked, text: str, *, whole: bool = False, early: bool = False) -> tuple[float, list[int]]:
            question = Question(text, asked.vector, STAMP_ID, HITS, THEN if early else None)
            started = time.perf_counter()
            with granted(conn, minted[asked.org]):
                called = time.perf_counter()
                found = recall(conn, question)
                answered = time.perf_counter()
            seconds = time.perf_counter() - started if whole else answered - called
            return seconds, [row_of(hit.memory_id) for hit in found.hits]

        yield {
            "recall": lambda asked: ask(asked, ""),
            EARLY_SIDE: lambda asked: ask(asked, "", early=True),
            "recall and its transaction": lambda asked: ask(asked, "", whole=True),
            "hybrid": lambda asked: ask(asked, asked.words),
            "hybrid, a common word": lambda asked: ask(asked, asked.common),
        }


@contextmanager
def hand_written(database: Database, *, in_index: NDArray[np.bool_]) -> Iterator[Mapping[str, Answer]]:
    """Exact before and after the join, and by index in six ways, each on a connection set once for it."""
    with ExitStack() as stack:
        exact, one, two, four = (stack.enter_context(connect(database.admin)) for _ in range(4))
        for conn, ef in ((one, 100), (two, 200), (four, 400)):
            conn.execute("SELECT set_config('hnsw.iterative_scan', 'relaxed_order', false)")
            conn.execute("SELECT set_config('hnsw.ef_search', %s, false)", (str(ef),))
            conn.execute("SET enable_sort = off")

        def run(conn: Connection, statement: str, limit: int, asked: Asked) -> tuple[float, list[int]]:
            params = {"vector": Vector(asked.vector), "org": asked.org, "limit": limit}
            started = time.perf_counter()
            rows = conn.execute(statement, params, prepare=False).fetchall()  # type: ignore[call-overload]
            seconds = time.perf_counter() - started
            return seconds, [row_of(row["id"]) for row in sorted(rows, key=lambda row: row["distance"])]

        def by_index(conn: Connection, limit: int) -> Answer:
            return lambda asked: run(conn, _INDEXED, limit, asked) if in_index[asked.org - 1] else None

        yield {
            "exact, then joined": lambda asked: run(exact, _EXACT, 10, asked),
            "joined, then exact": lambda asked: run(exact, _JOINED, 10, asked),
            "index, ef 100": by_index(one, 10),
            "index, ef 200": by_index(two, 10),
            "index, ef 100, twice as many": by_index(one, 20),
            "index, ef 200, twice as many": by_index(two, 20),
            "index, ef 400": by_index(four, 10),
            "index, ef 400, twice as many": by_index(four, 20),
        }
