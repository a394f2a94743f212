"""A class is healthy when its canaries sing: a detector that is quiet, wrong or broken is down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from pipeline.redaction.canary import CANARIES, Canary, down, finds, healthy_classes, uncovered
from pipeline.redaction.classes import REQUIRED_BY_DEFAULT
from pipeline.redaction.detectors import ALL
from pipeline.redaction.span import Detector, Span


@dataclass(frozen=True)
class Quiet:
    name: str = "quiet"
    classes: frozenset[str] = frozenset({"iban"})

    def detect(self, text: str) -> Sequence[Span]:
        return []


@dataclass(frozen=True)
class Broken:
    name: str = "broken"
    classes: frozenset[str] = frozenset({"iban"})

    def detect(self, text: str) -> Sequence[Span]:
        raise RuntimeError(text)


@dataclass(frozen=True)
class Elsewhere:
    """Finds something, but not what it should."""

    name: str = "elsewhere"
    classes: frozenset[str] = frozenset({"iban"})

    def detect(self, text: str) -> Sequence[Span]:
        return [Span(0, 1, "iban", 1.0, self.name)]


@pytest.mark.parametrize("canary", CANARIES, ids=lambda canary: f"{canary.cls}-{canary.language}")
def test_every_canary_is_found(canary: Canary) -> None:
    assert any(finds(detector, canary) for detector in ALL)


def test_all_detectors_are_up_and_cover_what_they_claim() -> None:
    assert down(ALL) == ()
    assert healthy_classes(ALL) == frozenset().union(*(detector.classes for detector in ALL))


@pytest.mark.parametrize("detector", [Quiet(), Broken(), Elsewhere()], ids=lambda detector: detector.name)
def test_a_detector_that_finds_nothing_is_down(detector: Detector) -> None:
    assert down([detector]) == (detector.name,)
    assert healthy_classes([detector]) == frozenset()


@pytest.mark.parametrize("missing", ALL, ids=lambda detector: detector.name)
def test_without_one_detector_its_class_is_not_healthy(missing: Detector) -> None:
    rest = [detector for detector in ALL if detector is not missing]
    assert healthy_classes(rest) == healthy_classes(ALL) - missing.classes


@pytest.mark.parametrize(
    ("required", "waived", "healthy", "expected"),
    [
        ({"secret"}, set(), {"secret"}, set()),
        ({"secret", "person"}, set(), {"secret"}, {"person"}),
        ({"secret", "person"}, {"person"}, {"secret"}, set()),
        ({"never_heard_of"}, set(), {"secret"}, {"never_heard_of"}),
        (set(), set(), set(), set()),
    ],
)
def test_uncovered(required: set[str], waived: set[str], healthy: set[str], expected: set[str]) -> None:
    assert uncovered(required, waived, healthy) == expected


def test_what_has_no_detector_is_uncovered_by_default() -> None:
    covered = frozenset().union(*(detector.classes for detector in ALL))
    assert uncovered(REQUIRED_BY_DEFAULT, (), healthy_classes(ALL)) == REQUIRED_BY_DEFAULT - covered
