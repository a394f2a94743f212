"""The application: one a process, its routers by area."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool
from fastapi.openapi.utils import get_openapi

from gateway import problems
from gateway.context import Context
from gateway.framing import Framing
from gateway.gate import Gate
from gateway.routes import health, recall, reviews, runs, sessions

VERSION = "1"
ROUTERS = (health.router, sessions.router, runs.router, recall.router, reviews.router)


def make_app(context: Context) -> FastAPI:
    """The HTTP door over `context`; what it holds open lives as long as the application runs."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        gate = app.state.gate = Gate(context)
        gate.open()
        try:
            yield
        finally:
            await run_in_threadpool(gate.close)

    app = FastAPI(
        title="Afterword", version=VERSION, lifespan=lifespan, docs_url=None, redoc_url=None,
        openapi_url="/v1/openapi.json",
        description="Governed agent memory: sessions in, recall out, decisions by people.",
    )  # fmt: skip
    for router in ROUTERS:
        app.include_router(router)
    app.add_middleware(Framing, body_bytes=context.limits.body_bytes)
    problems.install(app)
    app.openapi = lambda: _documented(app)  # type: ignore[method-assign]
    return app


def _documented(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        made = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        schemas = made["components"]["schemas"]
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        schemas["Problem"] = problems.SCHEMA
        app.openapi_schema = made
    return app.openapi_schema
