"""The inbox, a memory as it stands, and a person's decisions; the ledger names the token's actor."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self
from uuid import UUID

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict, Field, model_validator

from db import reviews as store
from db import rules, told
from db.connect import Connection
from db.reviews import Placement
from gateway.caller import Admits, Caller
from gateway.problems import documented
from pipeline.session import storable

router = APIRouter(prefix="/v1", tags=["reviews"])

Reviewer = Annotated[Caller, Depends(Admits("reviewer"))]
Word = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]


class Inbox(BaseModel):
    reviews: list[dict[str, Any]]


class Memory(BaseModel):
    """A memory as it is at rest, un-redacted where it is held, and what the ledger has on it. The look is on record."""

    memory: dict[str, Any]
    history: list[dict[str, Any]]


class Verdict(BaseModel):
    """A decision. `text` goes with edit, redirect and correct; a rejection needs a comment."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"verdict": "reject", "comment": "a guess, not a decision"}]}
    )

    verdict: Literal["approve", "edit", "redirect", "reject", "correct", "forget"]
    comment: Annotated[str, Field(max_length=2000)] | None = None
    text: Annotated[str, Field(min_length=1, max_length=2000)] | None = None
    namespace: Word | None = None
    subject_type: Word | None = None
    subject_id: Word | None = None
    beside: bool = Field(False, description="approve a rule though an active one says nearly the same")

    @model_validator(mode="after")
    def _whole(self) -> Self:
        typed = self.verdict in ("edit", "redirect", "correct")
        if typed != bool(self.text and self.text.strip()):
            raise ValueError("text goes with edit, redirect and correct, and with nothing else")
        if self.verdict == "reject" and not (self.comment or "").strip():
            raise ValueError("a rejection needs a comment")
        if (self.subject_type is None) != (self.subject_id is None):
            raise ValueError("a subject is a type and an id")
        return self


class Decided(BaseModel):
    """What was done; `run` carries a typed text through detection: GET /v1/runs/{run}."""

    done: str
    run: UUID | None = None


@router.get("/reviews", responses=documented(401, 403, 422, 429, 503))
def inbox(caller: Reviewer, limit: Annotated[int, Query(ge=1, le=500)] = 50) -> Inbox:
    """Open reviews of the token's org, high stakes first, then oldest; without content."""
    with caller.enter() as (conn, _):
        return Inbox(reviews=store.inbox(conn, limit=limit))


@router.get("/memories/{id}", responses=documented(401, 403, 404, 422, 429, 503))
def memory(caller: Reviewer, id: UUID) -> Memory:
    """A memory with its history."""
    with caller.enter() as (conn, _):
        found = store.view(conn, id)
        return Memory(memory=found, history=told.history(conn, id))


@router.post("/reviews/{memory}", responses=documented(401, 403, 404, 409, 413, 415, 422, 429, 503))
def decide(caller: Reviewer, memory: UUID, verdict: Verdict) -> Decided:
    """Decide about a memory. Repeating a decision is harmless; one that comes too late is 409."""
    with caller.enter() as (conn, _):
        return _decided(conn, memory, verdict)


def _decided(conn: Connection, memory: UUID, verdict: Verdict) -> Decided:
    comment = None if verdict.comment is None else storable(verdict.comment)
    match verdict.verdict:
        case "approve":
            if not verdict.beside:
                rules.refuse_near(conn, memory)
            placement = Placement(
                namespace=verdict.namespace, subject_type=verdict.subject_type, subject_id=verdict.subject_id
            )
            return Decided(done=store.approve(conn, memory, comment=comment, placement=placement))
        case "reject":
            return Decided(done=store.reject(conn, memory, comment=comment or ""))
        case "forget":
            return Decided(done=store.forget(conn, memory, comment=comment))
        case act:
            run = store.retype(conn, memory, act, storable(verdict.text or ""), comment=comment)
            return Decided(done="handed_in" if run else "already_handed_in", run=run)
