"""Whether a memory that was handed out is still what it was.

A text changes only while it waits, and nothing that waits is handed out: what can have happened to it since is a move,
an end, or its erasure.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pipeline.states import MemoryStatus


@dataclass(frozen=True, slots=True)
class Standing:
    """A memory's state now, without its text."""

    id: UUID
    kind: str
    tier: str
    status: MemoryStatus
    status_at: datetime
    superseded_by: UUID | None
    erased_at: datetime | None
    expires_at: datetime


def since_then(memory: Standing, handed_out_at: datetime, now: datetime) -> str:
    """What became of it between the recall and now; 'as it was' where nothing did."""
    if memory.erased_at is not None and memory.erased_at > handed_out_at:
        return f"erased {_day(memory.erased_at)}"
    if memory.status_at > handed_out_at and memory.status is not MemoryStatus.ACTIVE:
        by = f" by {memory.superseded_by}" if memory.superseded_by else ""
        return f"{memory.status}{by} {_day(memory.status_at)}"
    # A rule stays past its date, until a person has looked at it anew.
    if handed_out_at < memory.expires_at <= now and memory.kind != "rule":
        return f"expired {_day(memory.expires_at)}"
    return "as it was"


def _day(moment: datetime) -> str:
    return moment.date().isoformat()
