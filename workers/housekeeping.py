"""Seals, purges, counts, heals: a plain loop under an advisory lock, since what heals Redis must not live in it.

Each duty runs apart: one that fails is logged and does not keep the others from their turn.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict
from itertools import product
from pathlib import Path

import structlog
from redis.exceptions import RedisError, ResponseError

from db import embedding, housekeeping, ledger, model_calls, outcomes, passes, reclassify, retention
from db.connect import Connection, DatabaseError
from pipeline.errors import LedgerBroken
from pipeline.outcome import ErrorCode
from pipeline.states import MemoryStatus, RunState
from workers import metrics
from workers.bell import ring, stopping
from workers.context import Resources, resources
from workers.keys import GROUP, STREAM
from workers.witness import SEALS, append

ROUND_SECONDS = 1.0
SLOW_ROUND_SECONDS = 15.0
RING_AFTER_SECONDS = 2.0
PURGE_SECONDS = 5.0
STAGES = {"received": "extraction", "extracted": "redaction", "redacted": "embedding", "embedded": "consolidation"}
REVIEW_KINDS = ("hold", "retire", "audit", "amend", "drop", "renew")
REVIEW_AGES = ("day", "week", "older")

log = structlog.get_logger()


def run() -> None:
    """Keep house until asked to stop; a second housekeeper waits its turn."""
    using = resources()
    while not stopping.is_set():
        try:
            with using.pool.connection() as conn:
                if housekeeping.is_only_one(conn):
                    _keep(using, conn)
        except DatabaseError as error:
            log.warning("housekeeping_waits", error=type(error).__name__)
        stopping.wait(ROUND_SECONDS)


def _keep(using: Resources, conn: Connection) -> None:
    slow_at = 0.0
    while not stopping.wait(ROUND_SECONDS):
        well = _duty("bells", lambda: heal_bells(using, conn))
        well &= _duty("gauges", lambda: count(using, conn))
        if time.monotonic() >= slow_at:
            slow_at = time.monotonic() + SLOW_ROUND_SECONDS
            well &= slow_round(using, conn)
        if well:
            metrics.HOUSEKEEPING_SUCCESS.set_to_current_time()


def slow_round(using: Resources, conn: Connection) -> bool:
    """What need not be done every second. Returns whether all went well."""
    duties: dict[str, Callable[[], None]] = {
        "seal": lambda: seal(using, conn),
        "purge": lambda: purge(conn),
        "trim": lambda: trim(using),
        "index": lambda: index(conn),
        "used": lambda: mark_used(conn),
        "calls": lambda: give_up_calls(conn),
        "silence": lambda: hear_silence(conn),
        "passes": lambda: ring_for_passes(using, conn),
    }
    went_well = [_duty(name, duty) for name, duty in duties.items()]
    return all(went_well)


def _duty(name: str, duty: Callable[[], None]) -> bool:
    try:
        duty()
    except LedgerBroken as error:
        log.error("duty_failed", duty=name, error=str(error))
        return False
    except (RedisError, OSError, ValueError) as error:
        log.warning("duty_failed", duty=name, error=type(error).__name__)
        return False
    except DatabaseError as error:
        if error.sqlstate is None or error.sqlstate.startswith("57"):
            raise
        log.error("duty_failed", duty=name, sqlstate=error.sqlstate)
        return False
    return True


def heal_bells(using: Resources, conn: Connection) -> None:
    """Ring past the marker for every stage whose oldest due run has waited two seconds, and for open requests."""
    for state, seconds in housekeeping.oldest_due(conn).items():
        if seconds > RING_AFTER_SECONDS:
            ring(using.redis, STAGES[state], past_marker=True)
    if reclassify.any_open(conn):
        ring(using.redis, "redaction", past_marker=True)


def count(using: Resources, conn: Connection) -> None:
    """Set every gauge for every label there is: files of several processes cannot forget one that has no row now."""
    seen = housekeeping.gauges(conn)
    for state in RunState:
        metrics.RUNS.labels(state).set(seen.runs.get(state, 0))
    for code in ErrorCode:
        metrics.DEAD_LETTERS.labels(code).set(seen.dead_letters.get(code, 0))
    for status in MemoryStatus:
        metrics.MEMORIES.labels(status).set(seen.memories.get(status, 0))
    for kind, age in product(REVIEW_KINDS, REVIEW_AGES):
        metrics.OPEN_REVIEWS.labels(kind, age).set(seen.open_reviews.get((kind, age), 0))
    for kind, answer in product(("audit", "drop"), ("right", "wrong")):
        metrics.SAMPLE_ANSWERS.labels(kind, answer).set(seen.sample_answers.get((kind, answer), 0))
    for waits_in, stage in STAGES.items():
        metrics.OLDEST_DUE.labels(stage).set(max(0.0, seen.oldest_due_seconds.get(waits_in, 0.0)))
    metrics.UNSEALED.set(seen.unsealed)
    metrics.STREAM_LAG.set(stream_lag(using))


def stream_lag(using: Resources) -> int:
    """Entries not yet acknowledged: unread and pending."""
    try:
        groups = using.redis.xinfo_groups(STREAM)
    except ResponseError:
        return 0
    return sum((group["lag"] or 0) + group["pending"] for group in groups if group["name"] == GROUP.encode())


def seal(using: Resources, conn: Connection) -> None:
    """Seal the ledger, and tell somebody outside the database."""
    made = ledger.seal(conn)
    if made is not None:
        metrics.SEALED.inc(made.entries)
        log.info("ledger_sealed", below=made.below, total=made.total, hash=made.hash.hex())
    if using.context.witness is not None:
        file = Path(using.context.witness) / SEALS
        for unseen in ledger.seals(conn, above=last_witnessed(file)):
            append(file, {**asdict(unseen), "hash": unseen.hash.hex(), "at": unseen.at.isoformat()})


def last_witnessed(file: Path) -> int:
    """The last seal's `below` in the file; 0 before the first. What could not be written then is written later."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return 0
    return int(json.loads(lines[-1])["below"]) if lines else 0


