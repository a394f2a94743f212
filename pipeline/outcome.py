"""What became of one run in one stage: typed outcomes, so that nothing is caught by its name.

Done      the stage's output is ready to commit
Retry     a transient failure: due again after backoff, until attempts are spent
Snooze    not a failure: due again at a stated time (a budget window)
Skip      the run ends here for a stated reason; nothing is lost
Bury      a permanent failure: dead letter with a code of the closed list
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Generic, TypeVar

T_co = TypeVar("T_co", covariant=True)


class ErrorCode(StrEnum):
    """Why a run is in dead letter; closed, so that it can label a metric."""

    MALFORMED_ENVELOPE = "malformed_envelope"
    MODEL_UNAVAILABLE = "model_unavailable"
    MODEL_REFUSED = "model_refused"
    EMBEDDER_UNSET = "embedder_unset"
    EMBEDDER_UNAVAILABLE = "embedder_unavailable"
    DETECTOR_FAILED = "detector_failed"
    TRANSCRIPT_UNREADABLE = "transcript_unreadable"
    DATA_REFUSED = "data_refused"
    KILLS_WORKER = "kills_worker"
    INTERNAL = "internal"


class SkipReason(StrEnum):
    """Why a run ended without being worked on."""

    EXTRACTION_OFF = "extraction_off"
    EMPTY = "empty"
    TOO_SHORT = "too_short"
    OVER_BUDGET = "over_budget"
    ERASED = "erased"  # it named somebody who was forgotten


@dataclass(frozen=True, slots=True)
class Done(Generic[T_co]):
    output: T_co


@dataclass(frozen=True, slots=True)
class Retry:
    code: ErrorCode
    detail: str
    after_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Snooze:
    until: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class Skip:
    reason: SkipReason


@dataclass(frozen=True, slots=True)
class Bury:
    code: ErrorCode
    detail: str


Outcome = Done[T_co] | Retry | Snooze | Skip | Bury
