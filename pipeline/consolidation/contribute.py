"""What a new memory does to its nearest neighbours: it is added, counted as a repeat, or one of both is proposed to go.

Deterministic. Cosine only chose the neighbours: with multilingual-e5-small, 29 pairs of facts that look alike and
differ (0.90 to 1.00) and six pairs of paraphrases (0.93 to 0.98) all lie above the 99.9th percentile of unrelated
pairs (0.89), so no threshold on it tells a repeat from a change. An org may still have near duplicates counted
(`cosine_above`), which then rests on the guard of `similarity` and can be undone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pipeline.consolidation.replacement import replacement, subjects
from pipeline.consolidation.similarity import Likeness, Similarity, lexical, similarity
from pipeline.consolidation.wording import without_filler
from pipeline.memory import Scope, Subject


@dataclass(frozen=True, slots=True)
class MemoryView:
    """What contribute looks at. Neighbours are active memories of the same org; `cosine` is that to the new one."""

    id: UUID
    content: str
    kind: str
    scope: Scope
    subject: Subject | None
    observed_at: datetime
    cosine: float | None = None


@dataclass(frozen=True, slots=True)
class Add:
    """New beside what is known; no-op."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """Says again what memory `of` says: counted there as an occurrence."""

    of: UUID
    similarity: Similarity


@dataclass(frozen=True, slots=True)
class Retire:
    """Would take the place of the memories `old`: a proposal, never done here. `reason` is a rule of `replacement`."""

    old: tuple[UUID, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Outdated:
    """Arrived late: memory `by`, which was true later, would take its place. A proposal too."""

    by: UUID
    reason: str


Contribution = Add | Repeat | Retire | Outdated


def phrases(content: str) -> tuple[str, ...]:
    """What to look up to find what repeats a text or speaks of the same thing: all its words, and each of its subjects.

    Every phrase is looked up as a whole, so that its rarest word bounds the search.
    """
    return tuple(dict.fromkeys((without_filler(content), *subjects(content))))


def contribute(new: MemoryView, neighbours: Sequence[MemoryView], *, cosine_above: float | None = None) -> Contribution:
    """A repeat before a replacement, the closest neighbour first; what is not of one kind, scope and subject is apart.

    An older statement never retires a newer one, nor one of the same moment. `cosine_above`: above this cosine, and
    where nothing else speaks, what has the same anchors is a repeat too; None where the org does not want that.
    """
    peers = _peers(new, neighbours)
    said = _repeat(new, peers) or _outdated(new, peers) or _retire(new, peers)
    return said or _near_repeat(new, peers, cosine_above) or Add()


def repeated(new: MemoryView, neighbours: Sequence[MemoryView]) -> Repeat | None:
    """What a memory that waits says again, if anything: it retires nothing, and is added by its review alone."""
    return _repeat(new, _peers(new, neighbours))


def _peers(new: MemoryView, neighbours: Sequence[MemoryView]) -> list[MemoryView]:
    peers = [other for other in neighbours if other.id != new.id and _belongs_with(new, other)]
    return sorted(peers, key=lambda other: (-lexical(new.content, other.content), other.id))


def _belongs_with(new: MemoryView, other: MemoryView) -> bool:
    return (new.kind, new.scope, new.subject) == (other.kind, other.scope, other.subject)


def _repeat(new: MemoryView, peers: Sequence[MemoryView]) -> Repeat | None:
    alike = [Repeat(other.id, similarity(new.content, other.content)) for other in peers]
    for kind in (Likeness.EXACT, Likeness.LEXICAL):
        for repeat in alike:
            if repeat.similarity.kind is kind:
                return repeat
    return None


def _near_repeat(new: MemoryView, peers: Sequence[MemoryView], cosine_above: float | None) -> Repeat | None:
    alike = (
        Repeat(other.id, similarity(new.content, other.content, cosine=other.cosine, cosine_above=cosine_above))
        for other in peers
    )
    near = [repeat for repeat in alike if repeat.similarity.kind is Likeness.COSINE]
    return max(near, key=lambda repeat: repeat.similarity.score, default=None)


def _retire(new: MemoryView, peers: Sequence[MemoryView]) -> Retire | None:
    found = list(_replaced(new, [other for other in peers if other.observed_at < new.observed_at]))
    return Retire(tuple(other.id for other, _ in found), found[0][1]) if found else None


def _replaced(new: MemoryView, peers: Sequence[MemoryView]) -> Iterator[tuple[MemoryView, str]]:
    for other in peers:
        if reason := replacement(new.content, other.content):
            yield other, reason


def _outdated(new: MemoryView, peers: Sequence[MemoryView]) -> Outdated | None:
    for other in peers:
        if other.observed_at > new.observed_at and (reason := replacement(other.content, new.content)):
            return Outdated(other.id, reason)
    return None