def purge(conn: Connection) -> None:
    """What is past its date goes, as `afterword retention run` would have it, for a few seconds a round."""
    until = time.monotonic() + PURGE_SECONDS
    while done := retention.purge_batch(conn, actor="housekeeping"):
        for (store, _), rows in done.items():
            metrics.PURGED.labels(store).inc(rows)
        if time.monotonic() > until:
            break
    overdue = retention.overdue_seconds(conn)
    for store in retention.STORES:
        metrics.PURGE_OVERDUE.labels(store).set(overdue.get(store, 0.0))


def trim(using: Resources) -> None:
    """Cut what was set aside for longer than rejected events are kept, never past the oldest unacknowledged entry.

    All else leaves the stream as it is acknowledged.
    """
    oldest = int((time.time() - using.context.limits.rejected_days * 86_400) * 1000)
    try:
        groups = [group for group in using.redis.xinfo_groups(STREAM) if group["name"] == GROUP.encode()]
    except ResponseError:
        return
    for group in groups:
        unacknowledged = using.redis.xpending(STREAM, GROUP)["min"] or group["last-delivered-id"]
        keep_from = min(oldest, int(unacknowledged.split(b"-")[0]))
        using.redis.xtrim(STREAM, minid=keep_from, approximate=False)


def index(conn: Connection) -> None:
    """Every space, also one that is being filled or was switched away from: erasure does not wait for its end."""
    for stamp in embedding.stamps(conn):
        housekeeping.index_vectors(conn, stamp)


def mark_used(conn: Connection) -> None:
    housekeeping.mark_used(conn, seconds=SLOW_ROUND_SECONDS * 4)
    metrics.STAMP_EXCLUDED.inc(housekeeping.newly_excluded(conn))


def give_up_calls(conn: Connection) -> None:
    """Calls reserved by workers that never came back, and how many runs wait to be admitted."""
    if lost := model_calls.give_up(conn):
        log.warning("calls_lost", calls=lost)
    for reason, runs in model_calls.waiting(conn).items():
        metrics.NOT_ADMITTED.labels(reason).set(runs)


def ring_for_passes(using: Resources, conn: Connection) -> None:
    """A pass that is due is consolidation's to ask about, once no run waits for it."""
    if passes.any_due(conn):
        ring(using.redis, "consolidation", past_marker=True)


def hear_silence(conn: Connection) -> None:
    """What fails by saying nothing: digests without an item, and outcomes that were not written."""
    metrics.OUTCOMES_LOST.set(outcomes.lost(conn))
    empty = housekeeping.empty_digests(conn)
    metrics.DIGESTS_EMPTY.set(sum(empty.values()))
    for org, digests in empty.items():
        log.warning("digests_empty", org=org, digests=digests)
