"""extracted -> redacted: every text of a batch is looked at together, HIGH is replaced, the gate decides.

Memories are recallable from this commit on.

A verdict run carries a text a person typed the same way, then does what the person asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from uuid_utils.compat import uuid7

from db import extraction as transcripts
from db import redaction as store
from db.connect import Connection
from db.events import Org, orgs
from db.reclassify import looking
from db.redaction import NewDrop, NewMemory, Said
from db.runs import Claimed
from pipeline.drafting import Gated, distinct, gate_candidate, gate_text, texts_of
from pipeline.dropping import Dropping
from pipeline.errors import DetectorDown
from pipeline.extraction.staging import StagedCandidate, StagedEnvelope
from pipeline.extraction.wording.stakes import stakes
from pipeline.gate import Activate, Drop, Hold
from pipeline.memory import HoldReason, MemoryDraft
from pipeline.outcome import Bury, Done, ErrorCode, Outcome, Retry
from pipeline.redaction.health import Health
from pipeline.redaction.redactor import Inspector
from pipeline.retention import kept_days
from pipeline.states import RunKind, RunState
from pipeline.subjects import Keyring, Name, names_in
from workers import metrics, subjects, verdicts
from workers.context import Resources
from workers.stage import Worked
from workers.subjects import Named
from workers.verdicts import Applied
from workers.watch import within


@dataclass(frozen=True)
class Redacted:
    """What a run becomes: memories, drops, or a verdict applied."""

    named: Named
    memories: list[NewMemory] = field(default_factory=list)
    drops: list[NewDrop] = field(default_factory=list)
    applied: Applied | None = None
    detectors: str = ""


class Redaction:
    name = "redaction"
    takes = RunState.EXTRACTED
    gives = RunState.REDACTED
    rings = "embedding"

    def work(self, using: Resources, claimed: Sequence[Claimed]) -> Iterator[Worked[Redacted]]:
        with using.pool.connection() as conn:
            envelopes = store.envelopes(conn, [run.id for run in claimed])
            by_id = {org.id: org for org in orgs(conn, ids=list({run.org_id for run in claimed}))}
            about = store.verdict_memories(conn, [run.memory_id for run in claimed if run.memory_id])
            packed = transcripts.transcripts(conn, [run.id for run in claimed])
        bodies = {run.id: _body(run, envelopes[run.id]) for run in claimed if run.id in envelopes}
        health, texts = using.watch.health(), [text for body in bodies.values() for text in _texts(body)]

        def judged() -> Worked[Redacted]:
            inspect = Inspector(health.answering, texts)
            said = {text for run in claimed if run.id in bodies for text in _said(run, bodies[run.id], about, inspect)}
            with using.pool.connection() as conn:
                refused = store.refused(conn, said)
            judge = _Judge(using, health, inspect, refused, packed, using.context.dropping)
            outcomes = ((run, judge.outcome(run, bodies.get(run.id), by_id[run.org_id], about)) for run in claimed)
            return [(run, _stamped(outcome, health.digest)) for run, outcome in outcomes]

        try:
            yield within(using.context.limits.inspection_seconds, judged)
        except DetectorDown as error:
            using.watch.expire()
            if len(claimed) > 1:  # each alone, so that it is seen whose text it is
                raise
            yield [(claimed[0], Retry(ErrorCode.DETECTOR_FAILED, str(error)))]

    def write(self, conn: Connection, done: Sequence[tuple[Claimed, Redacted]]) -> None:
        erased = subjects.settle(conn, [(run, out.named) for run, out in done])
        store.discard_envelopes(conn, [run.id for run, _ in done])
        done = [(run, out) for run, out in done if run.id not in erased]
        for digest in {out.detectors for _, out in done}:  # one: a group is of one batch
            looking(conn, digest)
        store.insert_memories(conn, [memory for _, out in done for memory in out.memories])
        store.insert_drops(conn, [drop for _, out in done for drop in out.drops])
        for run, out in sorted(done, key=lambda item: item[0].id):  # ids rise with time: the last verdict stands
            if out.applied is not None:
                verdicts.apply(conn, run, out.applied)
        subjects.record(conn, [(run, out.named) for run, out in done])


def _stamped(outcome: Outcome[Redacted], digest: str) -> Outcome[Redacted]:
    """With the detector set that looked."""
    return Done(replace(outcome.output, detectors=digest)) if isinstance(outcome, Done) else outcome


def _body(run: Claimed, body: dict[str, Any]) -> StagedEnvelope | dict[str, Any]:
    """A verdict about a memory carries what a person typed; one that restores a drop an envelope like any other."""
    return StagedEnvelope.model_validate(body) if run.memory_id is None else body


def _texts(body: StagedEnvelope | dict[str, Any]) -> Iterable[str]:
    if isinstance(body, StagedEnvelope):
        return (text for candidate in body.everything for text in texts_of(candidate))
    return (body["content"],)


def _said(
    run: Claimed, body: StagedEnvelope | dict[str, Any], about: dict[UUID, dict[str, Any]], inspect: Inspector
) -> Iterator[Said]:
    """The texts that would be kept, as they would be; one that cannot be looked at fails where it is decided about."""
    with suppress(DetectorDown):
        if isinstance(body, StagedEnvelope):
            for candidate in body.everything:
                yield _candidate_said(run, candidate, inspect)
        elif run.memory_id is not None:
            yield _text_said(body["content"], about[run.memory_id], inspect)


def _candidate_said(run: Claimed, candidate: StagedCandidate, inspect: Inspector) -> Said:
    text = inspect(candidate.content).text_redacted
    return Said(run.org_id, candidate.scope.kind, candidate.scope.value, text)


def _text_said(text: str, memory: dict[str, Any], inspect: Inspector) -> Said:
    redacted = inspect(text).text_redacted
    return Said(memory["org_id"], memory["scope_kind"], memory["scope_value"], redacted)


@dataclass(frozen=True, slots=True)
class _Judge:
    """Looks with the detectors that answer; the classes that none of them covers hold what requires them."""

    using: Resources
    health: Health
    inspect: Inspector
    refused: dict[Said, UUID]
    transcripts: dict[UUID, bytes]
    dropping: Dropping

    def outcome(
        self, run: Claimed, body: StagedEnvelope | dict[str, Any] | None, org: Org, about: dict[UUID, dict[str, Any]]
    ) -> Outcome[Redacted]:
        if body is None:
            return Bury(ErrorCode.INTERNAL, "no envelope is staged for this run")
        missing = org.settings.uncovered(self.health)
        try:
            if isinstance(body, StagedEnvelope):
                return self._envelope(run, body, org, missing)
            return self._verdict(run, body, org, missing, about)
        except DetectorDown as error:
            return Retry(ErrorCode.DETECTOR_FAILED, str(error))

    def _envelope(self, run: Claimed, envelope: StagedEnvelope, org: Org, missing: frozenset[str]) -> Outcome[Redacted]:
        result = Redacted(named=self._named(run, envelope))
        for gated in distinct(self._gated(run, item, org, missing, envelope) for item in envelope.everything):
            _count(gated)
            _keep(result, run, gated, envelope.provenance_of(gated.candidate), self.dropping.review_share)
            for memory in result.memories[len(result.named.memories) :]:
                names = names_in(self.inspect, texts_of(gated.candidate)) | _about(gated)
                result.named.memories[memory.draft.id] = names
        return Done(result)

    def _named(self, run: Claimed, envelope: StagedEnvelope) -> Named:
        texts = tuple(_texts(envelope))
        about = [Name(c.subject.type, c.subject.id) for c in envelope.everything if c.subject]
        names = subjects.named(run, self.inspect, texts, about)
        names |= subjects.in_transcript(self.transcripts.get(run.id), self.health.answering)
        return Named(self._keyring(run), names, {}, texts)

    def _keyring(self, run: Claimed) -> Keyring:
        return Keyring(self.using.installation_key, run.org_id)

    def _gated(
        self, run: Claimed, candidate: StagedCandidate, org: Org, missing: frozenset[str], envelope: StagedEnvelope
    ) -> Gated:
        """What a person restored is not dropped again by the rule they overruled."""
        restored, recorded = run.kind is RunKind.VERDICT, "recorded" in run.event  # no sender can say that
        by = envelope.provenance_of(candidate)
        known: dict[str, Any] = {"lifetime_days": kept_days(candidate.kind, org.settings.retention)}
        if recorded:
            known["high_stakes"] = bool(stakes(candidate.content))
        return gate_candidate(
            candidate.model_copy(update=known), self.inspect, missing,
            activatable=org.settings.activatable_classes, decided=recorded and run.event["decided"] is True,
            proposed=run.kind in (RunKind.PROPOSAL, RunKind.NOTE) and not recorded,
            failed=run.event.get("outcome") == "failed",
            refused=self.refused.get(_candidate_said(run, candidate, self.inspect)),
            threshold=None if restored else self.dropping.threshold_above(candidate.confidence, by),
        )  # fmt: skip

    def _verdict(
        self, run: Claimed, body: dict[str, Any], org: Org, missing: frozenset[str], about: dict[UUID, dict[str, Any]]
    ) -> Outcome[Redacted]:
        assert run.memory_id is not None
        memory = about[run.memory_id]
        gated = gate_text(
            body["content"], memory, self.inspect, missing, activatable=org.settings.activatable_classes,
            refused=self.refused.get(_text_said(body["content"], memory, self.inspect)),
        )  # fmt: skip
        applied = Applied(body["act"], memory, gated, body.get("comment"))
        texts = (body["content"], body.get("comment") or "")
        names = names_in(self.inspect, texts[:1])
        return Done(Redacted(Named(self._keyring(run), names, {memory["id"]: names}, texts), applied=applied))


def _about(gated: Gated) -> frozenset[Name]:
    subject = gated.candidate.subject
    return frozenset({Name(subject.type, subject.id)} if subject else ())


def _count(gated: Gated) -> None:
    metrics.GATE_DECISIONS.labels(type(gated.decision).__name__.lower()).inc()
    if isinstance(gated.decision, Hold):
        for reason in gated.decision.reasons:
            metrics.HOLDS.labels(reason).inc()


def _keep(result: Redacted, run: Claimed, gated: Gated, provenance: dict[str, Any], share: int) -> None:
    match gated.decision:
        case Drop(rule):
            assert gated.threshold is not None
            draft = _draft(run, gated, provenance, (), ())
            days = gated.candidate.lifetime_days
            result.drops.append(NewDrop(draft, rule, gated.threshold, days, share))
            metrics.DROPS.labels(rule).inc()
        case Hold(reasons, classes):
            result.memories.append(NewMemory(_draft(run, gated, provenance, reasons, classes), uuid7(), "redaction"))
        case Activate(classes):
            result.memories.append(NewMemory(_draft(run, gated, provenance, (), classes), None, "redaction"))


def _draft(
    run: Claimed, gated: Gated, provenance: dict[str, Any], reasons: tuple[HoldReason, ...], classes: tuple[str, ...]
) -> MemoryDraft:
    candidate = gated.candidate
    return MemoryDraft(
        id=uuid7(), run_id=run.id, org_id=run.org_id, tier=gated.tier, kind=candidate.kind, scope=candidate.scope,
        content=gated.content, rationale=gated.rationale, evidence=gated.evidence, classes=classes,
        hold_reasons=reasons, subject=candidate.subject, author_kind=candidate.author_kind, author=candidate.author,
        provenance=provenance, high_stakes=candidate.high_stakes, importance=candidate.importance,
        observed_at=candidate.observed_at, confidence=candidate.confidence, cites=gated.cites,
        namespace=candidate.namespace, replaces=candidate.replaces,
        expires_at=datetime.now(UTC) + timedelta(days=candidate.lifetime_days),
    )  # fmt: skip
