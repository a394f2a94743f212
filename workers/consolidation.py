"""embedded -> consolidated: repeats are counted, retirements proposed. Its dead letter retracts nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from uuid_utils.compat import uuid7

from db import consolidation as store
from db import embedding
from db.connect import Connection
from db.consolidation import NewMemory, Repeat, Retirement
from db.runs import Claimed
from pipeline.consolidation import contribute as rules
from pipeline.consolidation.contribute import Contribution, MemoryView, contribute, repeated
from pipeline.consolidation.similarity import Likeness
from pipeline.embedding.port import Stamp
from pipeline.extraction.metering import Purpose
from pipeline.outcome import Done
from pipeline.passes.advice import Answered, Unanswered, Unreadable
from pipeline.passes.doubt import PROMPT, decided, doubtful, question
from pipeline.states import RunState
from workers import metrics
from workers.context import Resources
from workers.metering import OrgMeter
from workers.stage import Worked, one_group

ASKED_A_BATCH = 8
"""Questions to a model in one batch; the rest are added, and counted as not asked."""


@dataclass(frozen=True)
class Contributed:
    repeats: list[Repeat] = field(default_factory=list)
    held_repeats: list[Repeat] = field(default_factory=list)
    retirements: list[Retirement] = field(default_factory=list)


class Consolidation:
    name = "consolidation"
    takes = RunState.EMBEDDED
    gives = RunState.CONSOLIDATED
    rings = None

    def work(self, using: Resources, claimed: Sequence[Claimed]) -> Iterator[Worked[Contributed]]:
        with using.pool.connection() as conn:
            current = embedding.current_stamp(conn)
            verdicts = [run.memory_id for run in claimed if run.memory_id]
            fresh = store.new_memories(conn, [run.id for run in claimed], verdicts)
            asked = {new.view.id: rules.phrases(new.view.content) for new in fresh}
            near = store.neighbours(conn, asked, current[0] if current else None)
            above = _cosine_above(conn, current)
            collapse = store.wanting(conn, "near_duplicates", {new.org_id for new in fresh if not new.backfill})
            advised = store.wanting(conn, "model", {new.org_id for new in fresh if not new.backfill})
            held = store.held_memories(conn, [run.id for run in claimed])
            near |= store.held_neighbours(conn, [new.view.id for new in held])
        results = {run.id: Contributed() for run in claimed}
        by_memory = {run.memory_id: run.id for run in claimed if run.memory_id}
        doubts = _Doubts(using, advised, above)
        for new in fresh:
            result = results.get(new.run_id) or results[by_memory[new.view.id]]
            wanted = new.org_id in collapse and not new.backfill
            peers = near.get(new.view.id, [])
            found = contribute(new.view, peers, cosine_above=above if wanted else None)
            _contribute(result, new, doubts.settle(new, peers) if isinstance(found, rules.Add) else found)
        for new in held:
            _count_held(results[new.run_id], new, near.get(new.view.id, []))
        yield from one_group((run, Done(results[run.id])) for run in claimed)

    def write(self, conn: Connection, done: Sequence[tuple[Claimed, Contributed]]) -> None:
        store.count_repeats(conn, _to_roots([r for _, out in done for r in out.repeats]), actor=self.name)
        held = _to_roots([r for _, out in done for r in out.held_repeats])
        store.count_repeats(conn, held, actor=self.name, held=True)
        proposed = _one_question_each([r for _, out in done for r in out.retirements])
        store.propose_retirements(conn, proposed, actor=self.name)


def _cosine_above(conn: Connection, current: tuple[int, Stamp] | None) -> float | None:
    """The cosine under the current stamp that one in a thousand unrelated pairs exceeds; None before calibration."""
    found = embedding.calibrated(conn, current[0]).get("passage") if current else None
    return found.p999 if found else None


@dataclass
class _Doubts:
    """What is asked of a model where the rules abstain: for orgs that want it, no more than a batch may wait for."""

    using: Resources
    advised: frozenset[int]
    cosine_above: float | None
    left: int = ASKED_A_BATCH

    def settle(self, new: NewMemory, near: Sequence[MemoryView]) -> Contribution:
        """Add, unless an answer that can be read says otherwise."""
        if new.org_id not in self.advised or new.backfill:
            return rules.Add()
        peers = doubtful(new.view, near, self.cosine_above)
        adviser = self.using.adviser
        if not peers or adviser is None:
            return rules.Add()
        if self.left == 0:
            metrics.ADVICE.labels("not_asked").inc()
            return rules.Add()
        self.left -= 1
        meter = OrgMeter(self.using.pool, new.org_id, Purpose.CONTRIBUTE, adviser.provider)
        said, found = _read(adviser.ask(PROMPT, question(new.view, peers), meter), new.view, peers)
        metrics.ADVICE.labels(said).inc()
        return found


def _read(answer: Answered | Unanswered, new: MemoryView, peers: Sequence[MemoryView]) -> tuple[str, Contribution]:
    if isinstance(answer, Unanswered):
        return answer.reason, rules.Add()
    try:
        return "read", decided(answer.text, new, peers)
    except Unreadable:
        return "unreadable", rules.Add()


def _contribute(result: Contributed, new: NewMemory, found: Contribution) -> None:
    match found:
        case rules.Repeat(of, likeness):
            result.repeats.append(Repeat(of, new.view.id, new.org_id, likeness))
            metrics.CONTRIBUTIONS.labels("near_repeat" if likeness.kind is Likeness.COSINE else "repeat").inc()
        case rules.Retire(old, reason):
            result.retirements.append(Retirement(new.view.id, new.org_id, old, uuid7()))
            metrics.CONTRIBUTIONS.labels("delete" if reason in ("ended", "model_delete") else "update").inc()
        case rules.Outdated(by):
            result.retirements.append(Retirement(by, new.org_id, (new.view.id,), uuid7()))
            metrics.CONTRIBUTIONS.labels("outdated").inc()
        case rules.Add():
            metrics.CONTRIBUTIONS.labels("add").inc()


def _count_held(result: Contributed, new: NewMemory, near: Sequence[MemoryView]) -> None:
    """A text that waits already is one question to a person, however often it is said."""
    if repeat := repeated(new.view, near):
        result.held_repeats.append(Repeat(repeat.of, new.view.id, new.org_id, repeat.similarity))
        metrics.CONTRIBUTIONS.labels("held_repeat").inc()


def _one_question_each(retirements: Sequence[Retirement]) -> list[Retirement]:
    """What several runs of a batch would have one memory replace is one question."""
    asked: dict[UUID, Retirement] = {}
    for item in retirements:
        known = asked.get(item.id, item)
        asked[item.id] = replace(known, replaces=tuple(dict.fromkeys((*known.replaces, *item.replaces))))
    return list(asked.values())


def _to_roots(repeats: Sequence[Repeat]) -> list[Repeat]:
    """Repeats of repeats count for the first of them, so that none gives way to one that gives way itself."""
    of: dict[UUID, UUID] = {repeat.repeat_id: repeat.memory_id for repeat in repeats}

    def root(memory: UUID) -> UUID:
        while memory in of:
            memory = of[memory]
        return memory

    return [Repeat(root(r.memory_id), r.repeat_id, r.org_id, r.similarity) for r in repeats]
