"""What a recall hands out: each memory with its scores and why it is allowed, and which kind of search found it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from uuid import UUID

from pipeline.memory import AuthorKind, Subject, Tier
from pipeline.states import MemoryStatus

Mode = Literal["hybrid", "lexical", "vector", "newest"]
"""Which search happened: both legs, words alone, vectors alone, or nothing matched and the newest were given."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One memory found. A leg that did not find it has neither score nor rank; ranks count from 1."""

    memory_id: UUID
    content: str
    kind: str
    tier: Tier
    status: MemoryStatus
    author: str
    author_kind: AuthorKind
    observed_at: datetime
    valid_from: datetime | None
    valid_to: datetime | None
    subject: Subject | None
    session: str
    turns: tuple[int, ...]
    """The turns of that session it is, or is evident from; numbers from 0."""
    vector_score: float | None
    lexical_score: float | None
    combined_score: float
    vector_rank: int | None
    lexical_rank: int | None
    allowed: str
    """Why the caller may read it: 'org-wide', 'the caller\\'s own'."""


@dataclass(frozen=True, slots=True)
class Recall:
    """One recorded recall: `hits` best first, and how many rows were left out, by reason."""

    recall_id: UUID
    mode: Mode
    hits: tuple[Hit, ...]
    excluded: Mapping[str, int] = field(default_factory=dict)
