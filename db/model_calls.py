"""What was asked of models: reserved within the org's budget, settled once, reported. The database holds the budget."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from uuid_utils.compat import uuid7

from db.connect import Connection, DatabaseError
from db.sql import query
from pipeline.errors import AfterwordError
from pipeline.extraction.metering import Asked, Purpose, Settled

DAY_USED, CALL_TOO_LARGE, NOT_THERE = "AW001", "AW002", "AW003"


class OverBudget(AfterwordError):
    """The budget of the org's day is used up."""


class NeverWithinBudget(AfterwordError):
    """This call alone is more than the budget of a day."""


class EndpointNotAllowed(AfterwordError):
    """The org does not let its sessions go to an endpoint of this class."""


def reserve(
    conn: Connection, asked: Asked, *, purpose: Purpose, run: UUID | None = None, org: int | None = None
) -> UUID:
    """The call's id. One of `run` and `org` is given. Raises OverBudget, NeverWithinBudget, EndpointNotAllowed."""
    params = {"id": uuid7(), "org": org, "run": run, "purpose": purpose, "input": asked.tokens.input,
              "output": asked.tokens.output, "cost": asked.cost,
              **asked.provenance.model_dump(mode="json")}  # fmt: skip
    try:
        conn.execute(query("model_calls.reserve"), params)
    except DatabaseError as error:
        refused = _REFUSALS.get(error.sqlstate or "")
        if refused is None:
            raise
        raise refused() from None
    return UUID(str(params["id"]))


_REFUSALS: dict[str, type[AfterwordError]] = {
    DAY_USED: OverBudget, CALL_TOO_LARGE: NeverWithinBudget, NOT_THERE: EndpointNotAllowed,
}  # fmt: skip


def settle(conn: Connection, call: UUID, settled: Settled) -> bool:
    """False when it was settled already."""
    tokens = settled.tokens
    params = {"id": call, "outcome": settled.outcome, "model": settled.model, "cost": settled.cost,
              "input": tokens.input if tokens else None, "output": tokens.output if tokens else None,
              "latency_seconds": settled.latency_seconds}  # fmt: skip
    return conn.execute(query("model_calls.settle"), params).rowcount == 1


def give_up(conn: Connection) -> int:
    """Reservations of workers that never came back count as lost, at what they reserved; returns how many."""
    return conn.execute(query("model_calls.give_up")).rowcount


def waiting(conn: Connection) -> dict[str, int]:
    """Runs that wait to be admitted, or for a model that answers, by reason: each reason there is."""
    return {row["reason"]: row["runs"] for row in conn.execute(query("model_calls.waiting"))}


def of_day(conn: Connection, org: int) -> dict[str, Any]:
    """tokens_today, usd_today (None: no price is known) and waiting (runs)."""
    row = conn.execute(query("model_calls.of_day"), {"org": org}).fetchone()
    assert row is not None
    return row


def report(conn: Connection, *, by: str, org: int | None, since: datetime, until: datetime) -> list[dict[str, Any]]:
    """By 'org', 'model', 'day' or 'purpose': calls, tokens, US dollars, latencies, and the memories they made."""
    params = {"by": by, "org": org, "since": since, "until": until}
    return list(conn.execute(query("model_calls.report"), params))


def by_memory(
    conn: Connection, *, org: int | None, since: datetime, until: datetime, limit: int
) -> list[dict[str, Any]]:
    """Each memory's share of what its run cost, newest first."""
    params = {"org": org, "since": since, "until": until, "limit": limit}
    return list(conn.execute(query("model_calls.by_memory"), params))
