"""make chaos: kill, flush and restart under load, then count what was lost, doubled or left undecided.

Random kill -9 of a worker every 300 ms; Valkey flushed twice with at least a tenth of the events not yet ingested and
restarted once; Postgres restarted once. Bounded in time; stops what it started. Prints its figures and writes
.bench/chaos.json; exit code 1 when a guarantee did not hold.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from redis import Redis
from redis.exceptions import RedisError

from db import ledger, orgs
from db.connect import Connection, DatabaseError, connect
from db.migrate import LOGINS, create_database, migrate, register_stamp
from ops.embedded.postgres import EmbeddedPostgres
from ops.embedded.valkey import EmbeddedValkey
from pipeline.errors import LedgerBroken
from pipeline.org import OrgSettings
from tests.chaos.load import BIG, Load, Sender, make
from tests.services import STAMP
from workers.fleet import NAMES

KILL_SECONDS = 0.3
LEASE_SECONDS = 2.0
ONE = frozenset({"replay", "housekeeping"})


@dataclass
class Site:
    """The services and the fleet of one run."""

    postgres: EmbeddedPostgres
    valkey: EmbeddedValkey
    pools: list[subprocess.Popen[bytes]] = field(default_factory=list)
    kills: int = 0

    @property
    def database(self) -> str:
        return self.address("worker")

    def address(self, role: str) -> str:
        return self.postgres.url("chaos", f"afterword_{role}", self.postgres.password(f"afterword_{role}"))

    def redis(self, user: str) -> Redis:
        return Redis.from_url(self.valkey.url(user))

    def start_fleet(self) -> None:
        given = json.dumps({
            "database": self.database, "redis": self.valkey.url("worker"), "lease_seconds": LEASE_SECONDS,
        })  # fmt: skip
        for name in NAMES:
            command = [sys.executable, "-m", "tests.chaos.worker", name, "1" if name in ONE else "2"]
            pool = subprocess.Popen(command, stdin=subprocess.PIPE)
            assert pool.stdin is not None
            pool.stdin.write(given.encode())
            pool.stdin.close()
            self.pools.append(pool)

    def workers(self) -> list[psutil.Process]:
        found: list[psutil.Process] = []
        for pool in self.pools:
            with suppress(psutil.NoSuchProcess):
                found.extend(psutil.Process(pool.pid).children())
        return found

    def stop_fleet(self) -> None:
        for pool in self.pools:
            pool.terminate()
        for pool in self.pools:
            with suppress(subprocess.TimeoutExpired):
                pool.wait(20)
            pool.kill()
            pool.wait()


@contextmanager
def site(home: Path, org_count: int) -> Iterator[Site]:
    made = Site(EmbeddedPostgres(home), EmbeddedValkey(home))
    made.postgres.start(die_with_parent=True)
    made.valkey.start(die_with_parent=True)
    try:
        create_database(made.postgres.url(), "chaos")
        admin = made.postgres.url("chaos")
        migrate(admin, {login: made.postgres.password(f"afterword_{login}") for login in LOGINS})
        register_stamp(admin, STAMP)
        with connect(made.address("operator")) as conn:
            for number in range(org_count):
                orgs.create(conn, f"org-{number:02d}", actor="chaos")
                org = orgs.get(conn, f"org-{number:02d}")
                settings = OrgSettings(extraction=True, required_classes=frozenset())
                orgs.change(conn, org, settings, actor="chaos", reason="chaos")
        yield made
    finally:
        made.stop_fleet()
        made.valkey.stop()
        made.postgres.stop()


@contextmanager
def killing(made: Site, rng: random.Random) -> Iterator[None]:
    """kill -9 of a random worker every 300 ms while the block runs."""
    over = threading.Event()

    def kill() -> None:
        while not over.wait(KILL_SECONDS):
            workers = made.workers()
            if workers:
                with suppress(psutil.NoSuchProcess):
                    rng.choice(workers).kill()
                    made.kills += 1

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def flush_with_backlog(made: Site, sender: Sender, events: list[bytes], at_least: int) -> int:
    """Send, and flush while at least `at_least` events are not ingested; returns how many were not."""
    while True:
        with suppress(RedisError):
            sender.send(events)
            missing = len(sender.unacknowledged())
            if missing < at_least:
                raise SystemExit(f"only {missing} events are not ingested; too few for a flush to mean anything")
            made.redis("admin").flushall()
            return missing
        time.sleep(0.05)


def storm(made: Site, load: Load, rng: random.Random, seconds: float) -> dict[str, Any]:
    """Send under fire until every event has arrived and no run is unfinished, or time is up."""
    started = time.monotonic()
    sender = Sender(made.redis("emitter"), load.all())
    rng.shuffle(sender.waiting)
    tenth = max(1, len(load.valid) // 10)
    figures: dict[str, Any] = {}
    with killing(made, rng):
        figures["flushed_with"] = flush_with_backlog(made, sender, list(sender.waiting), tenth)
        time.sleep(1.0)
        figures["flushed_again_with"] = flush_with_backlog(made, sender, list(sender.waiting), tenth)
        sender.send([*sender.waiting, *load.twice])
        restarts: list[tuple[float, Callable[[], None]]] = [
            (3.0, lambda: _restart(made.valkey)), (8.0, lambda: _restart(made.postgres)),
        ]  # fmt: skip
        begun = time.monotonic()
        for _ in sender.keep_sending():
            _restart_due(restarts, begun)
            if time.monotonic() - started > seconds:
                break
            time.sleep(0.05)
        while restarts:
            _restart_due(restarts, begun)
            time.sleep(0.05)
        figures["calm_after"] = round(time.monotonic() - started, 1)
        while _unfinished(made) and time.monotonic() - started < seconds:
            time.sleep(0.2)
    figures["seconds"] = round(time.monotonic() - started, 1)
    figures["kills"] = made.kills
    return figures


def _restart_due(restarts: list[tuple[float, Callable[[], None]]], begun: float) -> None:
    if restarts and time.monotonic() - begun > restarts[0][0]:
        restarts.pop(0)[1]()


def _restart(service: EmbeddedPostgres | EmbeddedValkey) -> None:
    service.stop()
    service.start(die_with_parent=True)


def _unfinished(made: Site) -> int:
    try:
        with connect(made.database) as conn:
            row = conn.execute("SELECT count(*) AS n FROM runs WHERE due_at IS NOT NULL").fetchone()
    except DatabaseError:
        return 1
    return int(row["n"]) if row else 0


CHECKS = {
    "doubled": """SELECT count(*) - count(DISTINCT session) AS n FROM runs WHERE kind = 'session'""",
    "dead_letters": "SELECT count(*) AS n FROM runs WHERE state = 'dead_letter' AND session <> 'deadly'",
    "pending_without_review": """SELECT count(*) AS n FROM memories m WHERE m.status = 'pending' AND NOT EXISTS (
        SELECT FROM reviews r WHERE r.id = m.review_id AND r.closed_at IS NULL)""",
    "duplicate_memories": """SELECT count(*) AS n FROM (
        SELECT FROM memories GROUP BY run_id, content_hash HAVING count(*) > 1) x""",
    "runs_without_memory": """SELECT count(*) AS n FROM runs r WHERE r.state = 'consolidated' AND NOT EXISTS (
        SELECT FROM memories m WHERE m.run_id = r.id)""",
    "staged_left": "SELECT count(*) AS n FROM envelopes e JOIN runs r ON r.id = e.run_id WHERE r.due_at IS NULL",
    "unembedded": """SELECT count(*) AS n FROM memories m WHERE m.status = 'active' AND NOT EXISTS (
        SELECT FROM embeddings_1 e WHERE e.memory_id = m.id)""",
}


def judge(made: Site, load: Load) -> dict[str, Any]:
    """Every guarantee as a figure; zero or true is what should stand there."""
    with connect(made.database) as conn:
        figures: dict[str, Any] = {name: (conn.execute(sql).fetchone() or {})["n"] for name, sql in CHECKS.items()}
        ended = {
            row["session"]
            for row in conn.execute("SELECT session FROM runs WHERE state IN ('consolidated', 'skipped')")
        }
        figures["lost"] = len(set(load.valid) - ended)
        kept = conn.execute(
            "SELECT count(DISTINCT body) AS n FROM rejected_events WHERE reason <> 'kills_worker'"
        ).fetchone()
        figures["malformed_missing"] = len(set(load.malformed)) - (kept["n"] if kept else 0)
        killer = conn.execute("SELECT state, error_code FROM runs WHERE session = 'deadly'").fetchone()
        figures["killer_set_aside"] = killer == {"state": "dead_letter", "error_code": "kills_worker"}
        figures |= _waits(conn)
        figures["small_orgs_first"] = figures["small_orgs_wait_s_p50"] <= figures["big_org_wait_s_p50"]
        ledger.seal(conn)
        try:
            figures["ledger_entries"] = ledger.verify(conn).entries
            figures["ledger_ok"] = True
        except LedgerBroken as error:
            figures["ledger_ok"] = False
            figures["ledger_broken"] = str(error)
    return figures


def _waits(conn: Connection) -> dict[str, float]:
    """Median seconds from ingest to consolidation, of the big org and of all others: whose backlog waits for whom."""
    row = conn.execute(
        "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM r.state_at - r.created_at))"
        " FILTER (WHERE o.name <> %(big)s)::float AS small,"
        " percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM r.state_at - r.created_at))"
        " FILTER (WHERE o.name = %(big)s)::float AS big"
        " FROM runs r JOIN orgs o ON o.id = r.org_id WHERE r.state = 'consolidated'",
        {"big": BIG},
    ).fetchone()
    assert row is not None
    return {"small_orgs_wait_s_p50": round(row["small"], 2), "big_org_wait_s_p50": round(row["big"], 2)}


def held(figures: dict[str, Any]) -> bool:
    zero = ("lost", "malformed_missing", *CHECKS)
    return not any(figures[name] for name in zero) and all(
        figures[name] for name in ("ledger_ok", "killer_set_aside", "small_orgs_first")
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--events", type=int, default=2_000)
    parser.add_argument("--orgs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--seconds", type=float, default=600.0, help="give up after this")
    parser.add_argument("--out", type=Path, default=Path(".bench/chaos.json"))
    given = parser.parse_args()
    rng = random.Random(given.seed)
    load = make(given.events, given.orgs, rng)
    with tempfile.TemporaryDirectory(prefix="afterword-chaos-") as home, site(Path(home), given.orgs) as made:
        Path(home).chmod(0o711)
        made.start_fleet()
        figures = {"events": given.events, "seed": given.seed, **storm(made, load, rng, given.seconds)}
        made.stop_fleet()
        figures |= judge(made, load)
    given.out.parent.mkdir(exist_ok=True)
    given.out.write_text(json.dumps(figures, indent=1) + "\n")
    for name, value in figures.items():
        print(f"{name:>24}  {value}")
    if not held(figures):
        sys.exit("a guarantee did not hold")


if __name__ == "__main__":
    main()
