"""The episodic tier: what was said in a session, a memory for each turn a person or the agent spoke.

    transcript --own turns, untrusted ones left out--> pieces --staged--> redaction and gate, like any candidate

No model proposes a turn, so none is wrong about what was said; what it says may still be personal, of consequence or
aimed at later sessions, and is held for the same reasons. A turn is the agent's own memory (scope agent), thirty days.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from pipeline.candidate import MAX_CONTENT_CHARACTERS
from pipeline.extraction.classifier import text_reasons
from pipeline.extraction.port import ExtractionJob
from pipeline.extraction.staging import StagedCandidate
from pipeline.extraction.stamp import rules_revision
from pipeline.extraction.wording.instructions import steering
from pipeline.extraction.wording.stakes import stakes
from pipeline.memory import TURN, AuthorKind, Scope, ScopeKind, Subject, content_hash
from pipeline.provenance import EndpointClass, Provenance
from pipeline.redaction.redactor import without_high
from pipeline.retention import kept_days
from pipeline.session import Trust, Turn, normalised

PIECE_CHARACTERS = 1_600
"""About 400 tokens, within the 512 an e5 reads; a longer turn is several memories, parted where it may be."""

PIECES_A_SESSION = 1_000
"""What detectors read in some seconds. The newest are kept; how many were left out stands in their provenance."""

WORDS_MIN = 3
"""Thanks and yes answer nothing later."""

PROVENANCE = Provenance(
    provider="transcript", model="turns", endpoint_class=EndpointClass.LOCAL, prompt_revision="turns@1"
)

_RATIONALE = "Said in the session; no other source holds it."
_BREAKS = (r"\n\s*\n", r"\n", r"(?<=[.!?。！？])\s*", r"\s+")


def add(
    staged: dict[str, Any], job: ExtractionJob, *, agent: str, user: str | None, ended_at: datetime
) -> dict[str, Any]:
    """A staged envelope with what was said beside what was proposed; a turn that a candidate repeats is left to it."""
    proposed = {content_hash(candidate["content"]) for candidate in staged["candidates"]}
    turns = [turn for turn in stage_turns(job, agent=agent, user=user, ended_at=ended_at)
             if content_hash(turn.content) not in proposed]  # fmt: skip
    kept = turns[-PIECES_A_SESSION:]
    provenance = PROVENANCE.model_dump(mode="json") | {
        "rules_revision": rules_revision(), "left_out": len(turns) - len(kept)
    }  # fmt: skip
    return staged | {"turns": [turn.model_dump(mode="json") for turn in kept], "turns_provenance": provenance}


def stage_turns(job: ExtractionJob, *, agent: str, user: str | None, ended_at: datetime) -> Iterator[StagedCandidate]:
    """The memories a session's own turns would be, oldest first."""
    for number in range(job.first_own, len(job.transcript.turns)):
        turn = job.transcript.turns[number]
        if turn.trust is not Trust.UNTRUSTED:
            for piece in cut_pieces(turn.text):
                yield _stage(number, turn, job.transcript.speaker(number), piece, agent, user, ended_at)


def cut_pieces(text: str) -> Iterator[str]:
    """`text` in pieces of at most `PIECE_CHARACTERS`, each as long as may be; those of too few words are left out."""
    rest = text.strip()
    while rest:
        end = len(rest) if len(rest) <= PIECE_CHARACTERS else _last_break(rest[:PIECE_CHARACTERS])
        piece, rest = rest[:end].strip(), rest[end:].strip()
        if len(piece.split()) >= WORDS_MIN or len(piece) > 20:  # some scripts part no words
            yield piece


def _last_break(text: str) -> int:
    """Where a text that goes on is best parted: the last paragraph in its second half, else line, sentence, word."""
    half = len(text) // 2
    for pattern in _BREAKS:
        if ends := [found.end() for found in re.finditer(pattern, text) if half < found.end()]:
            return ends[-1]
    return len(text)


def _stage(
    number: int, turn: Turn, speaker: str | None, piece: str, agent: str, user: str | None, ended_at: datetime
) -> StagedCandidate:
    said = f"{speaker}: {piece}" if speaker else piece
    content = without_high(said)[:MAX_CONTENT_CHARACTERS]
    areas = stakes(piece)
    own = turn.trust is Trust.USER
    person = user if own and not speaker else None
    return StagedCandidate(
        content=content,
        kind=TURN,
        rationale=_RATIONALE,
        evidence=[{"turn": number, "quote": "", "role": turn.role, "trust": turn.trust,
                   "at": turn.at.isoformat() if turn.at else None}],
        confidence=None,
        hold_reasons=text_reasons(areas, steering(piece)),
        subject=_subject(speaker, user) if own else None,
        scope=Scope(ScopeKind.AGENT, agent),
        author_kind=AuthorKind.PERSON if person else AuthorKind.AGENT,
        author=person or agent,
        high_stakes=bool(areas),
        importance=1,
        observed_at=turn.at or ended_at,
        lifetime_days=kept_days(TURN, {}),
    )  # fmt: skip


def _subject(speaker: str | None, user: str | None) -> Subject | None:
    """Who spoke: by name where the session has several people, else its user."""
    if speaker:
        name = normalised(speaker)
        return Subject("person", name) if name and name == without_high(name) else None
    return Subject("user", user) if user else None
