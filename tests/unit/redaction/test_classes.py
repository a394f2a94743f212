"""One table of classes: what is not decided is strict, and what is told of it elsewhere is in step."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

import pytest

from pipeline.candidate import Kind
from pipeline.gate import GateInput, Hold, decide
from pipeline.memory import AuthorKind, Subject
from pipeline.redaction import classes
from pipeline.redaction.canary import CANARIES
from pipeline.redaction.classes import (
    CLASSES,
    PERSONAL,
    REQUIRED_BY_DEFAULT,
    ClassTier,
    FoundBy,
    SensitiveClass,
    is_personal,
    label_of,
    tier_of,
)
from pipeline.redaction.detectors import ALL
from pipeline.redaction.redactor import inspect
from pipeline.redaction.scrub import masked_classes
from pipeline.redaction.span import Span
from tests.unit.house.sources import ROOT

LOW = {"phone", "ip", "person", "dob", "address", "detector_unavailable"}
HIGH = {"secret", "ssn", "cc", "email", "natid", "iban"}
IMPERSONAL = {"secret", "cc", "iban", "detector_unavailable"}


def test_the_tiers_are_those_of_the_design() -> None:
    assert {row.name for row in CLASSES if tier_of(row.name) is ClassTier.LOW} == LOW
    assert {row.name for row in CLASSES if tier_of(row.name) is ClassTier.HIGH} == HIGH
    assert {row.name for row in CLASSES if not is_personal(row.name)} == IMPERSONAL
    assert REQUIRED_BY_DEFAULT == (LOW | HIGH) - {"detector_unavailable"} > PERSONAL


def test_no_class_stands_twice() -> None:
    assert len({row.name for row in CLASSES}) == len(CLASSES)


@pytest.mark.parametrize("cls", ["never_heard_of", "unknown", "", "PHONE"])
def test_a_class_without_a_row_is_high_and_personal_and_no_label(cls: str) -> None:
    assert tier_of(cls) is ClassTier.HIGH
    assert is_personal(cls)
    assert label_of(cls) == "unknown"


def test_a_row_that_decides_nothing_is_strict() -> None:
    row = SensitiveClass("passport", "a passport's number", (FoundBy.FORMAT,), "X0000000")
    assert (row.tier, row.personal, row.required) == (ClassTier.HIGH, True, True)


@dataclass(frozen=True)
class Passports:
    """A detector of a class nobody has decided anything about."""

    name: str = "passports"
    classes: frozenset[str] = frozenset({"passport"})

    def detect(self, text: str) -> list[Span]:
        return [Span(*found.span(), "passport", 1.0, self.name) for found in re.finditer(r"X\d{7}", text)]


@pytest.mark.parametrize("in_the_table", [False, True])
def test_a_new_class_is_replaced_and_held_before_anybody_decides(
    monkeypatch: pytest.MonkeyPatch, in_the_table: bool
) -> None:
    if in_the_table:
        row = SensitiveClass("passport", "a passport's number", (FoundBy.FORMAT,), "X0000000")
        monkeypatch.setitem(classes._BY_NAME, "passport", row)
    inspection = inspect("The visitor showed X1234567 at the gate.", (*ALL, Passports()))
    assert inspection.text_redacted == "The visitor showed [REDACTED:passport] at the gate."
    assert masked_classes(inspection.text_redacted) == {"passport" if in_the_table else "unknown"}
    for subject in (None, Subject("user", "u-17")):
        decision = decide(GateInput(
            kind=Kind.FACT, classes=inspection.classes, reasons=frozenset(), uncovered=frozenset(), subject=subject,
            author_kind=AuthorKind.SYSTEM, activatable=frozenset({"passport"}),
        ))  # fmt: skip
        assert isinstance(decision, Hold)
        assert ("subject_missing" in decision.reasons) is (subject is None)


def test_detectors_find_classes_of_the_table_alone() -> None:
    """Whatever a detector finds, and whatever has a canary, can label a metric."""
    names = {row.name for row in CLASSES}
    assert {cls for detector in ALL for cls in detector.classes} <= names
    assert {canary.cls for canary in CANARIES} <= names
    assert {label_of(name) for name in names} == names


def test_the_glossary_s_table_is_this_one() -> None:
    """AFTERWORD_WRITE_GLOSSARY=1 writes it again."""
    path = ROOT / "GLOSSARY.md"
    text = path.read_text()
    head, begin, rest = text.partition("<!-- begin: pipeline/redaction/classes.py -->\n")
    _, end, tail = rest.partition("<!-- end -->")
    assert begin
    assert end
    if os.environ.get("AFTERWORD_WRITE_GLOSSARY"):
        path.write_text(head + begin + _table() + end + tail)
    assert path.read_text() == head + begin + _table() + end + tail


def _table() -> str:
    lines = ["| class | tier | personal | meaning | found by | for example |", "|---|---|---|---|---|---|"]
    for row in CLASSES:
        personal, found_by = "yes" if row.personal else "no", ", ".join(row.found_by)
        lines.append(f"| {row.name} | {row.tier.upper()} | {personal} | {row.meaning} | {found_by} | `{row.example}` |")
    return "\n".join(lines) + "\n"
