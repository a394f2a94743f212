"""Refusals as problem+json (RFC 9457): a status, a sentence, and what to do about it; never what was sent."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import structlog
from fastapi import FastAPI, Request
from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from redis.exceptions import RedisError
from starlette.exceptions import HTTPException

from db.connect import DatabaseDown, DatabaseError
from db.doors import NoGrant
from db.recall import QuestionRefused
from db.reviews import NoSuchMemory, VerdictRefused
from pipeline.errors import AfterwordError

MEDIA_TYPE: Final = "application/problem+json"
RETRY_SECONDS: Final = 1

log = structlog.get_logger()


class Problem(AfterwordError):
    """A refusal with its status."""

    def __init__(self, status: int, detail: str, *, headers: Mapping[str, str] | None = None, **more: Any) -> None:
        super().__init__(detail)
        self.status, self.headers, self.more = status, dict(headers or {}), more


def answer(status: int, detail: str, headers: Mapping[str, str] | None = None, **more: Any) -> JSONResponse:
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail, **more}
    return JSONResponse(jsonable_encoder(body), status, dict(headers or {}), MEDIA_TYPE)


def unavailable(what: str) -> JSONResponse:
    return answer(503, f"{what}; nothing was done: try again", {"Retry-After": str(RETRY_SECONDS)})


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """These refusals for a route's documentation."""
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        status: {"description": HTTPStatus(status).phrase, "content": {MEDIA_TYPE: {"schema": schema}}}
        for status in statuses
    }


SCHEMA: Final = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"}, "title": {"type": "string"}, "status": {"type": "integer"},
        "detail": {"type": "string"},
        "errors": {"type": "array", "items": {"type": "object", "properties": {
            "at": {"type": "string"}, "what": {"type": "string"}}}},
    },
}  # fmt: skip


def install(app: FastAPI) -> None:
    """Every way a request is refused, in one table."""

    def handle(kind: type[Exception], make: Any) -> None:
        app.add_exception_handler(kind, lambda _request, error: make(error))

    handle(Problem, lambda e: answer(e.status, str(e), e.headers, **e.more))
    handle(HTTPException, lambda e: answer(e.status_code, str(e.detail), e.headers))
    handle(RequestValidationError, lambda e: answer(422, "the request is not what this route takes", errors=_faults(e)))
    handle(NoGrant, lambda _: unauthorized())
    handle(NoSuchMemory, lambda e: answer(404, str(e)))
    handle(VerdictRefused, lambda e: answer(409, str(e)))
    handle(QuestionRefused, lambda e: answer(422, str(e)))
    handle(RedisError, lambda e: _down("Redis does not answer", e))
    handle(DatabaseDown, lambda e: _down("the database has no connection free or does not answer", e))
    handle(DatabaseError, lambda e: _refused_by_database(e))
    handle(AfterwordError, lambda e: answer(409, str(e)))
    app.add_exception_handler(Exception, _unforeseen)


def unauthorized() -> JSONResponse:
    """The same for a token that is unknown, expired, revoked, or none at all."""
    return answer(401, "a living token is needed", {"WWW-Authenticate": "Bearer"})


def _faults(error: RequestValidationError) -> list[dict[str, str]]:
    """Where and what, by field; never the value."""
    return [{"at": ".".join(map(str, one["loc"])), "what": str(one["msg"])} for one in error.errors()][:20]


def _down(what: str, error: Exception) -> JSONResponse:
    log.warning("door_unavailable", what=what, error=type(error).__name__)
    return unavailable(what)


def _refused_by_database(error: DatabaseError) -> JSONResponse:
    """Text that Postgres cannot hold, a number out of its range: the caller's to mend. Anything else is ours."""
    if (error.sqlstate or "").startswith("22"):
        return answer(422, "the database cannot hold a value of this request")
    log.error("database_refused", sqlstate=error.sqlstate)
    return answer(500, "this should not have happened; the log knows more under the request's id")


async def _unforeseen(_request: Request, error: Exception) -> JSONResponse:
    log.error("unforeseen", exc_info=error)
    return answer(500, "this should not have happened; the log knows more under the request's id")
