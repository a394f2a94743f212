"""dead_letter -> the state it died in, on request: at the stated rate, org-fair, stopped when deaths repeat.

Plain loop, since what re-arms the queue must not wait for a bell of that queue.
"""

from __future__ import annotations

import structlog
from redis.exceptions import RedisError

from db import replays
from db.connect import Connection, DatabaseError
from pipeline.intake import MAX_KEPT_BYTES
from pipeline.transcripts import inflate
from workers import metrics
from workers.bell import ring, stopping
from workers.context import Limits, resources
from workers.intake import try_again

PAUSE_SECONDS = 0.5
RINGS = {"received": "extraction", "extracted": "redaction", "redacted": "embedding", "embedded": "consolidation"}

log = structlog.get_logger()


def run() -> None:
    """Carry out replays until asked to stop."""
    using = resources()
    while not stopping.is_set():
        try:
            with using.pool.connection() as conn:
                stages = step(conn, using.context.limits)
            for stage in stages:
                ring(using.redis, stage)
        except (DatabaseError, RedisError) as error:
            log.warning("replay_waits", error=type(error).__name__)
        stopping.wait(PAUSE_SECONDS)


def step(conn: Connection, limits: Limits) -> set[str]:
    """One step of the oldest replay of each sort; returns the stages that got work."""
    stages = {"extraction"} if _rejected_step(conn, limits) else set()
    tick = replays.tick(conn)
    if tick is None:
        return stages
    metrics.REPLAYED.inc(tick.rearmed)
    if tick.status != "running":
        log.info("replay_ended", replay=str(tick.replay), status=tick.status)
    return stages | {RINGS[state] for state in tick.states}


def _rejected_step(conn: Connection, limits: Limits) -> int:
    """Try kept originals again; returns how many became runs."""
    with conn.transaction():
        batch = replays.next_rejected(conn)
        if batch is None:
            return 0
        results = try_again(conn, [(id_, inflate(body, MAX_KEPT_BYTES)) for id_, body in batch.events], limits)
        refused = {id_: (item.reason, item.detail) for id_, item in results if item is not None}
        replays.tried_again(conn, batch, refused, more=bool(batch.events))
    return len(results) - len(refused)
