"""The plain RQ chain, timed; as a program, one worker of it.

python -m tests.benchmarks.chain_side < addresses as JSON (database, redis, recording, parent)
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from redis import Redis
from rq import Queue, Worker

from db.connect import connect
from tests.benchmarks.chain import QUEUE, extract, work
from tests.benchmarks.fleet_side import ROOT, Timed, await_consolidated, cpu, stop
from tests.benchmarks.recording import Recording
from tests.benchmarks.site import Site
from tests.services import Database
from tests.waiting import wait_for
from workers.orphans import die_with_parent


def main() -> None:
    given = json.load(sys.stdin)
    die_with_parent(given["parent"], signal.SIGTERM)
    work(given["database"], given["redis"], Path(given["recording"]))


def run_chain(site: Site, database: Database, recording: Recording, workers: int) -> Timed:
    """Timed from the first job to the last run; workers are up before, and all first jobs go in one round trip."""
    given: dict[str, Any] = {
        "database": database.address("worker"), "redis": site.valkey.url("worker"), "recording": str(site.home),
        "parent": os.getpid(),
    }  # fmt: skip
    children = {f"chain {number}": _start(given) for number in range(workers)}
    with Redis.from_url(given["redis"]) as redis, connect(given["database"]) as conn:
        try:
            wait_for(lambda: Worker.count(connection=redis) >= workers, within_seconds=60)
            before = cpu(site, children)
            since, started = datetime.now(UTC), time.monotonic()
            first = [Queue.prepare_data(extract, [event]) for event in recording.events]
            Queue(QUEUE, connection=redis).enqueue_many(first)
            await_consolidated(conn, len(recording.events), since)
            seconds = time.monotonic() - started
            after = cpu(site, children)
        finally:
            stop(list(children.values()))
    return Timed(len(recording.events), seconds, {name: after[name] - before[name] for name in after})


def _start(given: dict[str, Any]) -> subprocess.Popen[bytes]:
    child = subprocess.Popen([sys.executable, "-m", "tests.benchmarks.chain_side"], stdin=subprocess.PIPE, cwd=ROOT)
    assert child.stdin is not None
    child.stdin.write(json.dumps(given).encode())
    child.stdin.close()
    return child


if __name__ == "__main__":
    main()
