"""The stage runner: claim -> work -> commit -> ring, the same loop for every stage.

A stage turns claimed runs into outcomes, outside any transaction, and writes the outputs of those that won the
compare-and-set. What an outcome means in the database stands here and nowhere else.

Failure handling: a run that raises, at work or as it is written, fails alone; a commit that the data breaks is
repeated run by run, and only the guilty one dies. When Postgres goes away the runs at hand are given back, or their
leases lapse. Nothing here decides by the name of an exception.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Generic, Protocol, TypeVar
from uuid import UUID

import structlog
from uuid_utils.compat import uuid7

from db import runs
from db.connect import Connection, DatabaseError, is_data, is_transient
from db.runs import Claimed
from pipeline.errors import AfterwordError
from pipeline.outcome import Bury, Done, ErrorCode, Outcome, Retry, Skip, Snooze
from pipeline.states import RunState
from workers import metrics
from workers.bell import ring, stopping
from workers.context import Resources, resources
from workers.lease import kept_lease

T = TypeVar("T")
Worked = Sequence[tuple[Claimed, Outcome[T]]]
MAX_LEASE_LOSSES = 5
COMMIT_TRIES = 3

log = structlog.get_logger()


class Stage(Protocol[T]):
    """What a stage module provides."""

    @property
    def name(self) -> str: ...

    @property
    def takes(self) -> RunState: ...

    @property
    def gives(self) -> RunState: ...

    @property
    def rings(self) -> str | None:
        """The stage that has something to do once this one commits."""

    def work(self, using: Resources, claimed: Sequence[Claimed]) -> Iterator[Worked[T]]:
        """Yield groups of (run, outcome), each run once; a group is committed as soon as it is yielded."""

    def write(self, conn: Connection, done: Sequence[tuple[Claimed, T]]) -> None:
        """Write the outputs of the winners, inside their transaction."""


def work_through(stage: Stage[T]) -> None:
    """Claim, work and commit until nothing is due, time is up or a stop was asked for; then ring if work is left."""
    using = resources()
    limits = using.context.limits
    ends = time.monotonic() + limits.drain_seconds
    _work_suspect(using, stage)
    while time.monotonic() < ends and not stopping.is_set():
        lease = uuid7()
        with using.pool.connection() as conn:
            claimed = runs.claim(conn, stage.takes, lease, batch=limits.batch_size, lease_seconds=limits.lease_seconds)
        if not claimed:
            return _work_suspect(using, stage)
        if len(claimed) == limits.batch_size:
            ring(using.redis, stage.name)
        Batch(using, stage, lease, claimed).run()
    with using.pool.connection() as conn:
        if runs.has_due(conn, stage.takes):
            ring(using.redis, stage.name)
    return None


def _work_suspect(using: Resources, stage: Stage[T]) -> None:
    """One run whose workers were lost with it: alone, and set aside after the fifth."""
    lease = uuid7()
    with using.pool.connection() as conn:
        claimed = runs.claim_suspect(conn, stage.takes, lease, lease_seconds=using.context.limits.lease_seconds)
    if not claimed:
        return
    batch = Batch(using, stage, lease, claimed)
    if claimed[0].lease_losses >= MAX_LEASE_LOSSES:
        detail = f"{claimed[0].lease_losses} workers were lost while they held it"
        batch.commit([(claimed[0], Bury(ErrorCode.KILLS_WORKER, detail))])
    else:
        batch.run()
    ring(using.redis, stage.name)


class Batch(Generic[T]):
    """Runs claimed together under one lease."""

    def __init__(self, using: Resources, stage: Stage[T], lease: UUID, claimed: Sequence[Claimed]) -> None:
        self._using, self._stage, self._lease, self._claimed = using, stage, lease, claimed
        self._limits = using.context.limits

    def run(self) -> None:
        started = time.monotonic()
        name = self._stage.name
        metrics.STAGE_BATCH.labels(name).observe(len(self._claimed))
        metrics.LOST_LEASES.labels(name).inc(sum(run.lease_losses > 0 for run in self._claimed))
        try:
            with kept_lease(self._using.pool, self._lease, self._claimed, self._limits.lease_seconds):
                for group in self._work():
                    self.commit(group)
        except BaseException:
            self._give_back()
            raise
        metrics.STAGE_SECONDS.labels(name).observe(time.monotonic() - started)

    def _work(self) -> Iterator[Worked[T]]:
        left = {run.id: run for run in self._claimed}
        try:
            for group in self._stage.work(self._using, self._claimed):
                for run, _ in group:
                    del left[run.id]
                yield group
        except Exception as error:
            if _is_transient(error):
                raise
            log.warning("batch_failed", stage=self._stage.name, runs=len(left), exc_info=True)
        for run in left.values():
            yield self._work_alone(run)

    def _work_alone(self, run: Claimed) -> Worked[T]:
        try:
            worked = [item for group in self._stage.work(self._using, [run]) for item in group]
        except Exception as error:
            if _is_transient(error):
                raise
            log.warning("run_failed", stage=self._stage.name, run=str(run.id), exc_info=True)
            return [(run, _failure(error))]
        return worked or [(run, Retry(ErrorCode.INTERNAL, "the stage gave no outcome"))]

    def _give_back(self) -> None:
        with suppress(DatabaseError), self._using.pool.connection(timeout=1) as conn:
            runs.release(conn, [run.id for run in self._claimed], self._lease)

    def commit(self, group: Worked[T]) -> None:
        """All in one transaction; if a run's output breaks it, one by one."""
        try:
            self._commit(group)
        except Exception as error:
            if _is_transient(error):
                raise
            if len(group) > 1:
                for item in group:
                    self.commit([item])
                return
            run, outcome = group[0]
            if not isinstance(outcome, Done):  # what a failure writes is our own, so that there is nobody to blame
                raise
            log.warning("run_refused", stage=self._stage.name, run=str(run.id), exc_info=True)
            self._commit([(run, _failure(error))])

    def _commit(self, group: Worked[T]) -> None:
        for attempt in range(1, COMMIT_TRIES + 1):
            try:
                with self._using.pool.connection() as conn, conn.transaction():
                    self._write(conn, group)
                break
            except DatabaseError as error:
                # Safe to repeat: a commit that did happen leaves nothing for the compare-and-set to win.
                if attempt == COMMIT_TRIES or not is_transient(error):
                    raise
                log.warning("commit_repeated", stage=self._stage.name, attempt=attempt, sqlstate=error.sqlstate)
                time.sleep(0.1 * attempt)
        for _, outcome in group:
            metrics.STAGE_OUTCOMES.labels(self._stage.name, type(outcome).__name__.lower()).inc()
        if self._stage.rings and any(isinstance(outcome, Done) for _, outcome in group):
            ring(self._using.redis, self._stage.rings)

    def _write(self, conn: Connection, group: Worked[T]) -> None:
        done = [(run, outcome.output) for run, outcome in group if isinstance(outcome, Done)]
        if done:
            won = runs.complete(
                conn, [run.id for run, _ in done], self._lease,
                from_state=self._stage.takes, to_state=self._stage.gives, actor=self._stage.name,
            )  # fmt: skip
            self._stage.write(conn, [(run, output) for run, output in done if run.id in won])
        for run, outcome in group:
            if not isinstance(outcome, Done):
                self._turn_away(conn, run, outcome)

    def _turn_away(self, conn: Connection, run: Claimed, outcome: Retry | Snooze | Skip | Bury) -> None:
        at, lease = self._stage.takes, self._lease
        match outcome:
            case Retry(code, detail) if run.attempts + 1 >= self._limits.attempts_max:
                runs.bury(conn, run.id, lease, from_state=at, code=code, detail=detail, actor=self._stage.name)
            case Retry(code, detail, after):
                seconds = self._backoff(run.attempts) if after is None else after
                runs.retry(conn, run.id, lease, from_state=at, code=code, detail=detail, after_seconds=seconds)
            case Snooze(until, reason):
                runs.snooze(conn, run.id, lease, from_state=at, until=until, reason=reason)
            case Skip(reason):
                runs.skip(conn, run.id, lease, from_state=at, reason=reason, actor=self._stage.name)
            case Bury(code, detail):
                runs.bury(conn, run.id, lease, from_state=at, code=code, detail=detail, actor=self._stage.name)

    def _backoff(self, attempts: int) -> float:
        """Seconds: doubling from the first to the cap, jittered by half so that a herd does not return as one."""
        full = min(self._limits.backoff_cap_seconds, self._limits.backoff_first_seconds * 2.0**attempts)
        return full * random.uniform(0.5, 1.0)  # noqa: S311


def _is_transient(error: Exception) -> bool:
    return isinstance(error, DatabaseError) and is_transient(error)


def _failure(error: Exception) -> Retry | Bury:
    """What an error says about the run it fell upon; never with the content in it."""
    if isinstance(error, DatabaseError):
        detail = f"{error.sqlstate} {error.diag.constraint_name or error.diag.column_name or ''}".strip()
        return Bury(ErrorCode.DATA_REFUSED, detail) if is_data(error) else Retry(ErrorCode.INTERNAL, detail)
    return Retry(ErrorCode.INTERNAL, str(error) if isinstance(error, AfterwordError) else type(error).__name__)


def one_group(outcomes: Iterable[tuple[Claimed, Outcome[T]]]) -> Iterator[Worked[T]]:
    """All runs of a batch as one group."""
    group = list(outcomes)
    if group:
        yield group
