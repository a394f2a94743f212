"""Embedding spaces that come and go: filled beside the current one, switched to, dropped.

The database refuses a switch by which a memory could no longer be found by vector, and the drop of what is in use.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from pgvector import Vector
from psycopg import sql

from db import ledger
from db.connect import Connection, DatabaseError
from db.sql import query
from pipeline.embedding.port import Vectors
from pipeline.errors import AfterwordError

NOT_YET, UNKNOWN = "55000", "22023"
START = UUID(int=0)


class SpaceRefused(AfterwordError):
    """The database does not switch to, or drop, this space."""


class FillingAlready(AfterwordError):
    """Somebody else fills this space at the moment; what they have done stays, and so will what you do later."""


@dataclass(frozen=True, slots=True)
class Unfilled:
    """A memory without a vector in the space."""

    id: UUID
    content: str


@contextmanager
def filling(conn: Connection, stamp: int) -> Iterator[None]:
    """The right to fill a space, for as long as `conn` lives. Raises FillingAlready."""
    row = conn.execute(query("spaces.fill_alone"), {"stamp": stamp}).fetchone()
    if row is None or not row["got"]:
        raise FillingAlready
    try:
        yield
    finally:
        conn.execute(query("spaces.fill_done"), {"stamp": stamp})


def unfilled(conn: Connection, stamp: int, current: int, *, after: UUID, limit: int) -> list[Unfilled]:
    """Memories that are, or have been, found in `current` and have no vector in `stamp`, by id from `after` on."""
    rows = conn.execute(_over("unfilled", stamp, current), {"after": after, "limit": limit})
    return [Unfilled(row["id"], row["content"]) for row in rows]


def count_unfilled(conn: Connection, stamp: int, current: int) -> int:
    row = conn.execute(_over("count_unfilled", stamp, current)).fetchone()
    return int(row["unfilled"]) if row else 0


def fill(conn: Connection, stamp: int, memories: Sequence[UUID], vectors: Vectors) -> int:
    """Store one vector a memory that can still be recalled; returns how many were new."""
    params = {"ids": list(memories), "vectors": [Vector(row) for row in vectors], "stamp": stamp}
    return conn.execute(_over("fill", stamp, stamp), params).rowcount


def gap(conn: Connection, stamp: int) -> int:
    """How many memories a switch to this space would leave without a vector. Raises SpaceRefused."""
    with _refusals():
        row = conn.execute(query("spaces.gap"), {"stamp": stamp}).fetchone()
    return int(row["gap"]) if row else 0


def switch(conn: Connection, stamp: int, *, uncalibrated: bool, actor: str, reason: str) -> bool:
    """Recall and embedding use this space from now on; False when they do already. Raises SpaceRefused."""
    with _refusals(), conn.transaction():
        row = conn.execute(query("spaces.switch"), {"stamp": stamp, "uncalibrated": uncalibrated}).fetchone()
        switched = bool(row and row["switched"])
        if switched:
            _record(conn, stamp, "stamp_switched", actor, reason)
    return switched


def drop(conn: Connection, stamp: int, *, actor: str, reason: str) -> bool:
    """The space's vectors and its table are gone; False when they were. Raises SpaceRefused."""
    with _refusals(), conn.transaction():
        row = conn.execute(query("spaces.drop"), {"stamp": stamp}).fetchone()
        dropped = row is not None and row["vectors"] is not None
        if dropped:
            _record(conn, stamp, "stamp_dropped", actor, reason)
    return dropped


def _over(name: str, stamp: int, current: int) -> sql.Composed:
    return sql.SQL(query(f"spaces.{name}")).format(
        table=sql.Identifier(f"embeddings_{stamp}"), current=sql.Identifier(f"embeddings_{current}")
    )


def _record(conn: Connection, stamp: int, action: str, actor: str, reason: str) -> None:
    ledger.record(
        conn, org_id=None, subject=("stamp", str(stamp)), actor=actor, action=action, detail={"reason": reason}
    )


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except DatabaseError as error:
        if error.sqlstate not in (NOT_YET, UNKNOWN):
            raise
        raise SpaceRefused(str(error.diag.message_primary)) from None
