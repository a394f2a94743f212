"""Looking again at what stands already, on request: batch by batch, at the request's rate, after what is due.

    request --batch--> look with today's detectors --> move what must be moved, mark the rest as looked at --+
       ^                                                                                                   |
       +---------------- how far it is, committed with what was done: killed here, it goes on there <-------+

Carried out where detectors are loaded: by whoever answers redaction's bell, once no run is due.

Failure handling: a row that changed while it was looked at is left, and comes again in the next pass; so does one that
a person is deciding upon. A text that a detector cannot read is counted as failed and not marked.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import structlog

from db import reclassify as store
from db import runs
from db.connect import Connection, DatabaseError, is_data, is_transient
from db.events import orgs
from db.reclassify import Act, Request, Row
from db.redaction import Said
from db.redaction import refused as kept_out
from pipeline.errors import DetectorDown
from pipeline.reconsidering import Move, Policy, Reconsidered, reevaluate, rescan, texts_of
from pipeline.redaction.health import Health
from pipeline.redaction.redactor import Inspector
from pipeline.states import MemoryStatus, RunState
from workers import metrics
from workers.bell import ring, stopping
from workers.context import Resources, resources
from workers.stores import STORES, look_through
from workers.watch import within

BATCH = 64
PASSES_MAX = 3
REST_SECONDS = 1.0

log = structlog.get_logger()
Looked = list[tuple[Row, Reconsidered | None]]
"""None where a detector could not read the memory."""


def drain() -> None:
    """Batches of what was requested, until none is open, a run is due, or time is up."""
    using = resources()
    ends = time.monotonic() + using.context.limits.drain_seconds
    while time.monotonic() < ends and not stopping.is_set():
        rest = step(using)
        if rest is None:
            return
        with using.pool.connection() as conn:
            if runs.has_due(conn, RunState.EXTRACTED):
                break
        stopping.wait(min(rest, REST_SECONDS))
    ring(using.redis, "redaction")


def step(using: Resources) -> float | None:
    """One batch of the request whose turn it is. Returns the seconds to rest after it, None where none is open."""
    health = using.watch.health()
    try:
        with using.pool.connection() as conn, conn.transaction():
            request = store.next_open(conn)
            if request is None:
                return None
            admitted = _admitted(request)
            if admitted < 1:
                return (1 - admitted) / request.rate_per_second
            store.give_way_soon(conn)
            moves = _Batch(using, conn, request, health, int(admitted)).run()
    except DatabaseError as error:
        if not is_transient(error):
            raise
        log.info("reclassification_waits", sqlstate=error.sqlstate)
        return REST_SECONDS
    if moves[Move.RELEASE]:
        ring(using.redis, "embedding")
    return 0.0


def _admitted(request: Request) -> float:
    """How many rows the rate admits since the last batch; never more than a batch, or than a second's worth."""
    rate = request.rate_per_second
    if request.rested_seconds is None:
        return min(BATCH, max(1.0, rate))
    return min(BATCH, max(1.0, rate), rate * request.rested_seconds)


