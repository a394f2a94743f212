"""Who pays for a run's model calls: each is reserved and settled in a transaction of its own, apart from the stage's.

Failure handling: a used-up budget makes the run wait for the next day, and an endpoint that the org does not admit
until it does (looked at once a day, and at once when its settings change); a call that no day's budget can hold ends
the run as skipped; a call that cannot be settled stays reserved, counts as such, and housekeeping gives it up for lost.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

import structlog

from db import model_calls
from db.connect import DatabaseError, Pool
from db.model_calls import EndpointNotAllowed, NeverWithinBudget, OverBudget
from pipeline.extraction.metering import Asked, Purpose, Settled
from pipeline.outcome import ErrorCode, Skip, SkipReason, Snooze
from workers import metrics

SETTLE_TRIES = 3
OVER_BUDGET, ENDPOINT_NOT_ALLOWED = "over_budget", "endpoint_not_allowed"
WAITS_FOR = OVER_BUDGET, ENDPOINT_NOT_ALLOWED, ErrorCode.MODEL_UNAVAILABLE.value

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class RunMeter:
    """The meter of one run, over its org's budget."""

    pool: Pool
    run: UUID
    provider: str

    def reserve(self, asked: Asked) -> UUID | Snooze | Skip:
        return _reserve(self.pool, asked, purpose=Purpose.EXTRACTION, run=self.run)

    def settle(self, call: UUID, settled: Settled) -> None:
        _settle(self.pool, self.provider, call, settled)


@dataclass(frozen=True, slots=True)
class OrgMeter:
    """The meter of a call that no run asks for, over its org's budget."""

    pool: Pool
    org: int
    purpose: Purpose
    provider: str

    def reserve(self, asked: Asked) -> UUID | Snooze | Skip:
        return _reserve(self.pool, asked, purpose=self.purpose, org=self.org)

    def settle(self, call: UUID, settled: Settled) -> None:
        _settle(self.pool, self.provider, call, settled)


def next_day(now: datetime) -> datetime:
    """The next midnight, UTC: when a budget begins anew."""
    return datetime(now.year, now.month, now.day, tzinfo=UTC) + timedelta(days=1)


def _reserve(
    pool: Pool, asked: Asked, *, purpose: Purpose, run: UUID | None = None, org: int | None = None
) -> UUID | Snooze | Skip:
    try:
        with pool.connection() as conn:
            return model_calls.reserve(conn, asked, purpose=purpose, run=run, org=org)
    except OverBudget:
        return Snooze(next_day(datetime.now(UTC)), OVER_BUDGET)
    except EndpointNotAllowed:
        return Snooze(next_day(datetime.now(UTC)), ENDPOINT_NOT_ALLOWED)
    except NeverWithinBudget:
        return Skip(SkipReason.OVER_BUDGET)


def _settle(pool: Pool, provider: str, call: UUID, settled: Settled) -> None:
    _count(provider, settled)
    for attempt in range(1, SETTLE_TRIES + 1):
        try:
            with pool.connection() as conn:
                model_calls.settle(conn, call, settled)
            return
        except DatabaseError as error:
            log.warning("call_not_settled", call=str(call), attempt=attempt, error=type(error).__name__)
            time.sleep(0.2 * attempt)


def _count(provider: str, settled: Settled) -> None:
    """A call that is over, in the metrics of this process."""
    metrics.MODEL_CALLS.labels(provider, settled.outcome).inc()
    if settled.tokens is not None:
        metrics.MODEL_TOKENS.labels(provider, "in").inc(settled.tokens.input)
        metrics.MODEL_TOKENS.labels(provider, "out").inc(settled.tokens.output)
        metrics.UNPRICED_CALLS.labels(provider).inc(settled.cost is None)
    if settled.cost is not None:
        metrics.MODEL_USD.labels(provider).inc(float(settled.cost))
