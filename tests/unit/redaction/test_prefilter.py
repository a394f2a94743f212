"""Which detectors a text is given to: none that could find something in it is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.redaction.detectors import ALL
from pipeline.redaction.prefilter import Prefilter, prefilter
from pipeline.redaction.span import Span
from tests.unit.redaction.test_scrub import PIECES


@dataclass(frozen=True)
class Asked:
    """A detector without a trigger."""

    name: str = "asked"
    classes: frozenset[str] = frozenset({"iban"})

    def detect(self, text: str) -> Sequence[Span]:
        return []


@dataclass(frozen=True)
class Needs(Asked):
    trigger: bytes = b""


ASKED, DIGIT, LETTER = Asked(), Needs("digit", trigger=rb"\d"), Needs("letter", trigger=rb"[a-z]")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [ASKED]),
        ("7", [DIGIT, ASKED]),
        ("x", [ASKED, LETTER]),
        ("x7", [DIGIT, ASKED, LETTER]),
        ("７", [DIGIT, ASKED]),
    ],
)
def test_those_whose_trigger_is_there_and_those_without_one_in_their_order(text: str, expected: list[Asked]) -> None:
    assert list(Prefilter([DIGIT, ASKED, LETTER])(text)) == expected


def test_a_scan_that_gave_up_leaves_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    class GaveUp:
        def Match(self, _text: bytes) -> None:
            return None

    asked = Prefilter([DIGIT, LETTER])
    monkeypatch.setattr(asked, "_scan", GaveUp())
    assert list(asked("")) == [DIGIT, LETTER]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=12).map("".join))
def test_who_is_left_out_finds_nothing(text: str) -> None:
    left_out = set(ALL) - set(prefilter(ALL)(text))
    assert [detector.name for detector in left_out if detector.detect(text)] == []
