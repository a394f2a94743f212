"""What a reader of session logs is, and what it answers.

    text of a log --sniff--> Reader --read--> ReadResult(transcript, names, times, counts)

Failure handling: `read` raises nothing on any text. A record it cannot read is an `Unread` with its reason, a kind
of record that says nothing (snapshots, token counts, titles) is counted in `ignored` under its name, and

    records == read + sum(ignored.values()) + len(unread)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from pipeline.session import Transcript


@dataclass(frozen=True, slots=True)
class Unread:
    """A record that could not be read. `line_number` counts from 1: lines of JSONL, messages of a document."""

    line_number: int
    reason: str


@dataclass(frozen=True, slots=True)
class ReadResult:
    """A session log as read. `project` is the working directory, names are None where the log has none.

    `left_out` counts what was left out of records that were read: thinking, tool calls, images, injected blocks,
    texts over the cap.
    """

    transcript: Transcript
    agent: str
    session: str | None = None
    project: str | None = None
    user: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    records: int = 0
    read: int = 0
    ignored: Mapping[str, int] = field(default_factory=dict)
    unread: tuple[Unread, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)


class Reader(Protocol):
    """Knows one format of session log."""

    @property
    def name(self) -> str:
        """The word for `--format`."""

    def sniff(self, head: str) -> bool:
        """Is this the beginning of such a log? `head` may end anywhere."""

    def read(self, text: str) -> ReadResult:
        """The whole log. Raises nothing."""
