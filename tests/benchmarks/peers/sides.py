"""Who is timed: two other memory stores in processes of their own, and ours through its own doors."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from db import tokens
from db.connect import granted
from db.migrate import LOGINS, create_database, migrate, register_stamp
from db.recall import Question, recall
from db.tokens import Bearer
from ops.embedded.postgres import EmbeddedPostgres
from tests.benchmarks.peers.rows import Rows, population_of
from tests.benchmarks.recall.loading import STAMP_ID, load
from tests.benchmarks.recording import STAMP
from tests.services import Database

HITS = 10
DRIVER = Path(__file__).with_name("driver.py")


class Peer:
    """The driver of one peer; see driver.py for what may be asked of it."""

    def __init__(self, python: Path, name: str, conninfo: str, folder: Path) -> None:
        self._process = subprocess.Popen(
            [os.path.abspath(python), str(DRIVER), name, conninfo, str(folder)],  # a link, which is not to be followed
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder,
        )  # fmt: skip

    def ask(self, verb: str, given: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({verb: given}) + "\n")
        self._process.stdin.flush()
        while not (line := self._process.stdout.readline()).strip():
            assert line, f"the driver ended with {self._process.wait()}"
        return json.loads(line)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)


@dataclass
class Searched:
    """Milliseconds of each search, and the share of the exact ten nearest it gave."""

    milliseconds: list[float] = field(default_factory=list)
    recalls: list[float] = field(default_factory=list)

    def add(self, milliseconds: float, texts: list[str], nearest: set[str]) -> None:
        self.milliseconds.append(milliseconds)
        self.recalls.append(len(nearest & set(texts)) / len(nearest))

    def flat(self, name: str) -> dict[str, float]:
        return {
            f"{name}_p50_ms": float(np.percentile(self.milliseconds, 50)),
            f"{name}_p99_ms": float(np.percentile(self.milliseconds, 99)),
            f"{name}_recall_at_10": float(np.mean(self.recalls)),
        }


def peer_search(peer: Peer, offset: int) -> Callable[[Rows, int], tuple[float, list[str]]]:
    """`offset`: where the questions of these rows begin among all that are asked."""

    def search(one: Rows, number: int) -> tuple[float, list[str]]:
        answer = peer.ask("search", offset + number)
        return answer["milliseconds"], answer["texts"]

    return search


def make_ours(server: EmbeddedPostgres, one: Rows) -> Database:
    """A database of these rows in one org, as the pipeline and housekeeping leave them."""
    create_database(server.url(), one.name)
    migrate(server.url(one.name), {login: server.password(f"afterword_{login}") for login in LOGINS})
    register_stamp(server.url(one.name), STAMP)
    database = Database(server, one.name)
    load(database, population_of(len(one.texts)))
    return database


@contextmanager
def our_search(database: Database) -> Iterator[Callable[[Rows, int, bool], tuple[float, list[str]]]]:
    """A recall with all it takes: begin, grant, the call that reads and records, commit. The last argument: hybrid."""
    with database.as_role("operator") as conn:
        token = tokens.mint(conn, 1, Bearer("agent", "benchmark"), lives_seconds=86_400)
    with database.as_role("agent") as conn:

        def search(one: Rows, number: int, hybrid: bool) -> tuple[float, list[str]]:
            text = one.asked[number] if hybrid else ""
            started = time.perf_counter()
            with granted(conn, token):
                found = recall(conn, Question(text, one.asked_vectors[number], STAMP_ID, HITS))
            return 1000 * (time.perf_counter() - started), [hit.content for hit in found.hits]

        yield search
