"""The extractor port: a batch of sessions in, one outcome a run out, each as it finishes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable
from uuid import UUID

from pipeline.candidate import Envelope
from pipeline.extraction.circuit import CircuitState
from pipeline.extraction.metering import Meter
from pipeline.outcome import Bury, Done, Retry, Skip, Snooze
from pipeline.provenance import Provenance
from pipeline.session import Transcript


@dataclass(frozen=True, slots=True)
class ExtractionJob:
    """A run's transcript. Turns below `first_own` were covered by an earlier run: context, not input.

    `meter` pays for its calls; without one it is shown to no model.
    """

    run_id: UUID
    transcript: Transcript
    first_own: int = 0
    meter: Meter | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What one extraction cost: calls, tokens in and out, seconds waited."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    latency_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Proposal:
    """What the extractor proposes for a run, and who it was."""

    envelope: Envelope
    provenance: Provenance
    usage: Usage = Usage()


ExtractionOutcome = Done[Proposal] | Retry | Snooze | Skip | Bury


class Extractor(Protocol):
    """Proposes candidates. Yields (run id, outcome) as each finishes; every run exactly once, none raises."""

    @property
    def provider(self) -> str:
        """Name for provenance and metric labels."""

    def extract_many(self, batch: Sequence[ExtractionJob]) -> Iterator[tuple[UUID, ExtractionOutcome]]: ...


@runtime_checkable
class Guarded(Protocol):
    """An extractor that asks an endpoint, and leaves it alone for a while when it does not answer."""

    @property
    def circuit(self) -> CircuitState: ...
