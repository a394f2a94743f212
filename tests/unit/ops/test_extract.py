"""afterword extract, without any service: session logs in; candidates, evidence and decision out, kept nowhere."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from ops.cli import main
from pipeline.candidate import Candidate, Envelope, Evidence, Kind
from pipeline.extraction.adapters.offline import PROVENANCE
from pipeline.extraction.metering import Asked, CallOutcome, Settled, Tokens
from pipeline.extraction.port import ExtractionJob, ExtractionOutcome, Proposal
from pipeline.outcome import Bury, Done, ErrorCode

KEY = "AKIAQ3EGRT7VNO5K2JXW"
SAID = "We deploy the shop on Tuesdays only."

Ran = tuple[int, str, str]
Extract = Callable[..., Ran]


@pytest.fixture
def extract(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Extract:
    monkeypatch.setenv("AFTERWORD_NER", "none")

    def run(*words: object, typed: bytes = b"") -> Ran:
        monkeypatch.setattr(sys, "argv", ["afterword", "extract", *map(str, words)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(typed)))
        with pytest.raises(SystemExit) as exit:
            main()
        said = capsys.readouterr()
        return int(exit.value.code or 0), said.out, said.err

    return run


def chat(*texts: str) -> bytes:
    return json.dumps({"messages": [{"role": "user", "content": text} for text in texts]}).encode()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "session.json"
    path.write_bytes(chat("Thanks for looking into the export again.", SAID))
    return path


def offline(extract: Extract, *words: object, typed: bytes = b"") -> dict[str, Any]:
    code, out, err = extract(*words, "--extractor", "offline", "--json", typed=typed)
    assert (code, err) == (0, "")
    [line] = out.splitlines()
    return json.loads(line)


def test_a_candidate_is_told_with_its_evidence_and_what_the_gate_would_do(extract: Extract, log: Path) -> None:
    told = offline(extract, log)
    [candidate] = told.pop("candidates")
    assert told == {"file": str(log), "format": "openai_chat", "extractor": "offline"}
    assert (candidate["content"], candidate["kind"], candidate["confidence"]) == (SAID, "fact", None)
    assert candidate["evidence"] == [{"turn": 1, "quote": SAID, "found": True, "role": "user", "trust": "user"}]
    # nobody looks for people with AFTERWORD_NER=none
    assert (candidate["gate"], candidate["reasons"], candidate["spans"]) == ("hold", ["detector_unavailable"], [])
    assert candidate["rationale"].startswith("Rule user-organisation: ")
    assert (candidate["scope"], candidate["subject"]) == ({"kind": "org", "value": None}, None)


def test_a_text_is_shown_as_it_stands_but_for_what_the_scrub_takes(extract: Extract) -> None:
    told = offline(extract, "-", typed=chat(f"We deploy with {KEY}, which ana@example.org owns."))
    [candidate] = told["candidates"]
    assert KEY not in json.dumps(told)
    assert "ana@example.org" in candidate["content"]
    assert [span["class"] for span in candidate["spans"]] == ["email"]
    assert candidate["gate"] == "hold"
    assert "class_found" in candidate["reasons"]


def test_a_log_that_cannot_be_read_is_named_and_the_others_are_shown(
    extract: Extract, log: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("no log")
    code, out, err = extract(broken, tmp_path / "gone.json", log, "--extractor", "offline", "--json")
    told = [json.loads(line) for line in out.splitlines()]
    assert code == 1
    assert [one["file"] for one in told] == [str(broken), str(tmp_path / "gone.json"), str(log)]
    assert "No reader knows" in told[0]["error"]
    assert len(told[2]["candidates"]) == 1
    assert [line.partition(": ")[0] for line in err.splitlines()] == [str(broken), str(tmp_path / "gone.json")]


def test_a_log_with_nothing_to_read_is_skipped_as_its_run_would_be(extract: Extract) -> None:
    assert offline(extract, "-", typed=chat("hi"))["skipped"] == "too_short"


def test_for_people_it_is_a_record_a_candidate(extract: Extract, log: Path) -> None:
    code, out, _ = extract(log, "--extractor", "offline")
    assert code == 0
    assert out.splitlines()[0] == f"{log} (openai_chat): 1 candidates"
    assert f"turn 1: {SAID}" in out


def test_more_files_than_are_asked_at_once_come_in_their_order(extract: Extract, tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"{number:02}.json").write_bytes(chat(f"We deploy service {number} on Tuesdays only."))
    _, out, _ = extract(tmp_path, "--extractor", "offline", "--json")
    said = [json.loads(line)["candidates"][0]["content"] for line in out.splitlines()]
    assert said == [f"We deploy service {number} on Tuesdays only." for number in range(20)]


@pytest.mark.parametrize(
    ("words", "way_out"),
    [
        ((), "AFTERWORD_EXTRACTOR is unset"),
        (("--extractor", "openai"), "AFTERWORD_EXTRACTION_MODEL"),
        (("--extractor", "oracle"), "offline"),
        (("--extractor", "offline", "--format", "scroll"), "Known formats"),
    ],
)
def test_a_wrong_choice_is_refused_with_the_way_out(
    extract: Extract, log: Path, words: tuple[str, ...], way_out: str
) -> None:
    code, _, err = extract(log, *words)
    assert code in (1, 2)
    assert way_out in err


@dataclass(frozen=True)
class Paid:
    """An extractor that asks its meter, quotes what nobody said, and fails where it is told to."""

    provider: str = "paid"

    def extract_many(self, batch: Sequence[ExtractionJob]) -> Iterator[tuple[UUID, ExtractionOutcome]]:
        for job in reversed(batch):
            assert job.meter is not None
            call = job.meter.reserve(Asked(PROVENANCE, Tokens(10, 10), Decimal(1)))
            assert isinstance(call, UUID)
            tokens = Tokens(900, 80)
            job.meter.settle(call, Settled(CallOutcome.ANSWERED, "paid-1", tokens, Decimal("0.0012"), 0.25))
            yield job.run_id, self._outcome(job)

    def _outcome(self, job: ExtractionJob) -> ExtractionOutcome:
        if "fail" in job.transcript.turns[0].text:
            return Bury(ErrorCode.MODEL_REFUSED, "the model says no")
        quotes = (Evidence(turn=0, quote="Nobody ever said this."), Evidence(turn=7, quote="There is no such turn."))
        candidate = Candidate(content="Builds run at noon.", kind=Kind.FACT, rationale="Said.", evidence=quotes)
        return Done(Proposal(Envelope(candidates=(candidate,)), PROVENANCE))


def test_what_a_model_makes_up_or_refuses_is_shown_as_that(
    extract: Extract, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ops.commands.extract.make_extractor", lambda settings: Paid())
    failing = tmp_path / "failing.json"
    failing.write_bytes(chat("Please fail at this one now."))
    code, out, err = extract(log, failing, "--json")
    first, second = (json.loads(line) for line in out.splitlines())
    assert code == 1
    [candidate] = first["candidates"]
    assert [one["found"] for one in candidate["evidence"]] == [False, False]
    assert "role" not in candidate["evidence"][1]
    assert (candidate["gate"], "unsupported" in candidate["reasons"]) == ("hold", True)
    assert second["error"] == "model_refused: the model says no"
    assert second["error"] in err
    call = {"outcome": "answered", "model": "paid-1", "tokens": {"input": 900, "output": 80}, "cost_usd": "0.0012"}
    assert first["calls"] == second["calls"] == [call | {"seconds": 0.25}]


def test_a_call_is_told_in_text_too(extract: Extract, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ops.commands.extract.make_extractor", lambda settings: Paid())
    code, out, _ = extract(log)
    assert code == 0
    assert out.splitlines()[1] == "call  paid-1 answered in 0.25 s: 900 tokens in, 80 out, 0.0012 USD"
