"""What a model call may cost and did: reserved before it is made, settled when it is answered.

Failure handling: a call that was reserved and never settled counts as reserved, since somebody may have answered it. A
job without a meter is not sent to a model at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from pipeline.outcome import Skip, Snooze
from pipeline.provenance import Provenance


class Purpose(StrEnum):
    """What a call is made for; a closed list."""

    EXTRACTION = "extraction"
    TRIAL = "trial"
    COMPARISON = "comparison"
    CONTRIBUTE = "contribute"
    COMPACTION = "compaction"
    MINING = "mining"
    AMENDMENT = "amendment"


class CallOutcome(StrEnum):
    """What became of a call. `lost`: reserved by a worker that never came back."""

    RESERVED = "reserved"
    ANSWERED = "answered"
    REFUSED = "refused"
    UNAVAILABLE = "unavailable"
    TIMED_OUT = "timed_out"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of one call, in and out; of a reservation an estimate."""

    input: int
    output: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A call about to be made: by whom as asked, its tokens at most, its price in US dollars where one is known."""

    provenance: Provenance
    tokens: Tokens
    cost: Decimal | None


@dataclass(frozen=True, slots=True)
class Settled:
    """A call that is over. `tokens` None: nobody said, and what was reserved stands. `model` as answered."""

    outcome: CallOutcome
    model: str | None = None
    tokens: Tokens | None = None
    cost: Decimal | None = None
    latency_seconds: float = 0.0


class Meter(Protocol):
    """Whoever pays for the calls of one job. Called from several threads; neither raises for want of money."""

    def reserve(self, asked: Asked) -> UUID | Snooze | Skip:
        """The call's id, or what the budget makes of the run: waiting for the next window, or ended."""

    def settle(self, call: UUID, settled: Settled) -> None:
        """Once a call, on its own; what cannot be written now stays reserved."""
