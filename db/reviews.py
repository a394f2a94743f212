"""What a reviewer may do: see the inbox, look at a memory, decide. Called inside a granted transaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, LiteralString
from uuid import UUID

from db.connect import Connection, DatabaseError
from db.sql import query
from pipeline.errors import AfterwordError
from pipeline.redaction.redactor import without_high

Act = Literal["edit", "redirect", "correct"]


class VerdictRefused(AfterwordError):
    """The database refused the verdict."""


class NoSuchMemory(VerdictRefused):
    """This grant has no such memory."""


@dataclass(frozen=True, slots=True)
class Placement:
    """What an approval may add: a namespace, a scope, a subject."""

    namespace: str | None = None
    scope_kind: str | None = None
    scope_value: str | None = None
    subject_type: str | None = None
    subject_id: str | None = None


def inbox(conn: Connection, *, limit: int = 100) -> list[dict[str, Any]]:
    """Open reviews of the grant's org, high stakes first, then oldest; without content."""
    return list(conn.execute(query("doors.inbox"), {"limit": limit}))


def view(conn: Connection, memory: UUID) -> dict[str, Any]:
    """The memory as it is at rest; the look is an entry in the ledger."""
    return _call(conn, "view", {"memory": memory})


def view_beside(conn: Connection, memory: UUID) -> dict[str, Any]:
    """What is shown of a memory beside one that would take its place; of another project only its id."""
    try:
        with conn.transaction():
            found = view(conn, memory)
    except VerdictRefused:
        return {"id": memory}
    return {key: found[key] for key in ("id", "status", "content", "observed_at")}


def _typed(text: str | None) -> str | None:
    """What a person typed, without what is HIGH: between here and its check it stands in the database."""
    return None if text is None else without_high(text)


def approve(conn: Connection, memory: UUID, *, comment: str | None, placement: Placement) -> str:
    params = {"memory": memory, "comment": _typed(comment), "namespace": placement.namespace,
              "scope_kind": placement.scope_kind, "scope_value": placement.scope_value,
              "subject_type": placement.subject_type, "subject_id": placement.subject_id}  # fmt: skip
    return str(_call(conn, "approve", params)["done"])


def reject(conn: Connection, memory: UUID, *, comment: str) -> str:
    return str(_call(conn, "reject", {"memory": memory, "comment": _typed(comment)})["done"])


def forget(conn: Connection, memory: UUID, *, comment: str | None) -> str:
    return str(_call(conn, "forget", {"memory": memory, "comment": _typed(comment)})["done"])


def retype(conn: Connection, memory: UUID, act: Act, content: str, *, comment: str | None) -> UUID | None:
    """Hand in a text; returns the run that checks it, None when that very text was handed in before."""
    params = {"memory": memory, "act": act, "content": _typed(content), "comment": _typed(comment)}
    run = _call(conn, "retype", params)["run"]
    return run if isinstance(run, UUID) else None


def view_drop(conn: Connection, drop: UUID) -> dict[str, Any]:
    """What was dropped, why, and how its sample was answered; the look is an entry in the ledger."""
    return _call(conn, "view_drop", {"drop": drop})


def confirm_drop(conn: Connection, drop: UUID, *, comment: str | None = None) -> str:
    """It was right to drop it."""
    return str(_call(conn, "confirm_drop", {"drop": drop, "comment": _typed(comment)})["done"])


def restore_drop(conn: Connection, drop: UUID, *, comment: str) -> UUID:
    """It was wrong: returns the run in which the candidate passes detection and gate; the same one when repeated."""
    run = _call(conn, "restore_drop", {"drop": drop, "comment": _typed(comment)})["run"]
    assert isinstance(run, UUID)
    return run


def restore_repeat(conn: Connection, repeat: UUID, *, comment: str) -> UUID:
    """It was no repeat: returns the run in which its text comes in again; the same one when asked again."""
    run = _call(conn, "restore_repeat", {"repeat": repeat, "comment": _typed(comment)})["run"]
    assert isinstance(run, UUID)
    return run


def _call(conn: Connection, name: LiteralString, params: dict[str, Any]) -> dict[str, Any]:
    return asked(conn, f"doors.{name}", params)


def asked(conn: Connection, name: LiteralString, params: dict[str, Any]) -> dict[str, Any]:
    """The one row of a function that a grant may call. Raises VerdictRefused where it refuses."""
    (row,) = asked_all(conn, name, params)
    return row


def asked_all(conn: Connection, name: LiteralString, params: dict[str, Any]) -> list[dict[str, Any]]:
    """Its rows."""
    try:
        return conn.execute(query(name), params).fetchall()
    except DatabaseError as error:
        if error.sqlstate == "P0002":
            raise NoSuchMemory(_reason(error)) from None
        if error.sqlstate in {"AW001", "AW002", "22023", "23514", "23503", "42501"}:
            raise VerdictRefused(_reason(error)) from None
        raise


def _reason(error: DatabaseError) -> str:
    if error.diag.constraint_name == "personal_names_its_subject":
        return "subject_missing: what is personal needs --subject TYPE:ID before it may be active"
    if error.sqlstate == "23503":
        return "no such namespace in this org's manifest"
    return str(error.diag.message_primary)
