"""What the gateway works with: an address for each login, ports and limits. Made by the composition root."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from db.tokens import TokenRole
from pipeline.embedding.port import Embedder
from pipeline.intake import MAX_EVENT_BYTES


@dataclass(frozen=True, slots=True)
class Limits:
    """Times in seconds. `pool_size`: connections of each role."""

    pool_size: int = 8
    pool_wait_seconds: float = 1.0
    statement_seconds: float = 10.0
    body_bytes: int = MAX_EVENT_BYTES
    requests_a_minute: int = 600
    wait_seconds_max: float = 30.0
    durable_seconds: float = 5.0
    resend_seconds: float = 10.0


@dataclass(frozen=True)
class Context:
    """Addresses hold credentials. `embedder` returns None for the stated choice `none`, and raises where nothing was
    chosen."""

    databases: Mapping[TokenRole, str] = field(repr=False)
    emitter: str = field(repr=False)
    limiter: str = field(repr=False)
    embedder: Callable[[], Embedder | None]
    spool: Path
    limits: Limits = field(default_factory=Limits)
