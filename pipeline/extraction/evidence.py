"""Does the transcript bear the candidate out? Quotes are looked up, never believed.

A quote counts when its normalised form stands in the normalised text of the turn it names. One too short to prove
anything counts only when it is the whole turn ("yes").
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pipeline.candidate import Candidate, Evidence
from pipeline.memory import HoldReason
from pipeline.session import Role, Transcript, Trust, normalised

MIN_QUOTE_BYTES = 8
"""Shorter quotes ("the", "ok") stand in nearly every turn; bytes of UTF-8, so that three CJK signs suffice."""


@dataclass(frozen=True, slots=True)
class VerifiedEvidence:
    """A quote found in the turn it names, and whose words that turn holds; `name` of who of several people spoke."""

    turn: int
    quote: str
    role: Role
    trust: Trust
    at: datetime | None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class EvidenceFinding:
    """What was found, when it was true (None: nobody knows), and why a person must look."""

    verified: tuple[VerifiedEvidence, ...]
    observed_at: datetime | None
    hold_reasons: tuple[HoldReason, ...]


def check(candidate: Candidate, transcript: Transcript, ended_at: datetime | None = None) -> EvidenceFinding:
    """Looks up each quote. `ended_at` is the event's end of session, else the last turn's time."""
    found = (_verify(item, transcript) for item in candidate.evidence)
    verified = tuple(item for item in found if item is not None)
    observed_at = _observed_at(candidate, verified, ended_at or transcript.last_at)
    return EvidenceFinding(verified, observed_at, _hold_reasons(verified, observed_at))


def _verify(item: Evidence, transcript: Transcript) -> VerifiedEvidence | None:
    if item.turn >= len(transcript.turns):
        return None
    turn = transcript.turns[item.turn]
    if not _stands_in(normalised(item.quote), normalised(turn.text)):
        return None
    return VerifiedEvidence(item.turn, item.quote, turn.role, turn.trust, turn.at, transcript.speaker(item.turn))


def _stands_in(quote: str, text: str) -> bool:
    if len(quote.encode()) < MIN_QUOTE_BYTES:
        return bool(quote) and quote == text
    return quote in text


def _observed_at(
    candidate: Candidate, verified: tuple[VerifiedEvidence, ...], ended_at: datetime | None
) -> datetime | None:
    when = candidate.when if candidate.when and candidate.when.year > 1 else None  # in UTC it may lie before year 1
    when = when or next((item.at for item in verified if item.at), None) or ended_at
    if when and ended_at and when > ended_at:  # nothing was observed after the session; a plan's date is content
        return ended_at
    return when


def _hold_reasons(verified: tuple[VerifiedEvidence, ...], observed_at: datetime | None) -> tuple[HoldReason, ...]:
    reasons = []
    if not verified:
        reasons.append(HoldReason.UNSUPPORTED)
    elif all(item.trust is Trust.UNTRUSTED for item in verified):
        reasons.append(HoldReason.UNTRUSTED_SOURCE)
    if observed_at is None:
        reasons.append(HoldReason.UNDATED)
    return tuple(reasons)
