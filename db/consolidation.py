"""Consolidation's reads and writes: neighbours in; counted repeats and proposed retirements out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from db.connect import Connection
from db.embedding import on_stamp
from db.housekeeping import EXACT_ROWS
from db.sql import query
from pipeline.consolidation.contribute import MemoryView
from pipeline.consolidation.similarity import Similarity
from pipeline.errors import AfterwordError
from pipeline.memory import Scope, ScopeKind, Subject
from pipeline.org import Consolidating


class NotCounted(AfterwordError):
    """This memory was not counted as a near duplicate."""


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory that has just come, and the run and org it came by; `backfill` where that was long after its session."""

    run_id: UUID
    org_id: int
    view: MemoryView
    backfill: bool = True


@dataclass(frozen=True, slots=True)
class Repeat:
    memory_id: UUID
    repeat_id: UUID
    org_id: int
    similarity: Similarity


@dataclass(frozen=True, slots=True)
class Retirement:
    id: UUID
    org_id: int
    replaces: tuple[UUID, ...]
    review_id: UUID


def new_memories(conn: Connection, runs: Sequence[UUID], memories: Sequence[UUID]) -> list[NewMemory]:
    """Active memories of these runs, and these memories."""
    rows = conn.execute(query("consolidation.new_memories"), {"runs": list(runs), "memories": list(memories)})
    return [NewMemory(row["run_id"], row["org_id"], _view(row), row["backfill"]) for row in rows]


def neighbours(
    conn: Connection, memories: Mapping[UUID, Sequence[str]], stamp: int | None
) -> dict[UUID, list[MemoryView]]:
    """Of each memory, given with the phrases to look up, what came before it: by hash; else by vector and by words.

    The cost does not follow the size of the store.
    """
    found: dict[UUID, list[MemoryView]] = {}
    _add(found, conn.execute(query("consolidation.neighbours_exact"), {"ids": list(memories)}))
    rest = [memory for memory in memories if memory not in found]
    if rest and stamp is not None:
        with conn.transaction():
            conn.execute("SET LOCAL hnsw.iterative_scan = 'relaxed_order'")
            conn.execute("SET LOCAL enable_sort = off")  # else the index waits for statistics to know its rows
            conn.execute("SET LOCAL plan_cache_mode = force_custom_plan")
            params = {"ids": rest, "stamp": stamp, "exact_rows": EXACT_ROWS}
            _add(found, conn.execute(on_stamp("neighbours", stamp), params, prepare=False))
    if asked := [(memory, phrase) for memory in rest for phrase in memories[memory]]:
        params = {"ids": [memory for memory, _ in asked], "phrases": [phrase for _, phrase in asked]}
        _add(found, conn.execute(query("consolidation.neighbours_lexical"), params))
    return found


def held_memories(conn: Connection, runs: Sequence[UUID]) -> list[NewMemory]:
    """Pending memories of these runs, oldest first."""
    rows = conn.execute(query("consolidation.held_memories"), {"runs": list(runs)})
    return [NewMemory(row["run_id"], row["org_id"], _view(row)) for row in rows]


def held_neighbours(conn: Connection, memories: Sequence[UUID]) -> dict[UUID, list[MemoryView]]:
    """What each of these pending memories may repeat: what came before with at least its reasons and classes."""
    found: dict[UUID, list[MemoryView]] = {}
    if memories:
        _add(found, conn.execute(query("consolidation.neighbours_held"), {"ids": list(memories)}))
    return found


def _add(found: dict[UUID, list[MemoryView]], rows: Iterable[dict[str, Any]]) -> None:
    """The first to find a neighbour is believed: it knows its cosine."""
    for row in rows:
        views = found.setdefault(row["of"], [])
        if row["id"] not in {view.id for view in views}:
            views.append(_view(row))


def _view(row: dict[str, Any]) -> MemoryView:
    return MemoryView(
        id=row["id"],
        content=row["content"],
        kind=row["kind"],
        scope=Scope(ScopeKind(row["scope_kind"]), row["scope_value"]),
        subject=Subject(row["subject_type"], row["subject_id"]) if row["subject_type"] else None,
        observed_at=row["observed_at"],
        cosine=row.get("cosine"),
    )


def count_repeats(conn: Connection, repeats: Sequence[Repeat], *, actor: str, held: bool = False) -> None:
    """Each repeat gives way to what it repeats, whose occurrences grow by it: once, however often this is called.

    `held`: they are pending, and may repeat what is pending too.
    """
    if repeats:
        rows = [{"memory_id": str(r.memory_id), "repeat_id": str(r.repeat_id), "org_id": r.org_id,
                 "similarity": r.similarity.kind, "score": r.similarity.score} for r in repeats]  # fmt: skip
        name = "consolidation.count_held_repeats" if held else "consolidation.count_repeats"
        conn.execute(query(name), {"rows": Jsonb(rows), "actor": actor})


def propose_retirements(conn: Connection, retirements: Sequence[Retirement], *, actor: str) -> None:
    """Ask about each memory that would take others' place; nothing is retired before it is decided. One a memory."""
    if retirements:
        rows = [{"id": str(r.id), "org_id": r.org_id, "replaces": [str(x) for x in r.replaces],
                 "review_id": str(r.review_id)} for r in retirements]  # fmt: skip
        conn.execute(query("consolidation.propose_retirements"), {"rows": Jsonb(rows), "actor": actor})


def wanting(conn: Connection, what: Consolidating, orgs: Collection[int]) -> frozenset[int]:
    """Those of these orgs whose governance wants it."""
    params = {"ids": list(orgs), "what": what}
    return frozenset(row["id"] for row in conn.execute(query("consolidation.wanting"), params))


def near_duplicates(conn: Connection, org: int, *, limit: int) -> list[dict[str, Any]]:
    """What was counted as a near duplicate of what, newest first; without content."""
    return list(conn.execute(query("consolidation.near_duplicates"), {"org": org, "limit": limit}))


def counted_for(conn: Connection, org: int, repeat: UUID) -> UUID:
    """The memory that `repeat` was counted for as a near duplicate. Raises NotCounted."""
    row = conn.execute(query("consolidation.counted_for"), {"org": org, "repeat": repeat}).fetchone()
    if row is None:
        raise NotCounted(f"{repeat} was not counted as a near duplicate; see: afterword near-duplicates list --org ORG")
    return UUID(str(row["memory_id"]))
