"""Recall over many orgs of skewed size: how near the exact answer, and how long, beside the best hand-written query.

Every question is asked of every side in turn, so that what else the machine does falls on all alike, in an order of
its own each time, since who comes second finds the pages warm.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from db import housekeeping
from db.connect import connect
from db.migrate import LOGINS, create_database, migrate, register_stamp
from ops.embedded.postgres import EmbeddedPostgres
from tests.benchmarks.recall.loading import STAMP_ID, Loaded, indexed, load
from tests.benchmarks.recall.population import Population
from tests.benchmarks.recall.questions import Asked, questions
from tests.benchmarks.recall.sides import EARLY_SIDE, Answer, Told, afterword, hand_written
from tests.benchmarks.recording import STAMP
from tests.services import Database

NAME = "recall"
MET = 0.99
"""Recall@10 a hand-written query must reach in a band to be the one compared with."""

ByBand = Mapping[str, Mapping[str, Told]]


@dataclass(frozen=True)
class Scale:
    """`told`: by side and band. `resident_bytes`: of the server's processes, shared pages counted once."""

    memories: int
    loaded: Loaded
    told: ByBand
    hand_written: frozenset[str]
    resident_bytes: int
    housekeeping_seconds: float

    def best(self, band: str) -> tuple[str, Told]:
        """The fastest hand-written query of a band among those that reach MET."""
        told = [(name, self.told[name][band]) for name in self.hand_written if band in self.told[name]]
        return min((item for item in told if item[1].recall >= MET), key=lambda item: item[1].p50)

    @property
    def bands(self) -> list[str]:
        """Smallest first."""
        return sorted(self.told["recall"], key=lambda band: int(band.split()[0].replace(",", "")))


def measure(population: Population, *, each: int, exact_rows: int = housekeeping.EXACT_ROWS) -> Scale:
    """`each`: questions a band."""
    with _opened() as database:
        loaded = load(database, population, exact_rows=exact_rows)
        asked = questions(population, each)
        with (
            afterword(database, {one.org for one in asked}) as ours,
            hand_written(database, in_index=indexed(population.sizes, exact_rows)) as theirs,
        ):
            _ask_all(asked[:20], {**ours, **theirs})
            told = _ask_all(asked, {**ours, **theirs})
        return Scale(
            population.memories,
            loaded,
            told,
            frozenset(theirs),
            _resident(database),
            _housekeeping(database, exact_rows),
        )


@contextmanager
def _opened() -> Iterator[Database]:
    """The embedded server as it is shipped, in a home of its own."""
    with tempfile.TemporaryDirectory(prefix="afterword-recall-") as home:
        os.chmod(home, 0o711)
        server = EmbeddedPostgres(Path(home))
        try:
            server.start(die_with_parent=True)
            create_database(server.url(), NAME)
            migrate(server.url(NAME), {login: server.password(f"afterword_{login}") for login in LOGINS})
            register_stamp(server.url(NAME), STAMP)
            yield Database(server, NAME)
        finally:
            server.stop()


def _ask_all(asked: Sequence[Asked], sides: Mapping[str, Answer]) -> ByBand:
    told: dict[str, dict[str, Told]] = defaultdict(lambda: defaultdict(Told))
    rng = np.random.default_rng(3)
    for one in asked:
        for name in rng.permutation(list(sides)).tolist():
            if answer := sides[name](one):
                told[name][one.band].add(*answer, one.early if name == EARLY_SIDE else one.nearest)
    return {name: dict(by_band) for name, by_band in told.items()}


def _resident(database: Database) -> int:
    own = []
    server = psutil.Process(database.server.pid())
    for process in (server, *server.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):  # a worker that was ending
            own.append(process.memory_info())
    return sum(info.rss - info.shared for info in own) + max(info.shared for info in own)


def _housekeeping(database: Database, exact_rows: int) -> float:
    """Seconds of a round when nothing is to be done."""
    with connect(database.address("worker")) as conn:
        started = time.monotonic()
        housekeeping.index_vectors(conn, STAMP_ID, exact_rows=exact_rows)
        return time.monotonic() - started