@dataclass
class _Batch:
    """One batch of one request, inside the transaction that holds it."""

    using: Resources
    conn: Connection
    request: Request
    health: Health
    limit: int

    def run(self) -> Counter[str]:
        request, counts = self.request, Counter(self.request.counts)
        if request.status == "requested" and not self._begin(counts):
            self._advance(counts, "stopped", request.store, None)
            return counts
        moves = Counter[str]()
        if request.store == "memories":
            after, moves = self._memories(counts)
        else:
            act = Act(request.id, request.actor, self.health.digest)
            after = look_through(self.conn, request, act, self.health.answering, counts, self.limit)
        self._advance(counts, *self._next(after, counts))
        return moves

    def _begin(self, counts: Counter[str]) -> bool:
        """Says how much there is; a plan whose rows are not those that were confirmed is not applied."""
        if self.request.kind == "apply" and not store.plan_stands(self.conn, self.request):
            return False
        counts["of"] = store.left(self.conn, self.request, detectors=self._unless_by, live=self._live)
        return True

    @property
    def _unless_by(self) -> str | None:
        return self.health.digest if self.request.kind == "rescan" else None

    @property
    def _live(self) -> bool:
        return self.request.kind != "rescan"

    def _memories(self, counts: Counter[str]) -> tuple[str | None, Counter[str]]:
        """The key of the last memory looked at, None when there are no more; and the moves made."""
        rows = store.memories(
            self.conn, self.request, detectors=self._unless_by, live=self._live, limit=self.limit
        )  # fmt: skip
        looked = self._look(rows)
        failed = [row for row, new in looked if new is None]
        moved = [(row, new) for row, new in looked if new is not None and new.move is not Move.KEEP]
        kept = [row for row, new in looked if new is not None and new.move is Move.KEEP]
        counts.update(looked=len(rows), failed=len(failed))
        if self.request.kind == "apply":
            planned = self._as_planned(moved)
            counts["differs_now"] += len(kept) + len(moved) - len(planned)
            moved = planned
        done = moved if self._only_says else self._carry_out(moved, counts)
        store.note_changes(self.conn, self.request, done)
        if self.request.kind == "rescan" and not self.request.dry_run:
            store.mark(self.conn, kept, self.health.digest)
        moves = Counter[str](new.move.value for _, new in done)
        counts.update(moves)
        if not self._only_says:
            for move, number in moves.items():
                metrics.RECLASSIFIED.labels(move).inc(number)
        return (str(rows[-1].id) if rows else None), moves

    @property
    def _only_says(self) -> bool:
        return self.request.dry_run or self.request.kind == "reevaluate"

    def _look(self, rows: Sequence[Row]) -> Looked:
        """All together; if that does not come back, each alone with the detectors that still answer."""
        policies, rows = self._policies(rows), self._refused(rows)
        try:
            return self._within(lambda health: self._considered(rows, policies, health))
        except DetectorDown:
            self.using.watch.expire()
            self.health = self.using.watch.health()
        looked: Looked = []
        for row in rows:
            try:
                looked += self._within(lambda health, row=row: self._considered([row], policies, health))  # type: ignore[misc]
            except DetectorDown:
                looked.append((row, None))
        return looked

    def _within(self, look: Callable[[Health], Looked]) -> Looked:
        health = self.health
        return within(self.using.context.limits.inspection_seconds, lambda: look(health))

    def _considered(self, rows: Sequence[Row], policies: dict[int, Policy], health: Health) -> Looked:
        inspect = Inspector(health.answering, (text for row in rows for text in texts_of(row.stored)))
        consider = rescan if self.request.kind == "rescan" else reevaluate
        looked: Looked = []
        for row in rows:
            try:
                looked.append((row, consider(row.stored, inspect, policies[row.org_id])))
            except DetectorDown:
                looked.append((row, None))
        return looked

    def _refused(self, rows: Sequence[Row]) -> list[Row]:
        """The rows, with whether a person kept the text of what waits out before."""
        waiting = {row.id: Said(row.org_id, *row.scope, row.stored.content) for row in rows
                   if row.stored.status is MemoryStatus.PENDING}  # fmt: skip
        refused = kept_out(self.conn, set(waiting.values()))
        return [
            replace(row, stored=replace(row.stored, refused=True)) if waiting.get(row.id) in refused else row
            for row in rows
        ]

    def _policies(self, rows: Sequence[Row]) -> dict[int, Policy]:
        found = orgs(self.conn, ids=list({row.org_id for row in rows}))
        return {org.id: Policy(org.settings.uncovered(self.health), org.settings.activatable_classes) for org in found}

    def _as_planned(self, moved: list[tuple[Row, Reconsidered]]) -> list[tuple[Row, Reconsidered]]:
        """Only what comes out today as two people were shown it."""
        plan = store.planned(self.conn, self.request, [row for row, _ in moved])
        return [
            (row, new) for row, new in moved
            if plan.get(row.id) == (row.revision, row.stored.status, new.move, list(new.classes), list(new.reasons))
        ]  # fmt: skip

    def _carry_out(self, moved: list[tuple[Row, Reconsidered]], counts: Counter[str]) -> list[tuple[Row, Reconsidered]]:
        """A row that the database refuses fails alone."""
        act = Act(self.request.id, self.request.actor, self.health.digest)
        done = []
        for row, new in moved:
            if new.move is Move.ERASE and row.on_hold:
                counts["on_hold"] += 1
                continue
            try:
                with self.conn.transaction():
                    carried = store.carry_out(self.conn, act, row, new)
            except DatabaseError as error:
                if not is_data(error):
                    raise
                log.warning("reclassification_refused", memory=str(row.id), sqlstate=error.sqlstate)
                counts["failed"] += 1
                continue
            counts["missed"] += not carried
            done += [(row, new)] * carried
        return done

    def _next(self, after: str | None, counts: Counter[str]) -> tuple[str, str, str | None]:
        """(status, store, key) from here on."""
        if after is not None:
            return "running", self.request.store, after
        stores = ("memories", *STORES) if self.request.kind == "rescan" else ("memories",)
        following = stores.index(self.request.store) + 1
        if following < len(stores):
            return "running", stores[following], None
        if counts["missed"] and not self._only_says and self.request.passes + 1 < PASSES_MAX:
            return "running", stores[0], None
        return "finished", self.request.store, None

    def _advance(self, counts: Counter[str], status: str, of_store: str, after: str | None) -> None:
        again = status == "running" and after is None and of_store == "memories"
        if again:
            counts["missed"] = 0
        store.advance(
            self.conn, self.request, status=status, store=of_store, after=after, counts=dict(counts),
            passes=self.request.passes + again, detectors=self.health.digest,
        )  # fmt: skip
        if status != "running":
            log.info("reclassification_ended", request=str(self.request.id), status=status, counts=dict(counts))
