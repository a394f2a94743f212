"""What today's detectors, classifier and gate make of a memory that stands already.

    active      --something nobody had found--> a successor that waits; the memory itself is erased
    pending     --more is found--> a new revision: HIGH masked, the reasons of then and of now
    pending     --waited for a detector alone, and nothing speaks against it now--> active
    any other   --HIGH--> erased

`rescan` looks for classes and escalates only, but for what waited for a detector. `reevaluate` asks the whole gate
again, for two people to decide upon. What a person let in is taken back only for a class that had not been found then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pipeline.candidate import Kind
from pipeline.extraction.classifier import text_reasons
from pipeline.extraction.wording import rules
from pipeline.extraction.wording.instructions import steering
from pipeline.extraction.wording.stakes import stakes
from pipeline.gate import Decision, GateInput, Hold, decide
from pipeline.memory import TURN, AuthorKind, HoldReason, Subject
from pipeline.redaction.classes import DETECTOR_UNAVAILABLE, ClassTier, tier_of
from pipeline.redaction.redactor import Inspector
from pipeline.states import MemoryStatus


class Move(StrEnum):
    """What becomes of a memory that was looked at again; closed, so that it can label a metric."""

    KEEP = "keep"  # as it is
    NOTE = "note"  # active, with a class that the org lets activate, now recorded
    HOLD = "hold"  # active: superseded by a pending successor, and erased
    REVISE = "revise"  # pending: a new revision, with the reasons of today
    RELEASE = "release"  # pending: active, its review voided
    ERASE = "erase"  # rejected, superseded, tombstoned: HIGH stood in it


DETECTION = frozenset({HoldReason.CLASS_FOUND, HoldReason.SUBJECT_MISSING})
"""Reasons that detectors give, and that no look of a person has answered when they are new."""

_OF_ITS_TEXT = DETECTION | {
    HoldReason.DETECTOR_UNAVAILABLE,
    HoldReason.INSTRUCTION_LIKE,
    HoldReason.HIGH_STAKES,
    HoldReason.RULE,
    HoldReason.AGENT_PROPOSAL,
    HoldReason.FAILED_SESSION,
    HoldReason.REJECTED_BEFORE,
}
"""Reasons that the gate finds anew; all others are facts about where a memory came from, and stay."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A memory as it stands. `let_in`: a person approved it or wrote it. `replaces`: it would retire others. `refused`:
    a person kept its text out before, in another memory.
    """

    status: MemoryStatus
    kind: str
    content: str
    rationale: str
    evidence: list[dict[str, Any]]
    classes: frozenset[str]
    reasons: frozenset[HoldReason]
    subject: Subject | None
    let_in: bool = False
    replaces: bool = False
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Policy:
    """What the org has decided, and which required classes nothing covers now."""

    uncovered: frozenset[str] = frozenset()
    activatable: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Reconsidered:
    """The move, and the memory's texts and labels after it. `masked`: HIGH stood in it."""

    move: Move
    content: str
    rationale: str
    evidence: list[dict[str, Any]]
    subject: Subject | None
    masked: bool
    classes: tuple[str, ...] = field(default=())
    reasons: tuple[HoldReason, ...] = field(default=())


def texts_of(stored: Stored) -> Iterator[str]:
    """All that is looked at."""
    yield stored.content
    yield stored.rationale
    yield from (item["quote"] for item in stored.evidence)
    if stored.subject is not None:
        yield stored.subject.id


def rescan(stored: Stored, inspect: Inspector, policy: Policy) -> Reconsidered:
    """Today's detectors over what older ones let through."""
    look = _Look(stored, inspect)
    match stored.status:
        case MemoryStatus.ACTIVE:
            return _taken_back(look, policy)
        case MemoryStatus.PENDING:
            return _still_waits(look, policy)
        case _:
            return look.moved(Move.ERASE if look.masked else Move.KEEP)


def reevaluate(stored: Stored, inspect: Inspector, policy: Policy) -> Reconsidered:
    """The whole gate, as if the memory were proposed today; a missing detector takes nothing active back."""
    look = _Look(stored, inspect)
    if stored.status is MemoryStatus.PENDING:
        return _as_decided(look, look.gate(policy.uncovered, policy), stored.replaces)
    if stored.status is not MemoryStatus.ACTIVE or stored.let_in:
        return rescan(stored, inspect, policy)
    reasons = _reasons(look.gate(frozenset(), policy))
    if reasons <= stored.reasons and not look.masked:
        return _taken_back(look, policy)
    return look.moved(Move.HOLD, stored.classes | look.found, reasons)


