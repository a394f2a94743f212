"""A stage whose outcomes a test writes, and an extractor that proposes what was said."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any
from uuid import UUID

from db import extraction as store
from db.connect import Connection
from db.runs import Claimed
from pipeline.candidate import Candidate, Envelope, Evidence, Kind
from pipeline.extraction.port import ExtractionJob, ExtractionOutcome, Proposal
from pipeline.outcome import Done, Outcome
from pipeline.provenance import EndpointClass, Provenance
from pipeline.states import RunState
from workers.context import Resources
from workers.stage import Worked, one_group

PROVENANCE = Provenance(provider="echo", model="none", endpoint_class=EndpointClass.LOCAL, prompt_revision="none")
Script = Callable[[Claimed], Outcome[Any] | None]


class Scripted:
    """Stands in for extraction. None is Done with an envelope; an output that is an int is the org it is staged for."""

    name = "extraction"
    takes = RunState.RECEIVED
    gives = RunState.EXTRACTED
    rings = "redaction"

    def __init__(self, script: Script) -> None:
        self._script = script

    def work(self, using: Resources, claimed: Sequence[Claimed]) -> Iterator[Worked[Any]]:
        yield from one_group((run, self._script(run) or Done(run.org_id)) for run in claimed)

    def write(self, conn: Connection, done: Sequence[tuple[Claimed, Any]]) -> None:
        if any(isinstance(output, Exception) for _, output in done):
            raise next(output for _, output in done if isinstance(output, Exception))
        store.stage_envelopes(conn, {run.id: (org, {"candidates": [], "provenance": {}}) for run, org in done})


class Echo:
    """Proposes each turn an extractor may look at as it stands, a candidate a turn."""

    provider = "echo"

    def __init__(self, kind: Kind = Kind.FACT, **fields: Any) -> None:
        self._fields = {"kind": kind, "rationale": "Said in the session, and nowhere else.", **fields}

    def extract_many(self, batch: Sequence[ExtractionJob]) -> Iterator[tuple[UUID, ExtractionOutcome]]:
        for job in batch:
            candidates = tuple(
                Candidate(content=turn.text, evidence=(Evidence(turn=number, quote=turn.text),), **self._fields)
                for number, turn in enumerate(job.transcript.turns)
                if number >= job.first_own
            )
            yield job.run_id, Done(Proposal(Envelope(candidates=candidates), PROVENANCE))


class Silent(Echo):
    """Proposes nothing."""

    def extract_many(self, batch: Sequence[ExtractionJob]) -> Iterator[tuple[UUID, ExtractionOutcome]]:
        for job in batch:
            yield job.run_id, Done(Proposal(Envelope(candidates=()), PROVENANCE))


class Unsupported(Echo):
    """Echo, without the evidence."""

    def extract_many(self, batch: Sequence[ExtractionJob]) -> Iterator[tuple[UUID, ExtractionOutcome]]:
        for run, outcome in super().extract_many(batch):
            assert isinstance(outcome, Done)
            bare = tuple(item.model_copy(update={"evidence": ()}) for item in outcome.output.envelope.candidates)
            yield run, Done(Proposal(Envelope(candidates=bare), PROVENANCE))
