"""The strict envelope a model must return, and nothing a model may decide.

A candidate says what might be worth keeping and why it cannot simply be looked up again. Status, stakes,
importance, expiry, subject and scope are derived by server code: a model that sends them is malformed.
Missing evidence, dates or confidence are reasons to hold, never a malformed envelope.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

MAX_CONTENT_CHARACTERS = 2_000
MAX_CANDIDATES = 200


class Kind(StrEnum):
    """What a candidate claims to be; the classifier may overrule it."""

    FACT = "fact"
    PREFERENCE = "preference"
    RULE = "rule"


class Evidence(BaseModel):
    """A turn number and a short quote from it (at most 500 characters)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    turn: int = Field(ge=0)
    quote: Annotated[str, StringConstraints(min_length=1, max_length=500)]


class Candidate(BaseModel):
    """One proposed memory."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    content: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_CONTENT_CHARACTERS)]
    kind: Kind
    rationale: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000)]
    subject_hint: Annotated[str, StringConstraints(max_length=200)] | None = None
    evidence: tuple[Evidence, ...] = Field(default=(), max_length=10)
    when: AwareDatetime | None = None
    confidence: float | None = Field(default=None, ge=0, le=1)


class Envelope(BaseModel):
    """All candidates of a run; empty is an answer."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    candidates: tuple[Candidate, ...] = Field(max_length=MAX_CANDIDATES)
