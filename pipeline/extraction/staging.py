"""What stands in `envelopes` between extraction and redaction: candidates with what server code found about them.

Proven secrets and numbers a model repeated are masked here, before the first copy is written.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from pipeline.candidate import Candidate, Envelope
from pipeline.extraction import evidence
from pipeline.extraction.classifier import classify
from pipeline.extraction.port import ExtractionJob, Proposal
from pipeline.extraction.stamp import rules_revision
from pipeline.memory import TURN, AuthorKind, HoldReason, Scope, Subject, content_hash
from pipeline.redaction.redactor import without_high


class StagedCandidate(BaseModel):
    """A candidate after evidence check and classifier; times aware, `lifetime_days` whole days."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    content: str
    kind: str
    rationale: str
    evidence: list[dict[str, Any]]
    confidence: float | None
    hold_reasons: tuple[HoldReason, ...]
    subject: Subject | None
    scope: Scope
    author_kind: AuthorKind
    author: str
    high_stakes: bool
    importance: int
    observed_at: datetime
    lifetime_days: int
    namespace: str = "default"
    replaces: tuple[UUID, ...] = ()


class StagedEnvelope(BaseModel):
    """All candidates of a run, and who proposed them; what was said, where the org keeps it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    candidates: tuple[StagedCandidate, ...]
    provenance: dict[str, Any]
    turns: tuple[StagedCandidate, ...] = ()
    turns_provenance: dict[str, Any] = Field(default_factory=dict)

    @property
    def everything(self) -> tuple[StagedCandidate, ...]:
        """All that may become a memory."""
        return self.candidates + self.turns

    def provenance_of(self, candidate: StagedCandidate) -> dict[str, Any]:
        return self.turns_provenance if candidate.kind == TURN else self.provenance


def stage_proposal(
    job: ExtractionJob, proposal: Proposal, *, agent: str, user: str | None, ended_at: datetime
) -> dict[str, Any]:
    """The JSON document to stage."""
    candidates = stage_candidates(job, proposal.envelope, agent=agent, user=user, ended_at=ended_at)
    provenance = proposal.provenance.model_dump(mode="json") | {
        "calls": proposal.usage.calls,
        "input_tokens": proposal.usage.input_tokens,
        "output_tokens": proposal.usage.output_tokens,
        "rules_revision": rules_revision(),
    }
    envelope = StagedEnvelope(candidates=tuple(item for _, item in candidates), provenance=provenance)
    return envelope.model_dump(mode="json")


def stage_candidates(
    job: ExtractionJob, envelope: Envelope, *, agent: str, user: str | None, ended_at: datetime
) -> list[tuple[Candidate, StagedCandidate]]:
    """Each candidate as proposed and as staged. One that says the same as one before it is left out."""
    staged: dict[bytes, tuple[Candidate, StagedCandidate]] = {}
    for candidate in envelope.candidates:
        item = _stage(job, candidate, agent, user, ended_at)
        staged.setdefault(content_hash(item.content), (candidate, item))
    return list(staged.values())


def _stage(
    job: ExtractionJob, candidate: Candidate, agent: str, user: str | None, ended_at: datetime
) -> StagedCandidate:
    finding = evidence.check(candidate, job.transcript, ended_at)
    said = classify(candidate, finding, agent=agent, user=user)
    return StagedCandidate(
        content=without_high(candidate.content),
        kind=said.kind,
        rationale=without_high(candidate.rationale),
        evidence=[
            {"turn": item.turn, "quote": without_high(item.quote), "role": item.role, "trust": item.trust,
             "at": item.at.isoformat() if item.at else None}
            for item in finding.verified
        ],
        confidence=candidate.confidence,
        hold_reasons=tuple(dict.fromkeys((*finding.hold_reasons, *said.hold_reasons))),
        subject=_named(said.subject),
        scope=said.scope,
        author_kind=said.author_kind,
        author=said.author,
        high_stakes=said.high_stakes,
        importance=said.importance,
        observed_at=finding.observed_at or ended_at,
        lifetime_days=said.lifetime_days,
    )  # fmt: skip


def _named(subject: Subject | None) -> Subject | None:
    """What HIGH replaces is nobody's name."""
    return subject if subject and subject.id == without_high(subject.id) else None
