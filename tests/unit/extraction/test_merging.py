"""What two windows of a session say alike is one candidate."""

from __future__ import annotations

import pytest

from pipeline.candidate import MAX_CANDIDATES, Candidate, Envelope, Evidence, Kind
from pipeline.errors import MalformedEnvelope
from pipeline.extraction.merging import merge


def said(content: str, turn: int, kind: Kind = Kind.FACT, **more: object) -> Candidate:
    return Candidate(content=content, kind=kind, rationale=f"as turn {turn} says",
                     evidence=(Evidence(turn=turn, quote=content),), **more)  # type: ignore[arg-type]  # fmt: skip


def envelopes(*parts: list[Candidate]) -> list[Envelope]:
    return [Envelope(candidates=tuple(part)) for part in parts]


def test_a_repeat_keeps_its_first_wording_and_the_evidence_of_both() -> None:
    first = said("The exports go to the Lisbon archive.", 3, confidence=0.6)
    again = said("the exports go to the  Lisbon archive", 41, confidence=0.8, subject_hint="Ana")
    [one] = merge(envelopes([first], [again, said("Backups go to Porto.", 44)])).candidates[:1]
    assert (one.content, one.confidence, one.subject_hint) == (first.content, 0.8, "Ana")
    assert [item.turn for item in one.evidence] == [3, 41]


def test_what_differs_in_a_word_or_in_kind_stays_two() -> None:
    parts = envelopes(
        [said("The exports go to the Lisbon archive.", 3)],
        [said("The exports go to the Porto archive.", 9)],
        [said("The exports go to the Lisbon archive.", 12, Kind.RULE)],
    )
    assert len(merge(parts).candidates) == 3


def test_a_model_that_repeats_itself_in_one_answer_is_taken_at_its_word() -> None:
    twice = [said("Backups go to Porto.", 1), said("Backups go to Porto.", 2)]
    assert len(merge(envelopes(twice)).candidates) == 2


def test_more_candidates_than_an_envelope_may_hold_refuse_the_run() -> None:
    parts = [[said(f"Shelf {n} of part {part} is empty.", n) for n in range(101)] for part in range(2)]
    with pytest.raises(MalformedEnvelope, match=f"202 candidates over 2 windows, more than {MAX_CANDIDATES}"):
        merge(envelopes(*parts))
