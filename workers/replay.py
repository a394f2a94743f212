"""dead_letter -> the state it died in, on request: at the stated rate, org-fair, stopped when deaths repeat.

Plain loop, since what re-arms the queue must not wait for a bell of that queue.
"""

from __future__ import annotations

from dataclasses import replace

import structlog
from redis.exceptions import RedisError

from db import replays
from db.connect import DatabaseError
from pipeline.intake import MAX_KEPT_BYTES
from pipeline.transcripts import inflate
from workers import metrics
from workers.bell import ring, stopping
from workers.context import Resources, resources
from workers.intake import Entry, opened, try_again

PAUSE_SECONDS = 0.5
RINGS = {"received": "extraction", "extracted": "redaction", "redacted": "embedding", "embedded": "consolidation"}

log = structlog.get_logger()


def run() -> None:
    """Carry out replays until asked to stop."""
    using = resources()
    while not stopping.is_set():
        try:
            for stage in step(using):
                ring(using.redis, stage)
        except (DatabaseError, RedisError) as error:
            log.warning("replay_waits", error=type(error).__name__)
        stopping.wait(PAUSE_SECONDS)


def step(using: Resources) -> set[str]:
    """One step of the oldest replay of each sort; returns the stages that got work."""
    stages = {"extraction"} if _rejected_step(using) else set()
    with using.pool.connection() as conn:
        tick = replays.tick(conn)
    if tick is None:
        return stages
    metrics.REPLAYED.inc(tick.rearmed)
    if tick.status != "running":
        log.info("replay_ended", replay=str(tick.replay), status=tick.status)
    return stages | {RINGS[state] for state in tick.states}


def _rejected_step(using: Resources) -> int:
    """Try kept originals again; returns how many became runs.

    They are looked at, opened without a connection, and looked at again: what another worker tried meanwhile is left.
    """
    with using.pool.connection() as conn, conn.transaction():
        due = replays.next_rejected(conn)
    if due is None:
        return 0
    ready = {id_: opened(Entry(None, inflate(body, MAX_KEPT_BYTES)), using.context.fetch) for id_, body in due.events}
    with using.pool.connection() as conn, conn.transaction():
        batch = replays.next_rejected(conn)
        if batch is None:
            return 0
        events = [(id_, body) for id_, body in batch.events if id_ in ready]
        results = try_again(conn, [(id_, ready[id_]) for id_, _ in events], using.context.limits,
                            using.installation_key)  # fmt: skip
        refused = {id_: (item.reason, item.detail) for id_, item in results if item is not None}
        replays.tried_again(conn, replace(batch, events=events), refused, more=bool(batch.events))
    return len(results) - len(refused)
