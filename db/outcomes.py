"""What became of something: written on its own, counted where it is lost, read by mining alone."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass
from typing import Literal
from uuid import UUID

from db.connect import Connection, DatabaseError
from db.reviews import asked
from db.sql import query
from pipeline.errors import AfterwordError
from pipeline.redaction.redactor import without_high

OutcomeKind = Literal["eval", "rating"]


class OutcomeLost(AfterwordError):
    """The outcome could not be written; it is counted as lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewOutcome:
    """`score` in 0..1, worse to better. `eval_run`: an evaluation's id in its own system. `memory`: what is judged."""

    kind: OutcomeKind
    score: float
    eval_run: str | None = None
    memory: UUID | None = None
    agent: str | None = None
    workflow: str | None = None
    namespace: str | None = None
    comment: str | None = None


def add(conn: Connection, outcome: NewOutcome) -> UUID:
    """As a reviewer's or an agent's grant. Raises VerdictRefused."""
    params = asdict(outcome) | {"comment": without_high(outcome.comment) if outcome.comment else None}
    return UUID(str(asked(conn, "outcomes.add", params)["id"]))


def send(door: Callable[[], AbstractContextManager[Connection]], outcome: NewOutcome) -> UUID:
    """In a transaction of its own. Raises OutcomeLost once that is counted, for whoever fires and forgets to pass over;
    VerdictRefused for what no outcome is.
    """
    try:
        with door() as conn:
            return add(conn, outcome)
    except DatabaseError as error:
        with suppress(DatabaseError), door() as conn:
            conn.execute(query("outcomes.lose"))
        raise OutcomeLost(f"the outcome could not be written ({error.sqlstate}); it is counted as lost") from None


def lost(conn: Connection) -> int:
    """How many were lost since the installation was made, as the worker."""
    row = conn.execute(query("outcomes.lost")).fetchone()
    return int(row["lost"]) if row else 0
