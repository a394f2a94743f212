"""From session logs to what an extractor would propose: read, scrubbed and staged as the fleet does, kept nowhere.

    file --read_log--> Log --propose_all--> Proposal, or why there is none --staged--> candidates as they would be kept

Failure handling: a file that cannot be read, or that no reader knows, raises FormatError; what an extractor could not
do for one log is that log's outcome, the others have theirs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

from pipeline.candidate import Candidate
from pipeline.errors import FormatError
from pipeline.extraction.metering import Asked, Meter, Settled
from pipeline.extraction.port import ExtractionJob, ExtractionOutcome, Extractor, Proposal
from pipeline.extraction.short import skip_reason
from pipeline.extraction.staging import StagedCandidate, stage_candidates
from pipeline.formats import ReadResult, cut_transcript, detect, read
from pipeline.outcome import Skip
from pipeline.redaction.scrub import scrub_transcript
from pipeline.session import Transcript, ended_at

STANDARD_INPUT = Path("-")


@dataclass(frozen=True, slots=True)
class Log:
    """A session log as it would enter: `transcript` scrubbed of `masks` values, `ended_at` never the clock's word."""

    path: Path
    format: str
    result: ReadResult
    transcript: Transcript
    masks: int
    ended_at: datetime


def read_log(path: Path, format: str = "auto") -> Log:
    """A log in the named format, or in the one it is found to be; `-` is standard input. Raises FormatError."""
    text, modified = _text(path)
    named = detect(text).name if format == "auto" else format
    result = read(text, named)
    transcript, masks = scrub_transcript(cut_transcript(result.transcript)[0])
    return Log(path, named, result, transcript, len(masks), ended_at(transcript, result.ended_at or modified))


def _text(path: Path) -> tuple[str, datetime]:
    try:
        if path == STANDARD_INPUT:
            return sys.stdin.buffer.read().decode("utf-8", "surrogateescape"), datetime.now(UTC)
        modified = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        return path.read_bytes().decode("utf-8", "surrogateescape"), modified
    except OSError as error:
        raise FormatError(error.strerror) from None


class Tally:
    """A meter that counts and refuses nothing: for who asks at their own expense, outside any org's budget."""

    def __init__(self) -> None:
        self.calls: list[Settled] = []

    def reserve(self, asked: Asked) -> UUID:
        return uuid4()

    def settle(self, call: UUID, settled: Settled) -> None:
        self.calls.append(settled)


def propose_all(
    extractor: Extractor, logs: Sequence[Log]
) -> Iterator[tuple[Log, ExtractionOutcome | Skip, Sequence[Settled]]]:
    """The outcome of each log as it arrives, and the calls made for it; one with nothing to read is skipped as a run
    would be, unasked."""
    waiting: list[ExtractionJob] = []
    tallies = [Tally() for _ in logs]
    for number, log in enumerate(logs):
        reason = skip_reason(log.transcript)
        if reason is None:
            waiting.append(job_of(log, UUID(int=number), tallies[number]))
        else:
            yield log, Skip(reason), ()
    for run_id, outcome in extractor.extract_many(waiting) if waiting else ():
        yield logs[run_id.int], outcome, tallies[run_id.int].calls


def job_of(log: Log, run_id: UUID, meter: Meter | None = None) -> ExtractionJob:
    return ExtractionJob(run_id, log.transcript, meter=meter)


def staged(
    log: Log, proposal: Proposal, *, agent: str | None = None, user: str | None = None
) -> list[tuple[Candidate, StagedCandidate]]:
    """Each candidate beside what server code says of it. `agent`, `user`: where the log does not say."""
    agent, user = agent or log.result.agent, user or log.result.user
    return stage_candidates(job_of(log, UUID(int=0)), proposal.envelope, agent=agent, user=user, ended_at=log.ended_at)
