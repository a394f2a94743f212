"""Activate, hold for a person, or drop with a record: decided from what is known, never from a model's opinion.

The gate escalates only: each rule may add a reason to hold, none takes one away. A drop needs an empty class
set, since what is dropped is kept in clear, and nothing to hold: what a rule would drop and anything else speaks
against waits for a person.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from pipeline.candidate import Kind
from pipeline.memory import TURN, AuthorKind, HoldReason, Subject
from pipeline.redaction.classes import DETECTOR_UNAVAILABLE, ClassTier, is_personal, tier_of

_MAY_ACTIVATE = frozenset({Kind.FACT, Kind.PREFERENCE, TURN})
"""Kinds that may be active unreviewed; any other is held like a rule."""
_STEERING = frozenset({Kind.RULE, Kind.PREFERENCE})
"""Kinds that change how later sessions behave."""


class DropRule(StrEnum):
    """Why something is kept out; closed, so that it can label a metric."""

    CONFIDENCE_BELOW = "confidence_below"  # the model's own stated confidence lies below its stamp's threshold


@dataclass(frozen=True, slots=True)
class GateInput:
    """What the gate weighs.

    `classes`: found by detectors or standing as masks. `reasons`: from the classifier, the evidence check and what
    people decided before. `uncovered`: required classes without a healthy detector. `author_kind`: AGENT for a
    proposal or note. `activatable`: LOW classes the org lets activate with a subject. `drop_rule`: a rule that would
    keep it out. `decided`: a person recorded it who had the right to decide: a rule needs no review for being one.
    """

    kind: str
    classes: frozenset[str]
    reasons: frozenset[HoldReason]
    uncovered: frozenset[str]
    subject: Subject | None
    author_kind: AuthorKind
    activatable: frozenset[str] = frozenset()
    session_failed: bool = False
    drop_rule: DropRule | None = None
    decided: bool = False


@dataclass(frozen=True, slots=True)
class Activate:
    """Active at once; `classes` the org allowed are recorded on the row."""

    classes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hold:
    """Pending with an open review. At least one reason, in the order of HoldReason; classes sorted."""

    reasons: tuple[HoldReason, ...]
    classes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.reasons:
            raise ValueError("a hold without a reason")


@dataclass(frozen=True, slots=True)
class Drop:
    """Kept out by `rule`, with a record. Raises ValueError on a class set that is not empty."""

    rule: DropRule
    classes: frozenset[str] = field(default=frozenset())

    def __post_init__(self) -> None:
        if self.classes:
            raise ValueError(f"a drop with classes {sorted(self.classes)}")


Decision = Activate | Hold | Drop


def decide(case: GateInput) -> Decision:
    """The decision; the same input always gives the same."""
    classes = case.classes | ({DETECTOR_UNAVAILABLE} if case.uncovered else frozenset())
    reasons = case.reasons.union(_reasons(case))
    if reasons:
        return Hold(tuple(reason for reason in HoldReason if reason in reasons), tuple(sorted(classes)))
    if case.drop_rule is not None:
        return Drop(case.drop_rule, classes)
    return Activate(tuple(sorted(classes)))


def _reasons(case: GateInput) -> Iterator[HoldReason]:
    if not all(_may_activate(cls, case) and case.drop_rule is None for cls in case.classes):
        yield HoldReason.CLASS_FOUND
    if case.uncovered or DETECTOR_UNAVAILABLE in case.classes:
        yield HoldReason.DETECTOR_UNAVAILABLE
    if case.subject is None and any(map(is_personal, case.classes)):
        yield HoldReason.SUBJECT_MISSING
    if case.kind not in _MAY_ACTIVATE and not case.decided:
        yield HoldReason.RULE
    if case.kind in _STEERING and case.author_kind is AuthorKind.AGENT:
        yield HoldReason.AGENT_PROPOSAL
    if case.kind in _STEERING and case.session_failed:
        yield HoldReason.FAILED_SESSION


def _may_activate(cls: str, case: GateInput) -> bool:
    """A LOW class the org named, about somebody; no setting makes a missing detector acceptable."""
    allowed = cls in case.activatable and case.subject is not None
    return allowed and tier_of(cls) is ClassTier.LOW and cls != DETECTOR_UNAVAILABLE
