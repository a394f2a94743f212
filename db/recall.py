"""Recall as the agents' login: one call that reads and records, inside a granted transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pgvector import Vector

from db.connect import Connection, DatabaseError
from db.doors import NoGrant
from db.sql import query as named
from pipeline.embedding.port import Vectors
from pipeline.errors import AfterwordError
from pipeline.memory import AuthorKind, Subject, Tier
from pipeline.recall.hit import Hit, Recall
from pipeline.states import MemoryStatus


class QuestionRefused(AfterwordError):
    """The recall asks for what no recall gives."""


Fusion = Literal["weighted", "rrf"]


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What a question is narrowed to: only these kinds, this kind of scope and path (whole segments: `acme` is never
    `acme-corp`), this subject, and what was observed from `since` on and before `until`."""

    kinds: tuple[str, ...] | None = None
    scope_kind: str | None = None
    scope_path: str | None = None
    subject: Subject | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: text, and its vector with the stamp it belongs to where there is one."""

    text: str
    vector: Vectors | None = None
    stamp: int | None = None
    max_hits: int = 5
    as_of: datetime | None = None
    narrowed: Narrowing = Narrowing()
    fusion: Fusion = "weighted"


def recall(conn: Connection, question: Question) -> Recall:
    """Hits in order, the mode that answered, and what was left out. Raises NoGrant, QuestionRefused."""
    narrowed = question.narrowed
    params = {
        "kinds": None if narrowed.kinds is None else list(narrowed.kinds), "since": narrowed.since,
        "until": narrowed.until, "scope_kind": narrowed.scope_kind, "scope_path": narrowed.scope_path,
        "subject_type": narrowed.subject.type if narrowed.subject else None,
        "subject_id": narrowed.subject.id if narrowed.subject else None, "fusion": question.fusion,
        "query": question.text, "max_hits": question.max_hits, "as_of": question.as_of, "stamp": question.stamp,
        "vector": None if question.vector is None else Vector(question.vector),
    }  # fmt: skip
    try:
        rows = conn.execute(named("doors.recall"), params, prepare=False).fetchall()
    except DatabaseError as error:
        if error.sqlstate == "42501":
            raise NoGrant(str(error.diag.message_primary)) from None
        if error.sqlstate == "22023":
            raise QuestionRefused(str(error.diag.message_primary)) from None
        raise
    hits = tuple(_hit(row) for row in rows if row["memory_id"] is not None)
    return Recall(rows[0]["recall_id"], rows[0]["mode"], hits, rows[0]["excluded"])


def _hit(row: dict[str, Any]) -> Hit:
    plain = {key: row[key] for key in Hit.__dataclass_fields__ if key in row}
    subject = None if row["subject_type"] is None else Subject(row["subject_type"], row["subject_id"])
    typed = {
        "tier": Tier(row["tier"]),
        "status": MemoryStatus(row["status"]),
        "author_kind": AuthorKind(row["author_kind"]),
        "subject": subject,
        "turns": tuple(row["turns"] or ()),
    }
    return Hit(**(plain | typed))


def rendered(conn: Connection, recall_id: UUID, block_hash: bytes, shown: Sequence[UUID]) -> None:
    """Record the SHA-256 of the block the model was shown, and which hits stand in it; the first one stands."""
    params = {"recall_id": recall_id, "block_hash": block_hash, "shown": list(shown)}
    conn.execute(named("doors.rendered"), params)
