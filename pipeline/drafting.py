"""From a staged candidate, or a person's text, to what the gate decided about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from pipeline.candidate import Kind
from pipeline.extraction.staging import StagedCandidate
from pipeline.extraction.wording.stakes import stakes
from pipeline.gate import Activate, Decision, Drop, DropRule, GateInput, Hold, decide
from pipeline.memory import TURN, AuthorKind, HoldReason, Subject, Tier, content_hash
from pipeline.redaction.classes import ClassTier, tier_of
from pipeline.redaction.redactor import Inspector

_TIERS = {Kind.RULE: Tier.PROCEDURAL, TURN: Tier.EPISODIC}


@dataclass(frozen=True, slots=True)
class Gated:
    """A candidate with HIGH replaced wherever its text stands, and the gate's decision."""

    candidate: StagedCandidate
    content: str
    rationale: str
    evidence: list[dict[str, Any]]
    decision: Decision
    cites: UUID | None = None
    threshold: float | None = None

    @property
    def tier(self) -> Tier:
        return _TIERS.get(self.candidate.kind, Tier.SEMANTIC)


@dataclass(frozen=True, slots=True)
class GatedText:
    """A person's text, redacted, and the reasons that still speak against it; its stakes are its own."""

    content: str
    classes: tuple[str, ...]
    hold_reasons: tuple[HoldReason, ...]
    subject: Subject | None
    high_stakes: bool
    cites: UUID | None = None


def texts_of(candidate: StagedCandidate) -> Iterator[str]:
    """All that `gate_candidate` looks at."""
    yield candidate.content
    yield candidate.rationale
    yield from (item["quote"] for item in candidate.evidence)
    if candidate.subject is not None:
        yield candidate.subject.id


def gate_candidate(
    candidate: StagedCandidate, inspect: Inspector, uncovered: frozenset[str], *,
    activatable: frozenset[str], proposed: bool, failed: bool, refused: UUID | None = None,
    threshold: float | None = None, decided: bool = False
) -> Gated:  # fmt: skip
    """Detection over content, rationale and every quote; classes of all count.

    `refused`: the memory by which a person kept this text out before. `threshold`: that which its confidence misses.
    """
    candidate = _named(candidate, inspect)
    content, rationale = inspect(candidate.content), inspect(candidate.rationale)
    quotes = [inspect(item["quote"]) for item in candidate.evidence]
    decision = decide(GateInput(
        kind=candidate.kind,
        classes=content.classes.union(rationale.classes, *(quote.classes for quote in quotes)),
        reasons=frozenset(candidate.hold_reasons) | _before(refused),
        uncovered=uncovered,
        subject=candidate.subject,
        author_kind=AuthorKind.AGENT if proposed else AuthorKind.SYSTEM,
        activatable=activatable,
        session_failed=failed,
        decided=decided,
        drop_rule=None if threshold is None else DropRule.CONFIDENCE_BELOW,
    ))  # fmt: skip
    evidence = [item | {"quote": quote.text_redacted} for item, quote in zip(candidate.evidence, quotes, strict=True)]
    return Gated(
        candidate, content.text_redacted, rationale.text_redacted, evidence, decision, refused, threshold
    )  # fmt: skip


def _before(refused: UUID | None) -> frozenset[HoldReason]:
    return frozenset() if refused is None else frozenset({HoldReason.REJECTED_BEFORE})


_STRICTEST_FIRST = (Hold, Activate, Drop)


def distinct(candidates: Iterable[Gated]) -> list[Gated]:
    """One of those that say the same once HIGH is replaced: a held one before one let in, that before a dropped one."""
    kept: dict[bytes, Gated] = {}
    for gated in candidates:
        same = kept.get(key := content_hash(gated.content))
        if same is None or _rank(gated) < _rank(same):
            kept[key] = gated
    return list(kept.values())


def _rank(gated: Gated) -> int:
    return _STRICTEST_FIRST.index(type(gated.decision))


def _named(candidate: StagedCandidate, inspect: Inspector) -> StagedCandidate:
    """A name the model heard is no subject when it is itself what HIGH replaces; a user's own is the sender's word."""
    subject = candidate.subject
    if subject is None or subject.type != "person":
        return candidate
    if not any(tier_of(cls) is ClassTier.HIGH for cls in inspect(subject.id).classes):
        return candidate
    return candidate.model_copy(update={"subject": None})


def gate_text(
    text: str, memory: Mapping[str, Any], inspect: Inspector, uncovered: frozenset[str], *,
    activatable: frozenset[str], refused: UUID | None = None
) -> GatedText:  # fmt: skip
    """The same detection for a text a person typed about `memory`; a person's word needs no evidence or date."""
    found, high_stakes = inspect(text), bool(stakes(text))
    subject = Subject(memory["subject_type"], memory["subject_id"]) if memory["subject_type"] else None
    decision = decide(GateInput(
        kind=memory["kind"], classes=found.classes, reasons=_before(refused), uncovered=uncovered, subject=subject,
        author_kind=AuthorKind.PERSON, activatable=activatable,
    ))  # fmt: skip
    match decision:
        case Hold(reasons, classes):
            return GatedText(found.text_redacted, classes, reasons, subject, high_stakes, refused)
        case Activate(classes):
            return GatedText(found.text_redacted, classes, (), subject, high_stakes)
        case Drop():
            raise AssertionError("no drop rule was given")
