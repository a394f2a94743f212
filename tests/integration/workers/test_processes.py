"""Workers as processes: they end when told, die with their parent, are replaced, and outlive their servers."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import time
import urllib.request
from collections import Counter
from pathlib import Path

import pytest

from ops.embedded.postgres import EmbeddedPostgres
from ops.embedded.valkey import EmbeddedValkey
from ops.processes import has_ended
from tests.fleet import Fleet, event
from tests.integration.workers.child import KILL, KILL_ONCE, SLOW
from tests.integration.workers.running import running
from tests.waiting import wait_for
from workers.bell import ring
from workers.fleet import NAMES, STAGES

SAID = "We decided to use Postgres for the search service because it has row locks."
RSS_MB_MAX = 120


def states(fleet: Fleet) -> Counter[str]:
    return Counter(row["state"] for row in fleet.rows("SELECT state FROM runs"))


def ring_until(fleet: Fleet, condition: object, within_seconds: float = 60) -> None:
    """As housekeeping would, for tests that run none."""

    def rung() -> bool:
        ring(fleet.using.redis, "extraction", past_marker=True)
        return bool(condition())  # type: ignore[operator]

    wait_for(rung, within_seconds)


def _is_at_work(fleet: Fleet, name: str) -> bool:
    """Whether both processes wait for bells, or are at their database."""
    if name in STAGES:
        return fleet.using.redis.scard("rq:workers") == 2
    seen = fleet.rows("SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = 'afterword-worker'")
    return bool(seen[0]["n"] >= 2)


@pytest.mark.parametrize(("name", "idle"), [*((name, True) for name in NAMES), ("embedding", False), ("replay", False)])
def test_sigterm_ends_a_worker_within_seconds(fleet: Fleet, tmp_path: Path, name: str, idle: bool) -> None:
    with running(fleet, name, tmp_path, processes=2) as worker:
        children = worker.children()
        if idle:
            wait_for(lambda: _is_at_work(fleet, name))
        worker.process.terminate()
        assert worker.process.wait(timeout=10) == 0
        assert all(has_ended(pid, 0) for pid in children)
        assert "Traceback" not in worker.log()
        assert "worker_died" not in worker.log()


def test_a_batch_at_hand_is_finished_before_a_worker_ends(fleet: Fleet, tmp_path: Path) -> None:
    fleet.database.org("acme")
    fleet.ingest(event(f"{SAID} {SLOW}", session="slow"))
    with running(fleet, "extraction", tmp_path) as worker:
        wait_for(worker.runs)
        worker.process.terminate()
        assert worker.process.wait(timeout=10) == 0
    assert states(fleet) == {"extracted": 1}


def test_no_child_outlives_a_killed_parent(fleet: Fleet, tmp_path: Path) -> None:
    with running(fleet, "redaction", tmp_path, processes=2) as worker:
        children = worker.children()
        worker.process.kill()
        assert len(children) == 2
        assert all(has_ended(pid, 5) for pid in children)


def test_a_killed_child_is_replaced_and_idles_in_little_memory(
    fleet: Fleet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with running(fleet, "redaction", tmp_path) as worker:
        first = worker.children()
        os.kill(first[0], signal.SIGKILL)
        wait_for(lambda: worker.children() and worker.children() != first)
        wait_for(lambda: fleet.using.redis.scard("rq:workers"))
        status = Path(f"/proc/{worker.children()[0]}/status").read_text()
        peak = int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024  # type: ignore[index]
        with capsys.disabled():
            print(f"\npeak resident memory of an idle redaction worker: {peak:.0f} MB")
        assert peak <= RSS_MB_MAX
        assert '"exit_code": -9' in worker.log()


def test_two_processes_never_do_one_run_twice(fleet: Fleet, tmp_path: Path) -> None:
    fleet.database.org("acme")
    fleet.ingest(*[event(SAID, session=f"s{n}") for n in range(120)])
    with running(fleet, "extraction", tmp_path, processes=2, batch_size=7) as worker:
        ring_until(fleet, lambda: states(fleet) == {"extracted": 120})
        assert Counter(worker.runs()).most_common(1)[0][1] == 1
        assert len({line.split()[1] for line in (tmp_path / "runs").read_text().splitlines()}) == 2


def test_a_run_whose_worker_was_killed_is_taken_over(fleet: Fleet, tmp_path: Path) -> None:
    fleet.database.org("acme")
    fleet.ingest(event(SAID, session="a"), event(f"{SAID} {KILL_ONCE}", session="b"), event(SAID, session="c"))
    with running(fleet, "extraction", tmp_path, lease_seconds=0.6) as worker:
        ring_until(fleet, lambda: states(fleet) == {"extracted": 3})
        assert max(Counter(worker.runs()).values()) == 2
    assert fleet.rows("SELECT count(*) AS n FROM runs WHERE attempts > 0")[0]["n"] == 0


def test_a_run_that_kills_every_worker_is_set_aside_and_the_others_are_unharmed(fleet: Fleet, tmp_path: Path) -> None:
    fleet.database.org("acme")
    fleet.ingest(*[event(f"{SAID} {KILL}" if n == 3 else SAID, session=f"s{n}") for n in range(6)])
    with running(fleet, "extraction", tmp_path, lease_seconds=0.6) as worker:
        ring_until(fleet, lambda: states(fleet) == {"extracted": 5, "dead_letter": 1})
        dead = fleet.rows("SELECT id, session, error_code, died_in, lease_losses FROM runs WHERE state = 'dead_letter'")
        assert [(row["session"], row["error_code"], row["died_in"]) for row in dead] == [
            ("s3", "kills_worker", "received")
        ]
        assert Counter(worker.runs())[str(dead[0]["id"])] == 5


def test_a_restart_of_redis_is_survived(fleet: Fleet, tmp_path: Path, valkey_server: EmbeddedValkey) -> None:
    fleet.database.org("acme")
    with running(fleet, "extraction", tmp_path) as worker, running(fleet, "ingest", tmp_path / "ingest") as ingest:
        children = worker.children() + ingest.children()
        wait_for(lambda: fleet.using.redis.scard("rq:workers"))
        valkey_server.stop()
        time.sleep(1)
        valkey_server.start(die_with_parent=True)
        fleet.ingest(event(SAID))
        wait_for(lambda: states(fleet) == {"extracted": 1})
        assert worker.children() + ingest.children() == children


def test_a_restart_of_postgres_is_survived(fleet: Fleet, tmp_path: Path, postgres: EmbeddedPostgres) -> None:
    fleet.database.org("acme")
    fleet.ingest(event(f"{SAID} {SLOW}", session="slow"))
    stream = fleet.using.redis
    with running(fleet, "extraction", tmp_path) as worker, running(fleet, "ingest", tmp_path / "ingest") as ingest:
        wait_for(worker.runs)
        postgres.stop()
        stream.xadd("afterword:sessions", {"event": json.dumps(event(SAID, session="meanwhile"))})
        time.sleep(2)
        postgres.start(die_with_parent=True, fast=True)
        ring_until(fleet, lambda: states(fleet) == {"extracted": 2})
        assert len(worker.children()) == len(ingest.children()) == 1
    assert fleet.rows("SELECT max(lease_losses) AS n FROM runs")[0]["n"] == 0


def test_metrics_of_all_processes_are_served_by_the_parent(fleet: Fleet, tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    fleet.database.org("acme")
    fleet.ingest(*[event(SAID, session=f"s{n}") for n in range(9)])
    with running(fleet, "extraction", tmp_path, processes=2, metrics_port=port, batch_size=2):
        ring_until(fleet, lambda: states(fleet) == {"extracted": 9})
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            text = answer.read().decode()
    assert re.search(r'afterword_stage_outcomes_total\{outcome="done",stage="extraction"\} 9\.0', text)
