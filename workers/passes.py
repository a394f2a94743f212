"""The passes over what stands: a question at a time, where an org wants them, by whoever answers consolidation's bell.

    claim a cursor -> select -> ask (outside any transaction) -> record and advance, in one transaction

Failure handling: a worker that is killed leaves a lease, after which the same material comes up again, and proposes the
same runs once. No answer: the cursor stays, and the pass rests for an hour. An answer that does not parse proposes
nothing, is counted, and the cursor moves on. Two workers at once take two cursors.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from uuid import UUID

import structlog

from db import events
from db import passes as store
from db.connect import Connection, Pool
from db.passes import START, Turn
from pipeline.extraction.metering import Purpose
from pipeline.passes import amendment, compaction, mining
from pipeline.passes.advice import Adviser, Answered, Unanswered, Unreadable
from pipeline.passes.material import Dropped, Material, PassName, Proposal, Read, question
from pipeline.provenance import Provenance
from workers import metrics
from workers.bell import ring, stopping
from workers.context import resources
from workers.metering import OrgMeter

AGAIN_SECONDS = 86_400.0
REST_SECONDS = 3_600.0

LETTERS = {
    PassName.COMPACTION: compaction.LETTER, PassName.MINING: mining.LETTER, PassName.AMENDMENT: amendment.LETTER,
}  # fmt: skip
READS: dict[PassName, Read] = {
    PassName.COMPACTION: compaction.proposals, PassName.MINING: mining.proposals,
    PassName.AMENDMENT: amendment.proposals,
}  # fmt: skip

log = structlog.get_logger()


@dataclass
class Ran:
    """One question: how much material it had, what the answer was, and what came of it."""

    name: PassName
    pieces: int
    answer: str
    proposed: list[UUID] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)


def drain() -> None:
    """Question after question until none is due, or time is up."""
    using = resources()
    ends = time.monotonic() + using.context.limits.drain_seconds
    while time.monotonic() < ends and not stopping.is_set():
        with using.pool.connection() as conn:
            turn = store.claim(conn)
        if turn is None:
            return
        step(using.pool, using.adviser, turn)
        ring(using.redis, "redaction")


def step(pool: Pool, adviser: Adviser | None, turn: Turn) -> Ran | None:
    """One question of a claimed pass; None where nothing is left, and the cursor begins anew tomorrow."""
    with pool.connection() as conn:
        material = store.select(conn, turn.org_id, turn.name, turn.after)
        if material is None:
            over = turn.after if turn.name is PassName.MINING else START  # outcomes are read once
            store.advance(conn, turn, after=over, seconds=AGAIN_SECONDS)
            return None
    meter = OrgMeter(pool, turn.org_id, Purpose(turn.name), adviser.provider if adviser else "none")
    asked = question(material, LETTERS[turn.name])
    answer = adviser.ask(turn.name, asked, meter) if adviser else Unanswered("no_model")
    if isinstance(answer, Unanswered):
        return _rest(pool, turn, material, answer)
    return _record(pool, turn, material, answer)


def _rest(pool: Pool, turn: Turn, material: Material, answer: Unanswered) -> Ran:
    metrics.PASS_ANSWERS.labels(turn.name, answer.reason).inc()
    log.info("pass_unanswered", org=turn.org_id, pass_=turn.name, reason=answer.reason)
    with pool.connection() as conn:
        store.advance(conn, turn, after=turn.after, seconds=REST_SECONDS)
    return Ran(turn.name, len(material.pieces), answer.reason)


def _record(pool: Pool, turn: Turn, material: Material, answer: Answered) -> Ran:
    try:
        found, said = READS[turn.name](answer.text, material), "read"
    except Unreadable:
        found, said = [], "unreadable"
    metrics.PASS_ANSWERS.labels(turn.name, said).inc()
    ran = Ran(turn.name, len(material.pieces), said)
    with pool.connection() as conn, conn.transaction():
        if not store.advance(conn, turn, after=material.after, seconds=0):
            return Ran(turn.name, len(material.pieces), "lease_lost")
        (org,) = events.orgs(conn, ids=[turn.org_id])
        for item in found:
            run = _propose(conn, turn, material, item, answer.provenance, org.settings.retention)
            if run is not None:
                ran.proposed.append(run)
            elif isinstance(item, Dropped):
                ran.dropped.append(item.reason)
        counts = {"answer": said, "pieces": ran.pieces, "proposed": len(ran.proposed), "dropped": Counter(ran.dropped)}
        store.say_ran(conn, turn, counts)
    metrics.PASS_PROPOSALS.labels(turn.name, "proposed").inc(len(ran.proposed))
    metrics.PASS_PROPOSALS.labels(turn.name, "dropped").inc(len(ran.dropped))
    return ran


def _propose(
    conn: Connection, turn: Turn, material: Material, item: Proposal | Dropped, by: Provenance,
    days: dict[str, int],
) -> UUID | None:  # fmt: skip
    if isinstance(item, Proposal):
        return store.propose(conn, turn, material, item, by, days)
    store.keep_drop(conn, turn, item)
    return None
