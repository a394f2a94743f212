"""stream -> received: batches read through a consumer group, inserted in one transaction, acknowledged after commit.

Failure handling: what does not parse is kept scrubbed in `rejected_events` with its reason. Entries of a consumer that
died are taken over once they are idle for a lease; from the third delivery on one is taken alone, at the sixth it is
set aside unread. While Postgres is away nothing is read, so that no delivery is counted against an entry. A flushed
Redis costs a new group; senders send again what has no acknowledgement.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import structlog
from redis import Redis
from redis.exceptions import RedisError, ResponseError

from db.connect import DatabaseError
from pipeline.intake import Fetch
from workers.bell import stopping
from workers.context import Limits, resources
from workers.intake import Entry, ingest, is_set_aside
from workers.keys import ACK_SECONDS, FIELD, GROUP, STREAM, TAKEN_IN, ack_key, entry_ack_key

BLOCK_MS = 1_000
ALONE_FROM = 3

log = structlog.get_logger()


def run() -> None:
    """Ingest until asked to stop."""
    using = resources()
    reader = Reader(using.redis, using.context.limits)
    while not stopping.is_set():
        try:
            with using.pool.connection():
                batch = reader.batch()
            if batch:
                rejected = ingest(using, batch, _holding(reader, batch, using.context.fetch))
                reader.acknowledge(batch, {item.entry.data: item.reason for item in rejected})
        except (RedisError, DatabaseError) as error:
            log.warning("ingest_waits", error=type(error).__name__)
            stopping.wait(0.5)


def _holding(reader: Reader, batch: Sequence[Entry], fetch: Fetch) -> Fetch:
    """Before each address is asked, the batch is made to look alive: many slow ones outlast a lease."""

    def held(url: str) -> bytes:
        reader.hold(batch)
        return fetch(url)

    return held


class Reader:
    """A consumer of the group."""

    def __init__(self, redis: Redis, limits: Limits) -> None:
        self._redis, self._limits = redis, limits
        self._name = f"{socket.gethostname()}-{os.getpid()}"
        self._takes_over_at = 0.0

    def batch(self) -> list[Entry]:
        """Entries to ingest, which stand or fall together; may be none."""
        try:
            return self._abandoned() or self._fresh()
        except ResponseError as error:
            if not str(error).startswith("NOGROUP"):
                raise
            with suppress(ResponseError):
                self._redis.xgroup_create(STREAM, GROUP, id="0", mkstream=True)
            return []

    def hold(self, batch: Sequence[Entry]) -> None:
        """Its entries are not idle, and no delivery is counted for saying so."""
        ids: list[Any] = [entry.id for entry in batch if entry.id]
        if ids:
            self._redis.xclaim(STREAM, GROUP, self._name, min_idle_time=0, message_ids=ids, idle=0, justid=True)

    def acknowledge(self, batch: Sequence[Entry], rejected: Mapping[bytes, str]) -> None:
        """After commit: out of the stream, and a note for the sender; `rejected` has reasons by event.

        What was set aside stays in the stream.
        """
        with self._redis.pipeline(transaction=True) as pipe:
            pipe.xack(STREAM, GROUP, *[entry.id for entry in batch if entry.id])
            if done := [entry.id for entry in batch if entry.id and not is_set_aside(entry)]:
                pipe.xdel(STREAM, *done)
            for entry in batch:
                reason = rejected.get(entry.data)
                pipe.set(ack_key(entry.data), reason or TAKEN_IN, ex=ACK_SECONDS)
                if reason and entry.id:
                    pipe.set(entry_ack_key(entry.id), reason, ex=ACK_SECONDS)
            pipe.execute(raise_on_error=False)

    def _fresh(self) -> list[Entry]:
        answer = self._redis.xreadgroup(GROUP, self._name, {STREAM: ">"}, count=self._limits.batch_size, block=BLOCK_MS)
        streams = answer.values() if isinstance(answer, dict) else [item[1] for item in answer or []]
        return [_entry(raw) for stream in streams for raw in _flat(stream)]

    def _abandoned(self) -> list[Entry]:
        """What a consumer that died had read; looked for once every third of a lease, until there is none."""
        if time.monotonic() < self._takes_over_at:
            return []
        idle_ms = int(self._limits.lease_seconds * 1000)
        pending = self._redis.xpending_range(STREAM, GROUP, "-", "+", self._limits.batch_size, idle=idle_ms)
        times: dict[Any, int] = {item["message_id"]: int(item["times_delivered"]) + 1 for item in pending}
        together = [id_ for id_, deliveries in times.items() if deliveries < ALONE_FROM]
        # One a look: a claim counts as a delivery, and what is not worked must not be counted.
        chosen = together or list(times)[:1]
        if not chosen:
            self._takes_over_at = time.monotonic() + self._limits.lease_seconds / 3
            return []
        claimed: Any = self._redis.xclaim(STREAM, GROUP, self._name, min_idle_time=idle_ms, message_ids=chosen)
        return [_entry(raw, times[raw[0]]) for raw in claimed]


def _flat(stream: Sequence[Any]) -> Sequence[Any]:
    """RESP3 nests a stream's entries once more than RESP2 does."""
    return stream[0] if len(stream) == 1 and isinstance(stream[0], list) else stream


def _entry(raw: tuple[bytes, dict[bytes, bytes] | None], deliveries: int = 1) -> Entry:
    id_, fields = raw
    return Entry(id_.decode(), (fields or {}).get(FIELD.encode(), b""), deliveries)
