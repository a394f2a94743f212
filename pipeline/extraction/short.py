"""Sessions with nothing to read: skipped before a model is asked."""

from __future__ import annotations

from pipeline.outcome import SkipReason
from pipeline.session import Role, Transcript

MIN_USER_CHARACTERS = 20
"""A session without an answer needs this much user text; "Our ledger closes on Fridays" has 28."""


def skip_reason(transcript: Transcript, first_own: int = 0) -> SkipReason | None:
    """EMPTY without user or assistant text, TOO_SHORT with a few user characters and no answer, else None.

    Turns below `first_own` were read by an earlier run and do not count.
    """
    own = transcript.turns[first_own:]
    said = {role: sum(len(turn.text.strip()) for turn in own if turn.role is role) for role in Role}
    if not said[Role.USER] and not said[Role.ASSISTANT]:
        return SkipReason.EMPTY
    if not said[Role.ASSISTANT] and said[Role.USER] < MIN_USER_CHARACTERS:
        return SkipReason.TOO_SHORT
    return None
