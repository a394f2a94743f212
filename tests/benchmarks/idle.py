"""An idle fleet as it is shipped: the memory of its processes, and how soon what ends is recallable."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil
from psycopg import connect as admin_connect
from psycopg import sql
from redis import Redis
from rq import Worker

from db import orgs
from db.connect import Connection, granted
from db.recall import Question, recall
from db.tokens import Bearer, mint
from ops.credentials import DATABASE
from ops.emitting import Sender, prepare, send
from tests.benchmarks.fleet_side import ROOT, stop
from tests.benchmarks.site import Site
from tests.services import TEMPLATE, Database
from tests.waiting import wait_for
from workers.fleet import NAMES, STAGES
from workers.keys import GROUP, STREAM

POLL_SECONDS = 0.005
QUIET_SECONDS = 0.3
_SAID = "We decided to use variant {} of the {} because it passed trial {} last week."
_THINGS = ("job queue", "search index", "event bus", "cache layer", "test runner", "message codec")


@dataclass(frozen=True)
class Idle:
    """Peak megabytes (10^6 bytes) of a worker process by name, and milliseconds from emit to recallable."""

    peak_mb: dict[str, float]
    recallable_ms: list[float]

    @property
    def worst_mb(self) -> float:
        return max(self.peak_mb.values())

    @property
    def recallable_ms_p50(self) -> float:
        return median(self.recallable_ms)


def measure_idle(site: Site, events: int) -> Idle:
    """The shipped commands with the offline extractor and no embedder; one event at a time."""
    database = _installed(site)
    with _fleet(site) as children, Redis.from_url(site.valkey.url("worker")) as redis:
        wait_for(lambda: Worker.count(connection=redis) >= len(STAGES), within_seconds=60)
        wait_for(lambda: redis.exists(STREAM) and redis.xinfo_consumers(STREAM, GROUP), within_seconds=60)
        time.sleep(QUIET_SECONDS)
        peak = {name: _peak_mb(child.pid) for name, child in children.items()}
        return Idle(peak, _latencies(site, database, events))


def _installed(site: Site) -> Database:
    """The database the shipped commands look for, cloned from the template."""
    names = {"name": sql.Identifier(DATABASE), "template": sql.Identifier(TEMPLATE)}
    with Redis.from_url(site.valkey.url("admin")) as redis:
        redis.flushall()
    with admin_connect(site.postgres.url(), autocommit=True) as conn:
        conn.execute(sql.SQL("CREATE DATABASE {name} TEMPLATE {template}").format(**names))
        conn.execute(sql.SQL("ALTER DATABASE {name} SET search_path = afterword, public").format(**names))
    return Database(site.postgres, DATABASE)


@contextmanager
def _fleet(site: Site) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    chosen = {"HOME": str(site.home), "EXTRACTOR": "offline", "ALLOW_OFFLINE_EXTRACTOR": "true", "EMBEDDER": "none",
              "NER": "none", "LOG_LEVEL": "warning"}  # fmt: skip
    others = {name: value for name, value in os.environ.items() if not name.startswith("AFTERWORD_")}
    environment = others | {f"AFTERWORD_{name}": value for name, value in chosen.items()}
    children: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for name in NAMES:
            argv = [sys.executable, "-m", "ops.cli", "worker", name]
            children[name] = subprocess.Popen(argv, env=environment, cwd=ROOT)
        yield children
    finally:
        stop(list(children.values()))


def _peak_mb(pid: int) -> float:
    """The largest peak among a worker and the processes it forked: VmHWM."""
    family = [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]
    return max(_high_water(member) for member in family)


def _high_water(pid: int) -> float:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) * 1024 / 1e6 if found else 0.0


def _latencies(site: Site, database: Database, events: int) -> list[float]:
    with database.as_role("operator") as conn:
        org = orgs.get(conn, "org-000")
        token = mint(conn, org.id, Bearer("agent", "benchmark", agent="reader"), lives_seconds=3600)
    emitter = Redis.from_url(site.valkey.url("emitter"))
    with database.as_role("agent") as agent, database.as_role("worker") as worker, emitter as redis:
        return [_latency(site.home, redis, agent, worker, token, number) for number in range(events)]


def _latency(home: Path, redis: Redis, agent: Connection, worker: Connection, token: str, number: int) -> float:
    said = _SAID.format(number, _THINGS[number % len(_THINGS)], 7 * number + 1)
    log = home / f"session-{number}.json"
    turn = {"role": "user", "text": said, "trust": "user", "at": "2026-05-04T10:00:00Z"}
    log.write_text(json.dumps({"turns": [turn]}))
    started = time.monotonic()
    send(redis, [prepare(log, Sender("org-000", agent="coder", session=f"idle-{number}"))])
    while not _is_recallable(agent, token, said):
        assert time.monotonic() - started < 60, f"not recallable within a minute: {said}"
        time.sleep(POLL_SECONDS)
    seconds = time.monotonic() - started
    wait_for(lambda: _is_quiet(worker), within_seconds=30)
    time.sleep(QUIET_SECONDS)
    return seconds * 1000


def _is_recallable(conn: Connection, token: str, said: str) -> bool:
    with granted(conn, token):
        return any(hit.content in said for hit in recall(conn, Question(said)).hits)


def _is_quiet(conn: Connection) -> bool:
    return not conn.execute("SELECT FROM runs WHERE due_at IS NOT NULL LIMIT 1").fetchall()
