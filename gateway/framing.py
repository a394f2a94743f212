"""What holds for every request before a route sees it: an id, a size, a type; and headers on every answer."""

from __future__ import annotations

import re
import time
from typing import Final

import structlog
from fastapi import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uuid_utils.compat import uuid7

from gateway.problems import answer
from workers import metrics

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
HEADERS: Final = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
}

log = structlog.get_logger()


class Framing:
    """ASGI middleware. No CORS header is ever sent: a browser on another site gets nothing."""

    def __init__(self, app: ASGIApp, *, body_bytes: int) -> None:
        self._app, self._body_bytes = app, body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        given = headers.get("x-request-id", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else str(uuid7())
        began, status = time.monotonic(), 500

        async def framed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                added = HEADERS | {"x-request-id": request_id}
                message["headers"] = [
                    *message.get("headers", []),
                    *((k.encode(), v.encode()) for k, v in added.items()),
                ]
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            await self._admit(scope, receive, framed, headers)
            self._note(scope, status, time.monotonic() - began)

    async def _admit(self, scope: Scope, receive: Receive, send: Send, headers: dict[str, str]) -> None:
        if refusal := self._refusal(scope["method"], headers):
            await answer(*refusal)(scope, receive, send)
            return
        await self._app(scope, self._counted(receive), send)

    def _refusal(self, method: str, headers: dict[str, str]) -> tuple[int, str] | None:
        length = headers.get("content-length", "0")
        if not length.isdigit():
            return 400, "content-length is not a number"
        if int(length) > self._body_bytes:
            return 413, self._too_large()
        has_body = int(length) > 0 or "transfer-encoding" in headers
        media = headers.get("content-type", "").partition(";")[0].strip().lower()
        if method == "POST" and has_body and media != "application/json":
            return 415, "the body must be application/json"
        return None

    def _counted(self, receive: Receive) -> Receive:
        """A body without a length is cut off where it is too large."""
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._body_bytes:
                raise HTTPException(413, self._too_large())
            return message

        return counted

    def _too_large(self) -> str:
        return f"the body may have {self._body_bytes:,} bytes"

    @staticmethod
    def _note(scope: Scope, status: int, seconds: float) -> None:
        """By the route's own pattern, never by the path, which holds ids."""
        route = getattr(scope.get("route"), "path", "none")
        metrics.REQUESTS.labels(route, str(status)).inc()
        metrics.REQUEST_SECONDS.labels(route).observe(seconds)
        log.info("request", method=scope["method"], route=route, status=status, ms=round(seconds * 1000, 1))
