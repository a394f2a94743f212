"""Whether the process lives, and whether it can do its work."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from redis.exceptions import RedisError

from db.connect import DatabaseError
from db.tokens import ROLES
from gateway.gate import Gate
from gateway.problems import documented

router = APIRouter(tags=["health"])


@router.get("/healthz")
def healthz() -> dict[str, str]:
    """The process answers. Nothing else is asked."""
    return {"status": "up"}


@router.get("/readyz", responses=documented(503))
def readyz(request: Request) -> Any:
    """The database answers each login, and Redis the sender; how many events wait to be runs."""
    gate: Gate = request.app.state.gate
    down = [f"database as {role}" for role in ROLES if not _database_answers(gate, role)]
    if not _redis_answers(gate):
        down.append("redis")
    said = {"status": "down" if down else "ready", "down": down, "spooled": gate.spool.waiting()}
    return JSONResponse(said, 503 if down else 200, {"Retry-After": "5"} if down else None)


def _database_answers(gate: Gate, role: Any) -> bool:
    try:
        with gate.doors.bare(role):
            return True
    except DatabaseError:
        return False


def _redis_answers(gate: Gate) -> bool:
    try:
        return bool(gate.outbox.redis.ping())
    except RedisError:
        return False
