"""Sessions and proposals in: checked and scrubbed here, on disk in the stream before the answer."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Body, Depends
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, Field

from gateway.arriving import Proposal, Session, Taken, prepared
from gateway.caller import Admits, Caller
from gateway.problems import documented

router = APIRouter(prefix="/v1", tags=["what comes in"])

Agent = Annotated[Caller, Depends(Admits("agent"))]
AT_ONCE = 100


class Accepted(BaseModel):
    """What was taken, in the order it was sent. Each id stays valid: the same session sent again has the same one."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"runs": [{"id": "e-2026-0114", "session": "s-1"}]}]})

    runs: list[Taken]


@router.post("/sessions", status_code=202, responses=documented(401, 403, 413, 415, 422, 429, 503))
async def sessions(
    caller: Agent, body: Annotated[Session | Annotated[list[Session], Field(min_length=1, max_length=AT_ONCE)], Body()]
) -> Accepted:
    """Hand in one ended session, or up to 100. Answered once they are on disk; ask for the run by its id."""
    return await _take(caller, body if isinstance(body, list) else [body])


@router.post("/proposals", status_code=202, responses=documented(401, 403, 413, 415, 422, 429, 503))
async def proposals(caller: Agent, body: Proposal) -> Accepted:
    """Propose a memory. It goes the way of a session: detection, the gate, and a person where anything speaks against
    it. Nothing is remembered by this call."""
    return await _take(caller, [body.as_session(datetime.now(UTC))], kind="proposal")


async def _take(caller: Caller, given: list[Session], kind: str = "session") -> Accepted:
    """A thread is used to check and to write; none waits for the disk of Redis."""
    events = await run_in_threadpool(_kept, caller, given, kind)
    await asyncio.wrap_future(caller.gate.outbox.put([event for event, _ in events]))
    return Accepted(runs=[taken for _, taken in events])


def _kept(caller: Caller, given: list[Session], kind: str) -> list[tuple[bytes, Taken]]:
    with caller.enter() as (_, grant):
        pass
    events = [prepared(one, grant, kind) for one in given]
    caller.gate.spool.keep([event for event, _ in events])
    return events
