"""A quote counts only where it stands, and whose words it is decides what it may become."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from pipeline.candidate import Candidate, Evidence, Kind
from pipeline.extraction.evidence import check
from pipeline.memory import HoldReason
from pipeline.session import Role, Transcript, Trust, Turn

MORNING, NOON, EVENING = (datetime(2026, 3, 2, hour, tzinfo=UTC) for hour in (8, 12, 18))
TURNS = (
    Turn(role=Role.USER, text="We ship on\n  Tuesdays, never on FRIDAYS.", at=MORNING, trust=Trust.USER),
    Turn(role=Role.TOOL, text="README: releases are cut weekly", tool="cat", at=NOON, trust=Trust.UNTRUSTED),
    Turn(role=Role.ASSISTANT, text="Noted: releases are cut weekly.", trust=Trust.AGENT),
    Turn(role=Role.USER, text="yes", at=EVENING, trust=Trust.USER),
    Turn(role=Role.USER, text="毎週火曜日に出荷します", trust=Trust.USER),
)
DATED = Transcript(turns=TURNS)
TIMELESS = Transcript(turns=tuple(turn.model_copy(update={"at": None}) for turn in TURNS))


def claim(*evidence: tuple[int, str], when: datetime | None = None) -> Candidate:
    quotes = tuple(Evidence(turn=turn, quote=quote) for turn, quote in evidence)
    return Candidate(
        content="Releases ship on Tuesdays.", kind=Kind.FACT, rationale="Said only.", evidence=quotes, when=when
    )


@pytest.mark.parametrize(
    ("evidence", "found", "reasons"),
    [
        ([(0, "ship on Tuesdays, never on Fridays")], [0], ()),
        ([(0, "SHIP   ON TUESDAYS")], [0], ()),
        ([(0, "ｓｈｉｐ ｏｎ Tuesdays")], [0], ()),
        ([(4, "毎週火曜日")], [4], ()),
        ([(3, "yes")], [3], ()),
        ([], [], (HoldReason.UNSUPPORTED,)),
        ([(0, "we ship on Mondays")], [], (HoldReason.UNSUPPORTED,)),
        ([(1, "ship on Tuesdays")], [], (HoldReason.UNSUPPORTED,)),
        ([(99, "ship on Tuesdays")], [], (HoldReason.UNSUPPORTED,)),
        ([(0, "on")], [], (HoldReason.UNSUPPORTED,)),
        ([(0, "   ")], [], (HoldReason.UNSUPPORTED,)),
        ([(1, "releases are cut weekly")], [1], (HoldReason.UNTRUSTED_SOURCE,)),
        ([(1, "releases are cut weekly"), (2, "releases are cut weekly")], [1, 2], ()),
        ([(1, "releases are cut weekly"), (0, "not said at all")], [1], (HoldReason.UNTRUSTED_SOURCE,)),
    ],
)
def test_evidence_is_looked_up(
    evidence: list[tuple[int, str]], found: list[int], reasons: tuple[HoldReason, ...]
) -> None:
    finding = check(claim(*evidence), DATED)
    assert [item.turn for item in finding.verified] == found
    assert finding.hold_reasons == reasons


@pytest.mark.parametrize(
    ("when", "transcript", "ended_at", "expected"),
    [
        (MORNING, DATED, EVENING, MORNING),
        (datetime(9999, 1, 1, tzinfo=UTC), DATED, EVENING, EVENING),
        (None, DATED, EVENING, MORNING),
        (None, TIMELESS, NOON, NOON),
        (None, DATED, None, MORNING),
        (NOON, TIMELESS, None, NOON),
        (None, TIMELESS, None, None),
    ],
    ids=["said", "after the end", "of the turn", "of the session", "turn alone", "said alone", "nobody knows"],
)
def test_the_date(
    when: datetime | None, transcript: Transcript, ended_at: datetime | None, expected: datetime | None
) -> None:
    finding = check(claim((0, "ship on Tuesdays"), when=when), transcript, ended_at)
    assert finding.observed_at == expected
    assert (HoldReason.UNDATED in finding.hold_reasons) is (expected is None)


def test_an_unsupported_candidate_has_the_date_of_the_session() -> None:
    assert check(claim(), DATED).observed_at == EVENING


def test_verified_evidence_names_whose_words_it_was() -> None:
    [item] = check(claim((1, "releases are cut weekly")), DATED).verified
    assert (item.turn, item.role, item.trust, item.at) == (1, Role.TOOL, Trust.UNTRUSTED, NOON)