class _Look:
    """The texts of a memory with HIGH replaced, and the classes found in them; masks count as found."""

    def __init__(self, stored: Stored, inspect: Inspector) -> None:
        content, rationale = inspect(stored.content), inspect(stored.rationale)
        quotes = [inspect(item["quote"]) for item in stored.evidence]
        self.stored = stored
        self.content, self.rationale = content.text_redacted, rationale.text_redacted
        self.evidence = [
            item | {"quote": quote.text_redacted} for item, quote in zip(stored.evidence, quotes, strict=True)
        ]
        self.subject = stored.subject
        if self.subject and self.subject.type == "person" and _has_high(inspect(self.subject.id).classes):
            self.subject = None
        self.found = content.classes.union(rationale.classes, *(quote.classes for quote in quotes))
        self.masked = (self.content, self.rationale, self.evidence, self.subject) != (
            stored.content, stored.rationale, stored.evidence, stored.subject,
        )  # fmt: skip

    def gate(self, uncovered: frozenset[str], policy: Policy) -> Decision:
        """What the gate would say of this text today, with what is known of where it came from."""
        stored = self.stored
        worded = text_reasons(stakes(self.content), steering(self.content) + steering(self.rationale))
        before = frozenset({HoldReason.REJECTED_BEFORE} if stored.refused else ())
        return decide(GateInput(
            kind=Kind.RULE if rules.is_rule(self.content) and stored.kind != TURN else stored.kind,
            classes=self.found,
            reasons=before.union(worded, stored.reasons - _OF_ITS_TEXT),
            uncovered=uncovered,
            subject=self.subject,
            author_kind=AuthorKind.AGENT if HoldReason.AGENT_PROPOSAL in stored.reasons else AuthorKind.SYSTEM,
            activatable=policy.activatable,
            session_failed=HoldReason.FAILED_SESSION in stored.reasons,
        ))  # fmt: skip

    def moved(
        self, move: Move, classes: frozenset[str] | None = None, reasons: frozenset[HoldReason] | None = None
    ) -> Reconsidered:
        """In the order the gate writes them; what is not said stays as it was."""
        classes = self.stored.classes if classes is None else classes
        reasons = self.stored.reasons if reasons is None else reasons
        return Reconsidered(
            move, self.content, self.rationale, self.evidence, self.subject, self.masked, tuple(sorted(classes)),
            tuple(reason for reason in HoldReason if reason in reasons),
        )  # fmt: skip


def _taken_back(look: _Look, policy: Policy) -> Reconsidered:
    """Active: only what had not been found then speaks against it."""
    stored = look.stored
    new = look.found if look.masked else look.found - stored.classes
    if not new and not look.masked:
        return look.moved(Move.KEEP)
    decision = decide(GateInput(
        kind=stored.kind, classes=new, reasons=frozenset(), uncovered=frozenset(), subject=look.subject,
        author_kind=AuthorKind.PERSON, activatable=policy.activatable,
    ))  # fmt: skip
    reasons = _reasons(decision) & DETECTION
    if reasons or look.masked:
        return look.moved(Move.HOLD, stored.classes | look.found, reasons or frozenset({HoldReason.CLASS_FOUND}))
    return look.moved(Move.NOTE, stored.classes | look.found)


def _still_waits(look: _Look, policy: Policy) -> Reconsidered:
    """Pending: all reasons stand, but for the detector that was missing, once nothing is uncovered."""
    stored = look.stored
    waited = HoldReason.DETECTOR_UNAVAILABLE in stored.reasons
    back = waited and not policy.uncovered
    if back and stored.reasons == {HoldReason.DETECTOR_UNAVAILABLE}:
        return _as_decided(look, look.gate(frozenset(), policy), stored.replaces)
    gone = {HoldReason.DETECTOR_UNAVAILABLE} if back else frozenset()
    found = _reasons(look.gate(frozenset(), policy)) & DETECTION
    classes = (stored.classes - ({DETECTOR_UNAVAILABLE} if back else frozenset())) | look.found
    return _revised(look, classes, (stored.reasons - gone) | found)


def _as_decided(look: _Look, decision: Decision, replaces: bool) -> Reconsidered:
    """Pending: what the gate says, whatever was said then; what would retire others stays for a person."""
    classes = frozenset(decision.classes)
    if isinstance(decision, Hold):
        return _revised(look, classes, frozenset(decision.reasons))
    if replaces:
        return _revised(look, classes, frozenset({HoldReason.RETIRES_ACTIVE}))
    return look.moved(Move.RELEASE, classes, frozenset())


def _revised(look: _Look, classes: frozenset[str], reasons: frozenset[HoldReason]) -> Reconsidered:
    same = (classes, reasons) == (look.stored.classes, look.stored.reasons) and not look.masked
    return look.moved(Move.KEEP if same else Move.REVISE, classes, reasons)


def _reasons(decision: Decision) -> frozenset[HoldReason]:
    return frozenset(decision.reasons) if isinstance(decision, Hold) else frozenset()


def _has_high(classes: frozenset[str]) -> bool:
    return any(tier_of(cls) is ClassTier.HIGH for cls in classes)
