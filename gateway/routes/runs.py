"""What became of what came in."""

from __future__ import annotations

import asyncio
import time
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel

from db import told
from gateway.caller import Admits, Caller
from gateway.problems import Problem, documented

router = APIRouter(prefix="/v1", tags=["what comes in"])

_PAUSE_SECONDS = (0.05, 0.5)


class Run(BaseModel):
    """A run. `recallable`: what it yielded can be recalled, as far as no person has to look first.
    `memories`: how many, by status."""

    id: UUID
    kind: str
    session: str
    state: Literal["received", "extracted", "redacted", "embedded", "consolidated", "skipped", "dead_letter"]
    state_at: datetime
    recallable: bool
    ended: bool
    error_code: str | None
    skip_reason: str | None
    memories: dict[str, int]


@router.get("/runs/{id}", responses=documented(401, 403, 404, 422, 429, 503))
async def run(
    caller: Annotated[Caller, Depends(Admits("agent", "reviewer", "operator"))],
    id: Annotated[str, Path(pattern=r"^[A-Za-z0-9._:-]{1,200}$", description="as POST /v1/sessions answered")],
    wait: Annotated[float, Query(ge=0, le=30, description="seconds to wait until it is recallable or has ended")] = 0,
) -> Run:
    """A run of the token's org; for a token that is bound to an agent, project or user, one of theirs."""
    deadline = time.monotonic() + wait
    pause = _PAUSE_SECONDS[0]
    while True:
        found = await run_in_threadpool(_look, caller, id)
        if (found and (found.recallable or found.ended)) or time.monotonic() + pause > deadline:
            break
        await asyncio.sleep(pause)
        pause = min(pause * 2, _PAUSE_SECONDS[1])
    if found is None:
        raise Problem(404, "no such run for this token, or not yet")
    return found


def _look(caller: Caller, id: str) -> Run | None:
    with caller.enter() as (conn, _):
        row = told.run(conn, id)
    return None if row is None else Run(**row)
