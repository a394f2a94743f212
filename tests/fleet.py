"""The fleet in one process, for tests: real Postgres and Valkey, stages run by hand or until nothing is due."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
from redis import Redis

from db.connect import Connection
from ops.embedded.valkey import EmbeddedValkey
from pipeline.dropping import Dropping
from pipeline.embedding.port import Embedder, Stamp, Vectors
from pipeline.extraction.adapters.offline import OfflineExtractor
from pipeline.extraction.port import Extractor
from pipeline.intake import Fetch, fetch_nothing
from pipeline.passes.advice import Adviser
from pipeline.redaction.detectors import ALL
from pipeline.redaction.span import Detector
from pipeline.session import Role, Transcript, Trust, Turn, normalised
from tests.services import STAMP, Database
from workers import context, intake
from workers.context import Context, Limits, Resources
from workers.fleet import STAGES
from workers.intake import Entry, Rejected
from workers.stage import work_through

KEY = b"the tests' installation key"


class WordVectors:
    """An embedder whose vectors count letters: texts with the same words lie together. Deterministic."""

    stamp: Stamp = STAMP

    def passages(self, texts: Sequence[str]) -> Vectors:
        return np.array([self._vector(text) for text in texts], dtype=np.float32).reshape(len(texts), STAMP.dimension)

    def query(self, text: str) -> Vectors:
        return self._vector(text)

    def _vector(self, text: str) -> Vectors:
        vector = np.full(STAMP.dimension, 0.01, dtype=np.float32)
        for word in normalised(text).split():
            vector[sum(word.encode()) % STAMP.dimension] += 1
        return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


@dataclass
class Fleet:
    """One installed context over a test's own database and Redis."""

    database: Database
    valkey: EmbeddedValkey
    _opened: list[Resources] = field(default_factory=list)

    def install(
        self,
        *,
        extractor: Extractor | None = None,
        embedder: Callable[[], Embedder | None] = WordVectors,
        detectors: tuple[Detector, ...] = ALL,
        dropping: Dropping = Dropping(),  # noqa: B008
        witness: str | None = None,
        fetch: Fetch = fetch_nothing,
        adviser: Adviser | None = None,
        **limits: Any,
    ) -> None:
        self.close()
        context.install(
            Context(
                database=self.database.address("worker"),
                redis=self.valkey.url("worker"),
                extractor=lambda: extractor or OfflineExtractor(),
                embedder=embedder,
                detectors=detectors,
                installation_key=KEY,
                dropping=dropping,
                witness=witness,
                fetch=fetch,
                adviser=lambda: adviser,
                limits=Limits(**{"backoff_first_seconds": 0.01, "backoff_cap_seconds": 0.01, **limits}),
            )
        )

    def close(self) -> None:
        """Close what was opened under the installed context, so that the database can be dropped."""
        if self._opened:
            self._opened[0].pool.close()
            self._opened[0].redis.close()
            self._opened.clear()

    @property
    def using(self) -> Resources:
        """What the workers of this process work with."""
        if not self._opened:
            self._opened.append(context.resources())
        return self._opened[0]

    def ingest(self, *events: dict[str, Any] | bytes) -> list[Rejected]:
        data = [item if isinstance(item, bytes) else json.dumps(item).encode() for item in events]
        return intake.ingest(self.using, [Entry(None, item) for item in data])

    def flush(self) -> None:
        """Lose everything that is in Redis."""
        with Redis.from_url(self.valkey.url("admin")) as admin:
            admin.flushall()

    def run(self, *stages: str) -> None:
        """Work through these stages, or all, once in order."""
        assert self.using is context.resources()
        for name in stages or STAGES:
            work_through(STAGES[name])

    def rows(self, sql: str, *params: Any) -> list[dict[str, Any]]:
        """What stands in the database, whatever the row's org."""
        with self.database.as_role("worker") as conn:
            return _rows(conn, sql, params)


def _rows(conn: Connection, sql: str, params: Sequence[Any]) -> list[dict[str, Any]]:
    return conn.execute(sql, params or None).fetchall()  # type: ignore[call-overload,no-any-return]


def event(*said: str, org: str = "acme", session: str = "s1", **more: Any) -> dict[str, Any]:
    """A session in which the user says these sentences, a minute apart."""
    at = datetime(2026, 5, 4, 10, 0, tzinfo=UTC)
    turns = tuple(
        Turn(role=Role.USER, text=text, at=at.replace(minute=number), trust=Trust.USER)
        for number, text in enumerate(said)
    )
    base = {"org": org, "session": session, "agent": "coder", "user": "u1", "ended_at": at.isoformat()}
    return {**base, "transcript": Transcript(turns=turns).model_dump(mode="json"), **more}
