"""Runs that never reach a model: too little to read, and what an agent proposes itself."""

from __future__ import annotations

from uuid import UUID

import pytest

from pipeline.candidate import Kind
from pipeline.extraction.evidence import check
from pipeline.extraction.port import ExtractionJob
from pipeline.extraction.proposal import propose
from pipeline.extraction.short import skip_reason
from pipeline.outcome import Bury, Done, ErrorCode, SkipReason
from pipeline.session import Role, Transcript, Trust, Turn

RUN = UUID("6f0a3c52-1b7e-4f1e-9a51-0f4f4f1d2c11")


def transcript(*turns: tuple[str, str]) -> Transcript:
    return Transcript(turns=tuple(Turn(role=Role(role), text=text, trust=Trust.AGENT) for role, text in turns))


@pytest.mark.parametrize(
    ("turns", "first_own", "reason"),
    [
        ([], 0, SkipReason.EMPTY),
        ([("user", "  \n")], 0, SkipReason.EMPTY),
        ([("tool", "a page of output " * 50), ("system", "You are a helper.")], 0, SkipReason.EMPTY),
        ([("user", "hello")], 0, SkipReason.TOO_SHORT),
        ([("user", "hello"), ("tool", "x" * 500)], 0, SkipReason.TOO_SHORT),
        ([("user", "Our ledger closes on Fridays.")], 0, None),
        ([("user", "hi"), ("assistant", "Hello.")], 0, None),
        ([("assistant", "Nightly job finished.")], 0, None),
        ([("user", "Our ledger closes on Fridays."), ("user", "ok")], 1, SkipReason.TOO_SHORT),
        ([("user", "Our ledger closes on Fridays.")], 1, SkipReason.EMPTY),
    ],
)
def test_skip_reason(turns: list[tuple[str, str]], first_own: int, reason: SkipReason | None) -> None:
    assert skip_reason(transcript(*turns), first_own) is reason


@pytest.mark.parametrize("text", ["Exports run at six.", "é" * 2000, "  padded proposal text  ", "ok"])
def test_a_proposal_is_its_text_with_evidence_that_verifies(text: str) -> None:
    job = ExtractionJob(RUN, transcript(("assistant", text)))
    outcome = propose(job)
    assert isinstance(outcome, Done)
    [only] = outcome.output.envelope.candidates
    assert (only.content, only.kind) == (text.strip(), Kind.FACT)
    assert (outcome.output.provenance.provider, outcome.output.usage.calls) == ("agent", 0)
    assert [item.turn for item in check(only, job.transcript).verified] == [0]


@pytest.mark.parametrize(
    ("turns", "named"),
    [([], "no text"), ([("assistant", " ")], "no text"), ([("assistant", "x" * 2001)], "2001 characters")],
)
def test_what_cannot_be_proposed_is_buried(turns: list[tuple[str, str]], named: str) -> None:
    outcome = propose(ExtractionJob(RUN, transcript(*turns)))
    assert isinstance(outcome, Bury)
    assert outcome.code is ErrorCode.MALFORMED_ENVELOPE
    assert named in outcome.detail
