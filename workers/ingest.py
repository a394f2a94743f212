"""stream -> received: batches read through a consumer group, inserted in one transaction, acknowledged after commit.

Failure handling: what does not parse is kept scrubbed in `rejected_events` with its reason. Entries of a consumer that
died are taken over once they are idle for a lease; one that was delivered three times is worked alone, at the sixth
delivery it is set aside unread. A flushed Redis costs a new group; senders send again what has no acknowledgement.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import structlog
from redis import Redis
from redis.exceptions import RedisError, ResponseError

from db.connect import DatabaseError
from workers.bell import stopping
from workers.context import Limits, resources
from workers.intake import Entry, ingest
from workers.keys import ACK_SECONDS, FIELD, GROUP, STREAM, ack_key

BLOCK_MS = 1_000
ALONE_FROM = 3

log = structlog.get_logger()


def run() -> None:
    """Ingest until asked to stop."""
    using = resources()
    reader = Reader(using.redis, using.context.limits)
    while not stopping.is_set():
        try:
            for batch in reader.batches():
                ingest(using, batch)
                reader.acknowledge(batch)
        except (RedisError, DatabaseError) as error:
            log.warning("ingest_waits", error=type(error).__name__)
            stopping.wait(0.5)


class Reader:
    """A consumer of the group."""

    def __init__(self, redis: Redis, limits: Limits) -> None:
        self._redis, self._limits = redis, limits
        self._name = f"{socket.gethostname()}-{os.getpid()}"
        self._takes_over_at = 0.0

    def batches(self) -> list[list[Entry]]:
        """Entries to ingest, in batches that stand or fall together; may be none."""
        try:
            return self._abandoned() or self._fresh()
        except ResponseError as error:
            if not str(error).startswith("NOGROUP"):
                raise
            with suppress(ResponseError):
                self._redis.xgroup_create(STREAM, GROUP, id="0", mkstream=True)
            return []

    def acknowledge(self, batch: Sequence[Entry]) -> None:
        """After commit: off the pending list, and a note the sender may ask for."""
        with self._redis.pipeline(transaction=False) as pipe:
            pipe.xack(STREAM, GROUP, *[entry.id for entry in batch if entry.id])
            for entry in batch:
                pipe.set(ack_key(entry.data), 1, ex=ACK_SECONDS)
            pipe.execute(raise_on_error=False)

    def _fresh(self) -> list[list[Entry]]:
        answer = self._redis.xreadgroup(GROUP, self._name, {STREAM: ">"}, count=self._limits.batch_size, block=BLOCK_MS)
        streams = answer.values() if isinstance(answer, dict) else [item[1] for item in answer or []]
        batch = [_entry(raw) for stream in streams for raw in _flat(stream)]
        return [batch] if batch else []

    def _abandoned(self) -> list[list[Entry]]:
        """What a consumer that died had read; looked for once every third of a lease."""
        if time.monotonic() < self._takes_over_at:
            return []
        self._takes_over_at = time.monotonic() + self._limits.lease_seconds / 3
        idle_ms = int(self._limits.lease_seconds * 1000)
        _, raw, *_ = self._redis.xautoclaim(
            STREAM, GROUP, self._name, min_idle_time=idle_ms, start_id="0-0", count=self._limits.batch_size
        )
        if not raw:
            return []
        entries = self._counted(raw)
        alone = [[entry] for entry in entries if entry.deliveries >= ALONE_FROM]
        together = [entry for entry in entries if entry.deliveries < ALONE_FROM]
        return ([together] if together else []) + alone

    def _counted(self, raw: Sequence[tuple[bytes, dict[bytes, bytes]]]) -> list[Entry]:
        pending = self._redis.xpending_range(STREAM, GROUP, raw[0][0], raw[-1][0], len(raw) * 2, self._name)
        times = {item["message_id"]: int(item["times_delivered"]) for item in pending}
        return [_entry(item, times.get(item[0], 1)) for item in raw]


def _flat(stream: Sequence[Any]) -> Sequence[Any]:
    """RESP3 nests a stream's entries once more than RESP2 does."""
    return stream[0] if len(stream) == 1 and isinstance(stream[0], list) else stream


def _entry(raw: tuple[bytes, dict[bytes, bytes] | None], deliveries: int = 1) -> Entry:
    id_, fields = raw
    return Entry(id_.decode(), (fields or {}).get(FIELD.encode(), b""), deliveries)
