"""received -> extracted: a model, or the run's own text, proposes; code checks the evidence and says what it is.

Each run is committed as it arrives: extractors are slow, and one hanging call must not hold back its batch.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from db import extraction as store
from db.connect import Connection
from db.events import orgs
from db.runs import Claimed
from pipeline import turns
from pipeline.extraction.circuit import CircuitState
from pipeline.extraction.port import ExtractionJob, ExtractionOutcome, Extractor, Guarded, Proposal
from pipeline.extraction.proposal import propose
from pipeline.extraction.short import skip_reason
from pipeline.extraction.staging import stage_proposal
from pipeline.outcome import Bury, Done, ErrorCode, Outcome, Skip, SkipReason
from pipeline.states import RunKind, RunState
from pipeline.transcripts import unpack
from workers import metrics
from workers.context import Resources
from workers.metering import RunMeter
from workers.stage import Worked

Staged = dict[str, Any]
Waiting = tuple[Claimed, ExtractionJob, bool]
"""A run, what is asked for it, and whether what was said is kept besides."""


class Extraction:
    name = "extraction"
    takes = RunState.RECEIVED
    gives = RunState.EXTRACTED
    rings = "redaction"

    def work(self, using: Resources, claimed: Sequence[Claimed]) -> Iterator[Worked[Staged]]:
        with using.pool.connection() as conn:
            bodies = store.transcripts(conn, [run.id for run in claimed])
            settings = {org.id: org.settings for org in orgs(conn, ids=list({run.org_id for run in claimed}))}
        decided: list[tuple[Claimed, Outcome[Staged]]] = []
        waiting: dict[UUID, Waiting] = {}
        for run in claimed:
            ready = _prepare(run, bodies.get(run.id), settings[run.org_id].extraction)
            if isinstance(ready, ExtractionJob):
                meter = RunMeter(using.pool, run.id, using.extractor.provider)
                keeps_turns = run.kind is RunKind.SESSION and settings[run.org_id].turns
                waiting[run.id] = (run, replace(ready, meter=meter), keeps_turns)
            else:
                decided.append((run, ready))
        if decided:
            yield decided
        if waiting:
            yield from _extract(using.extractor, waiting)

    def write(self, conn: Connection, done: Sequence[tuple[Claimed, Staged]]) -> None:
        if done:
            store.stage_envelopes(conn, {run.id: (run.org_id, body) for run, body in done})


def _prepare(run: Claimed, body: bytes | None, extraction_on: bool) -> ExtractionJob | Outcome[Staged]:
    """What must be asked of a model, or what is decided without one."""
    is_session = run.kind in (RunKind.SESSION, RunKind.REEXTRACT)
    if is_session and not extraction_on:
        return Skip(SkipReason.EXTRACTION_OFF)
    if body is None:
        if run.event.get("kept") is False:
            return Skip(SkipReason.EXTRACTION_OFF)
        return Bury(ErrorCode.TRANSCRIPT_UNREADABLE, "the transcript was purged before the run was extracted")
    try:
        job = ExtractionJob(run.id, unpack(body), run.first_own)
    except ValueError as error:
        return Bury(ErrorCode.TRANSCRIPT_UNREADABLE, str(error)[:200])
    if not is_session:
        return _staged(run, job, False, propose(job))
    reason = skip_reason(job.transcript, job.first_own)
    return job if reason is None else Skip(reason)


def _extract(extractor: Extractor, waiting: dict[UUID, Waiting]) -> Iterator[Worked[Staged]]:
    """Groups of whatever has arrived since the last commit; at least one run each."""
    jobs = [job for _, job, _ in waiting.values()]
    for arrived in _as_they_arrive(extractor.extract_many(jobs)):
        _show_circuit(extractor)
        yield [(waiting[run][0], _staged(*waiting[run], outcome)) for run, outcome in arrived]


def _as_they_arrive(
    outcomes: Iterable[tuple[UUID, ExtractionOutcome]],
) -> Iterator[list[tuple[UUID, ExtractionOutcome]]]:
    arrivals: queue.SimpleQueue[tuple[UUID, ExtractionOutcome] | BaseException | None] = queue.SimpleQueue()

    def pull() -> None:
        try:
            for outcome in outcomes:
                arrivals.put(outcome)
            arrivals.put(None)
        except BaseException as error:
            arrivals.put(error)

    threading.Thread(target=pull, name="extractor", daemon=True).start()
    while True:
        batch = [arrivals.get()]
        while not arrivals.empty():
            batch.append(arrivals.get())
        last = batch[-1]
        if group := [item for item in batch if isinstance(item, tuple)]:
            yield group
        if isinstance(last, BaseException):
            raise last
        if last is None:
            return


def _staged(run: Claimed, job: ExtractionJob, keeps_turns: bool, outcome: ExtractionOutcome) -> Outcome[Staged]:
    if not isinstance(outcome, Done):
        return outcome
    _count(outcome.output)
    staged = stage_proposal(job, outcome.output, agent=run.agent, user=run.user_id, ended_at=run.ended_at)
    if keeps_turns:
        staged = turns.add(staged, job, agent=run.agent, user=run.user_id, ended_at=run.ended_at)
    return Done(staged)


def _show_circuit(extractor: Extractor) -> None:
    if isinstance(extractor, Guarded):
        for state in CircuitState:
            metrics.MODEL_CIRCUITS.labels(extractor.provider, state).set(extractor.circuit is state)


def _count(proposal: Proposal) -> None:
    provider = proposal.provenance.provider
    metrics.ENVELOPES.labels(provider).inc()
    metrics.CANDIDATES.labels(provider).inc(len(proposal.envelope.candidates))
    metrics.ZERO_YIELD.labels(provider).inc(not proposal.envelope.candidates)
