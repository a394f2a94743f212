"""The adviser port: a model is asked one question and answers with a text, or does not. Nothing it says is believed.

An answer is read strictly by whoever asked; what does not parse proposes nothing and is counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from pipeline.errors import AfterwordError, MalformedEnvelope
from pipeline.extraction.envelope import document
from pipeline.extraction.metering import Meter
from pipeline.provenance import Provenance

T = TypeVar("T", bound="Answer")


class Unreadable(AfterwordError):
    """The answer is not the one JSON document that was asked for."""


class Answer(BaseModel):
    """An answer's document; unknown fields refuse it."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


@dataclass(frozen=True, slots=True)
class Answered:
    """The text of the answer, and who gave it."""

    text: str
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class Unanswered:
    """Nobody answered; `reason` as the metrics name it: budget, endpoint, unavailable."""

    reason: str


class Adviser(Protocol):
    """Asks a model. Raises nothing for what a model or its endpoint does."""

    @property
    def provider(self) -> str:
        """Name for provenance and metric labels."""

    def ask(self, prompt: str, question: str, meter: Meter) -> Answered | Unanswered:
        """`prompt` by its name in the prompts' folder; every call is metered."""


def read(text: str, kind: type[T]) -> T:
    """Raises Unreadable, without a word of the answer."""
    try:
        return kind.model_validate(document(text), strict=False)
    except (MalformedEnvelope, ValidationError) as error:
        raise Unreadable(type(error).__name__) from None
