"""What the detectors and the gate would say of a text, told in full and kept nowhere.

    text --detectors--> spans, classes --wording--> stakes, steering --gate, as for a fact--> decision

A fact about nobody: reasons that its evidence, kind and author, or what is stored already, would add are not told.

Failure handling: a text that a detector raises on is answered with the DetectorDown, the others with what was found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipeline.candidate import Kind
from pipeline.errors import DetectorDown
from pipeline.extraction.classifier import text_reasons
from pipeline.extraction.wording.instructions import steering
from pipeline.extraction.wording.stakes import stakes
from pipeline.gate import Activate, Decision, Drop, GateInput, Hold, decide
from pipeline.memory import AuthorKind, HoldReason
from pipeline.redaction.redactor import Inspection, Inspector
from pipeline.redaction.scrub import mask_intervals, standing_masks
from pipeline.redaction.span import Detector, Span

MASK = "mask"
"""Named as the detector of a mask that stands in the text: it counts as a hit of its class."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """`spans` in order, masks that stand in the text among them; offsets are characters, end exclusive."""

    text_redacted: str
    spans: tuple[Span, ...]
    stakes: tuple[str, ...]
    steering: tuple[str, ...]
    decision: Decision

    @property
    def gate(self) -> str:
        """activate, hold or drop."""
        return type(self.decision).__name__.lower()

    @property
    def reasons(self) -> tuple[HoldReason, ...]:
        return self.decision.reasons if isinstance(self.decision, Hold) else ()

    @property
    def classes(self) -> tuple[str, ...]:
        return self.decision.classes if isinstance(self.decision, Activate | Hold) else ()


@dataclass(frozen=True, slots=True)
class Rules:
    """What an org has decided, as the gate needs it. `uncovered`: required classes nothing healthy looks for."""

    uncovered: frozenset[str] = frozenset()
    activatable: frozenset[str] = frozenset()


def explain_many(
    texts: Sequence[str], detectors: Sequence[Detector], rules: Rules
) -> Iterator[Explanation | DetectorDown]:
    """One answer a text, in order; detectors that take many at once are asked once."""
    inspect = Inspector(detectors, texts)
    for text in texts:
        try:
            yield _explained(text, inspect(text), rules)
        except DetectorDown as error:
            yield error


def _explained(text: str, found: Inspection, rules: Rules) -> Explanation:
    areas, forms = stakes(text), steering(text)
    decision = decide(GateInput(
        kind=Kind.FACT, classes=found.classes, reasons=frozenset(text_reasons(areas, forms)),
        uncovered=rules.uncovered, subject=None, author_kind=AuthorKind.SYSTEM, activatable=rules.activatable,
    ))  # fmt: skip
    assert not isinstance(decision, Drop)
    spans = tuple(sorted((*found.spans, *_masks(text))))
    return Explanation(found.text_redacted, spans, areas, forms, decision)


def _masks(text: str) -> Iterator[Span]:
    for mask, (start, end) in zip(standing_masks(text), mask_intervals(text), strict=True):
        yield Span(start, end, mask.cls, 1.0, MASK)
