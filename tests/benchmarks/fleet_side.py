"""The shipped fleet, timed from the first event on the stream to the last consolidated run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import psutil
from redis import Redis
from rq import Worker

from db.connect import Connection, connect
from tests.benchmarks.recording import Recording
from tests.benchmarks.site import Site
from tests.services import Database
from tests.waiting import wait_for
from workers.fleet import NAMES, STAGES
from workers.keys import FIELD, GROUP, STREAM

MACHINE = "machine"
STOP_SECONDS = 30.0
STALLED_SECONDS = 30.0
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@dataclass(frozen=True)
class Timed:
    """Seconds from the first event to the last run, and CPU seconds of every process that took part."""

    runs: int
    seconds: float
    cpu_seconds: dict[str, float] = field(default_factory=dict)

    @property
    def cores(self) -> float:
        """How many the side kept busy."""
        return sum(seconds for name, seconds in self.cpu_seconds.items() if name != MACHINE) / self.seconds

    @property
    def cores_of_others(self) -> float:
        """How many were busy with something else: on a machine that is not quiet, rates say less than ratios."""
        return self.cpu_seconds[MACHINE] / self.seconds - self.cores

    @property
    def runs_per_s(self) -> float:
        return self.runs / self.seconds


def run_fleet(site: Site, database: Database, recording: Recording, processes: Mapping[str, int]) -> Timed:
    """All stages, ingest and housekeeping included; workers are up before the clock starts."""
    given = {"database": database.address("worker"), "redis": site.valkey.url("worker"), "recording": str(site.home)}
    with Redis.from_url(site.valkey.url("worker")) as redis, connect(database.address("worker")) as conn:
        with _workers(given, processes) as fleet:
            _await_ready(redis, processes)
            before = cpu(site, fleet)
            since, started = datetime.now(UTC), time.monotonic()
            with redis.pipeline(transaction=False) as pipe:
                for event in recording.events:
                    pipe.xadd(STREAM, {FIELD: event})
                pipe.execute()
            await_consolidated(conn, len(recording.events), since)
            seconds = time.monotonic() - started
            after = cpu(site, fleet)
        return Timed(len(recording.events), seconds, {name: after[name] - before[name] for name in after})


@contextmanager
def _workers(given: Mapping[str, str], processes: Mapping[str, int]) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    fleet: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for name in NAMES:
            argv = [sys.executable, "-m", "tests.benchmarks.worker", name, str(processes.get(name, 1))]
            fleet[name] = subprocess.Popen(argv, stdin=subprocess.PIPE, cwd=ROOT)
            pipe = fleet[name].stdin
            assert pipe is not None
            pipe.write(json.dumps({**given, "parent": os.getpid()}).encode())
            pipe.close()
        yield fleet
    finally:
        stop(list(fleet.values()))


def stop(children: Sequence[subprocess.Popen[bytes]]) -> None:
    """Ask each to stop; kill what does not."""
    for child in children:
        child.terminate()
    for child in children:
        try:
            child.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def _await_ready(redis: Redis, processes: Mapping[str, int]) -> None:
    wanted = sum(processes.get(name, 1) for name in STAGES)
    wait_for(lambda: Worker.count(connection=redis) >= wanted, within_seconds=60)
    wait_for(lambda: redis.exists(STREAM) and redis.xinfo_consumers(STREAM, GROUP), within_seconds=60)


def await_consolidated(conn: Connection, runs: int, since: datetime) -> None:
    """Until all runs made `since` are consolidated. Fails at once when one went another way."""
    counts: dict[str, int] = {}
    moved_at = time.monotonic()
    while counts.get("consolidated", 0) < runs:
        assert time.monotonic() - moved_at < STALLED_SECONDS, f"nothing moved for {STALLED_SECONDS:.0f} s: {counts}"
        time.sleep(0.05)
        rows = conn.execute("SELECT state, count(*) AS n FROM runs WHERE created_at >= %s GROUP BY state", (since,))
        now = {row["state"]: row["n"] for row in rows}
        assert not now.keys() & {"dead_letter", "skipped"}, now
        if now != counts:
            counts, moved_at = now, time.monotonic()


def cpu(site: Site, children: Mapping[str, subprocess.Popen[bytes]]) -> dict[str, float]:
    """CPU seconds so far: each worker with its children, the two servers with theirs, and the whole machine."""
    found = {name: _cpu(child.pid) for name, child in children.items()}
    found["postgres"] = _cpu(site.postgres.pid())
    found["valkey"] = _cpu(site.valkey.pid())
    machine = psutil.cpu_times()
    found[MACHINE] = machine.user + machine.system + machine.nice
    return found


def _cpu(pid: int | None) -> float:
    """Of a process, its living descendants, and those it has reaped."""
    total = 0.0
    process = psutil.Process(pid)
    for item in (process, *process.children(recursive=True)):
        times = item.cpu_times()
        total += times.user + times.system
    own = process.cpu_times()
    return float(total + own.children_user + own.children_system)
