"""What a worker process works with: addresses, limits and ports, handed over once before the first job.

The composition root installs a `Context`; connections are opened by `resources()` on first use, which is after the
pool has forked, so that no socket is shared between processes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from redis import Redis
from redis.backoff import ExponentialBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.retry import Retry

from db.connect import Pool, open_pool
from db.subjects import check_key
from pipeline.dropping import Dropping
from pipeline.embedding.port import Embedder
from pipeline.errors import SettingError
from pipeline.extraction.port import Extractor
from pipeline.intake import Fetch, fetch_nothing
from pipeline.passes.advice import Adviser
from pipeline.redaction.span import Detector

if TYPE_CHECKING:
    from workers.watch import Watch


@dataclass(frozen=True, slots=True)
class Limits:
    """Times in seconds unless named otherwise."""

    lease_seconds: float = 60
    attempts_max: int = 5
    backoff_first_seconds: float = 5
    backoff_cap_seconds: float = 900
    batch_size: int = 64
    drain_seconds: float = 60
    transcript_days: int = 30
    rejected_days: int = 14
    canary_seconds: float = 60
    detector_seconds: float = 30
    inspection_seconds: float = 120


@dataclass(frozen=True)
class Context:
    """Ports are given as functions, called in the process that uses them: a model is loaded where it works.

    `embedder` returns None for the stated choice `none`; where nothing was chosen it raises EmbedderUnset.
    """

    database: str
    redis: str
    extractor: Callable[[], Extractor]
    embedder: Callable[[], Embedder | None]
    detectors: tuple[Detector, ...]
    installation_key: bytes = field(repr=False)
    limits: Limits = field(default_factory=Limits)
    dropping: Dropping = field(default_factory=Dropping)
    witness: str | None = None
    fetch: Fetch = fetch_nothing
    adviser: Callable[[], Adviser | None] = lambda: None


@dataclass(frozen=True)
class Resources:
    """A process's own connections and loaded ports."""

    context: Context
    pid: int

    @cached_property
    def pool(self) -> Pool:
        return open_pool(self.context.database, size=3, name="afterword-worker")

    @cached_property
    def redis(self) -> Redis:
        return connect_redis(self.context.redis)

    @cached_property
    def installation_key(self) -> bytes:
        """Raises SettingError where the database was filled under another key."""
        with self.pool.connection() as conn:
            check_key(conn, self.context.installation_key)
        return self.context.installation_key

    @cached_property
    def extractor(self) -> Extractor:
        return self.context.extractor()

    @cached_property
    def watch(self) -> Watch:
        from workers.watch import Watch  # here, since it brings the metrics: see ops/commands/worker.py

        limits = self.context.limits
        return Watch(
            self.context.detectors, every_seconds=limits.canary_seconds, answer_seconds=limits.detector_seconds
        )

    @cached_property
    def adviser(self) -> Adviser | None:
        """None where no model was chosen: what needs one abstains."""
        return self.context.adviser()

    @cached_property
    def embedder(self) -> Embedder | None:
        return self.context.embedder()


_context: Context | None = None
_resources: Resources | None = None


def connect_redis(url: str) -> Redis:
    """A client that outlives a restart of the server by a few seconds."""
    return Redis.from_url(
        url,
        retry=Retry(ExponentialBackoff(cap=1, base=0.05), retries=8),
        retry_on_error=[RedisConnectionError],
        socket_connect_timeout=5,
        health_check_interval=30,
    )


def install(context: Context) -> None:
    """Once a process, before the first job. Installing again replaces what later forks see."""
    global _context, _resources
    _context, _resources = context, None


def resources() -> Resources:
    """This process's connections and ports; made anew after a fork. Raises SettingError before `install`."""
    global _resources
    if _context is None:
        raise SettingError("no context is installed; start workers with: afterword worker STAGE")
    if _resources is None or _resources.pid != os.getpid():
        _resources = Resources(_context, os.getpid())
    return _resources
