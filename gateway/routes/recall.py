"""Recall: what an agent may be told, with the reason for every line. Each answer is on record."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Depends
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, field_validator

from db import digest as digests
from db import recall as store
from db.recall import Narrowing, Question
from db.tokens import VALIDATOR, Grant
from gateway.caller import Admits, Caller
from gateway.problems import documented
from pipeline.recall.block import render
from pipeline.session import storable

router = APIRouter(prefix="/v1", tags=["what is remembered"])

Agent = Annotated[Caller, Depends(Admits("agent"))]
REFUSALS = documented(401, 403, 413, 415, 422, 429, 503)
DIGEST_CHARACTERS = 24_000


class Ask(BaseModel):
    """A question, and what it is narrowed to."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"query": "which database did we choose?", "limit": 5}]}
    )

    query: Annotated[str, Field(max_length=10_000)]
    limit: Annotated[int, Field(ge=1, le=50)] = 5
    as_of: AwareDatetime | None = None
    kinds: list[Literal["fact", "preference", "rule", "turn"]] | None = Field(None, max_length=4)

    @field_validator("query")
    @classmethod
    def _storable(cls, value: str) -> str:
        return storable(value)


class AskBlock(Ask):
    """A question to be answered as a block for a prompt."""

    tokens: Annotated[int, Field(ge=100, le=100_000, description="the budget of the whole block")] = 2_000


class Answer(BaseModel):
    """Hits, best first, with their scores; `access`: the tiers this token may read."""

    recall_id: UUID
    mode: str
    hits: list[dict[str, Any]]
    excluded: dict[str, int]
    lexical_because: str | None
    access: list[str]
    nothing_because: str | None


class BlockAnswer(BaseModel):
    """The block as it goes into a prompt: information, never instruction. Its hash is on record."""

    recall_id: UUID
    mode: str
    text: str
    included: list[UUID]
    left_out: int
    sha256: str
    nothing_because: str | None


class DigestAnswer(BaseModel):
    recall_id: UUID
    text: str
    omitted: list[UUID]
    sha256: str


@router.post("/recall", responses=REFUSALS)
def recall(caller: Agent, ask: Ask) -> Answer:
    """Memories for a question, with the scores and the reason why each may be told."""
    question, why_not = _question(caller, ask)
    with caller.enter() as (conn, grant):
        found = store.recall(conn, question)
    return Answer(
        recall_id=found.recall_id, mode=found.mode, hits=[asdict(hit) for hit in found.hits],
        excluded=dict(found.excluded), lexical_because=why_not, access=grant.tiers, nothing_because=_nothing(grant),
    )  # fmt: skip


@router.post("/recall/block", responses=REFUSALS)
def block(caller: Agent, ask: AskBlock) -> BlockAnswer:
    """The same as a fenced block within a budget of tokens, ready for a prompt."""
    question, _ = _question(caller, ask)
    with caller.enter() as (conn, grant):
        found = store.recall(conn, question)
        made = render(found, ask.tokens, memories_max=ask.limit)
        store.rendered(conn, found.recall_id, made.sha256, made.included)
    return BlockAnswer(
        recall_id=found.recall_id, mode=found.mode, text=made.text, included=list(made.included),
        left_out=made.left_out, sha256=made.sha256.hex(), nothing_because=_nothing(grant),
    )  # fmt: skip


@router.post("/digest", responses=REFUSALS)
def digest(caller: Agent) -> DigestAnswer:
    """What every session of this agent starts from: rules that people approved, and the user's preferences."""
    with caller.enter() as (conn, _):
        made = digests.digest(conn, characters_max=DIGEST_CHARACTERS)
    return DigestAnswer(
        recall_id=made.recall_id, text=made.digest.text, omitted=list(made.digest.omitted),
        sha256=made.digest.sha256.hex(),
    )  # fmt: skip


def _question(caller: Caller, ask: Ask) -> tuple[Question, str | None]:
    """The vector is made before a connection is taken."""
    vector, stamp, why_not = caller.gate.vector(ask.query)
    narrowed = Narrowing(kinds=tuple(ask.kinds) if ask.kinds else None)
    return Question(ask.query, vector, stamp, ask.limit, ask.as_of, narrowed), why_not


def _nothing(grant: Grant) -> str | None:
    """Why this token is told nothing, where that is so."""
    if grant.agent_role == VALIDATOR:
        return "a validator judges what other agents did, and must not judge by what they left it"
    return None if grant.tiers else "the token gives access to no tier"
