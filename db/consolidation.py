"""Consolidation's reads and writes: neighbours in; counted repeats and proposed retirements out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from db.connect import Connection
from db.embedding import on_stamp
from db.sql import query


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An active memory near `of`; `cosine` only where both have a vector of one stamp."""

    of: UUID
    id: UUID
    content: str
    kind: str
    observed_at: datetime
    cosine: float | None


@dataclass(frozen=True, slots=True)
class NewMemory:
    id: UUID
    run_id: UUID
    org_id: int
    content: str
    kind: str
    observed_at: datetime


@dataclass(frozen=True, slots=True)
class Repeat:
    memory_id: UUID
    repeat_id: UUID
    org_id: int
    similarity: str


@dataclass(frozen=True, slots=True)
class Retirement:
    id: UUID
    org_id: int
    replaces: tuple[UUID, ...]
    review_id: UUID


def new_memories(conn: Connection, runs: Sequence[UUID], memories: Sequence[UUID]) -> list[NewMemory]:
    """Active memories of these runs, and these memories."""
    rows = conn.execute(query("stages.new_memories"), {"runs": list(runs), "memories": list(memories)})
    return [
        NewMemory(row["id"], row["run_id"], row["org_id"], row["content"], row["kind"], row["observed_at"])
        for row in rows
    ]


def neighbours(conn: Connection, memories: Sequence[UUID], stamp: int | None) -> list[Neighbour]:
    """By hash first; for the rest by vector where there is a stamp, else by lexemes. Only what came before."""
    exact = _read(conn.execute(query("stages.neighbours_exact"), {"ids": list(memories)}))
    rest = list(set(memories) - {item.of for item in exact})
    if not rest:
        return exact
    if stamp is None:
        return exact + _read(conn.execute(query("stages.neighbours_lexical"), {"ids": rest}))
    with conn.transaction():
        conn.execute("SET LOCAL hnsw.iterative_scan = 'relaxed_order'; SET LOCAL plan_cache_mode = force_custom_plan")
        return exact + _read(conn.execute(on_stamp("neighbours", stamp), {"ids": rest}))


def _read(rows: Iterable[dict[str, Any]]) -> list[Neighbour]:
    return [
        Neighbour(row["of"], row["id"], row["content"], row["kind"], row["observed_at"], row.get("cosine"))
        for row in rows
    ]


def count_repeats(conn: Connection, repeats: Sequence[Repeat], *, actor: str) -> None:
    """Each repeat gives way to what it repeats, whose occurrences grow by it: once, however often this is called."""
    if repeats:
        rows = [{"memory_id": str(r.memory_id), "repeat_id": str(r.repeat_id), "org_id": r.org_id,
                 "similarity": r.similarity} for r in repeats]  # fmt: skip
        conn.execute(query("stages.count_repeats"), {"rows": Jsonb(rows), "actor": actor})


def propose_retirements(conn: Connection, retirements: Sequence[Retirement], *, actor: str) -> None:
    """Open a review on each memory that would take another's place; nothing is retired before it is decided."""
    if retirements:
        rows = [{"id": str(r.id), "org_id": r.org_id, "replaces": [str(x) for x in r.replaces],
                 "review_id": str(r.review_id)} for r in retirements]  # fmt: skip
        conn.execute(query("stages.propose_retirements"), {"rows": Jsonb(rows), "actor": actor})
