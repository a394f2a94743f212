"""Events onto the stream, answered once they are on disk. Many requests share one wait: a group commit.

    put() --> queue --> [ XADD, XADD, ..., WAITAOF ] on one connection --> each put() hears of it

With `appendfsync everysec` one wait takes up to a second, however many share it.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field

import structlog
from redis import Redis
from redis.exceptions import RedisError

from workers.keys import FIELD, STREAM

SENDERS = 2
EVENTS_MAX = 256

log = structlog.get_logger()


class NotDurable(RedisError):
    """Redis took the event and did not say in time that it is on disk."""


@dataclass(frozen=True)
class _Parcel:
    events: Sequence[bytes]
    done: Future[None] = field(default_factory=Future)


class Outbox:
    """Two connections, so that while one waits for the disk the other gathers. Needs Redis 7.2 or Valkey."""

    def __init__(self, url: str, durable_seconds: float) -> None:
        self._wait_ms = int(durable_seconds * 1000)
        self.redis = Redis.from_url(url, socket_timeout=durable_seconds + 2, socket_connect_timeout=2)
        self._waiting: queue.SimpleQueue[_Parcel | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        self._threads = [threading.Thread(target=self._send, name=f"outbox-{n}", daemon=True) for n in range(SENDERS)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """What was put is sent first."""
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join()
        self.redis.close()

    def put(self, events: Sequence[bytes]) -> Future[None]:
        """Done when all of them are on disk. Its error is a RedisError; then some may be on the stream, and sending
        them again is harmless."""
        parcel = _Parcel(events)
        self._waiting.put(parcel)
        return parcel.done

    def _send(self) -> None:
        while (first := self._waiting.get()) is not None:
            parcels, ended = self._gathered(first)
            try:
                self._write([event for parcel in parcels for event in parcel.events])
            except Exception as error:  # whatever it is, who waits must hear of it
                log.warning("not_sent", error=type(error).__name__, events=sum(len(p.events) for p in parcels))
                for parcel in parcels:
                    parcel.done.set_exception(error if isinstance(error, RedisError) else NotDurable())
            else:
                for parcel in parcels:
                    parcel.done.set_result(None)
            if ended:
                return

    def _gathered(self, first: _Parcel) -> tuple[list[_Parcel], bool]:
        """All that waits by now, and whether the end was among it."""
        parcels = [first]
        with suppress(queue.Empty):
            while sum(len(parcel.events) for parcel in parcels) < EVENTS_MAX:
                parcel = self._waiting.get_nowait()
                if parcel is None:
                    return parcels, True
                parcels.append(parcel)
        return parcels, False

    def _write(self, events: Sequence[bytes]) -> None:
        with self.redis.pipeline(transaction=False) as pipe:
            for event in events:
                pipe.xadd(STREAM, {FIELD: event})
            pipe.execute_command("WAITAOF", 1, 0, self._wait_ms)  # type: ignore[no-untyped-call]
            *_, on_disk = pipe.execute()
        if int(on_disk[0]) < 1:
            raise NotDurable("the append-only file was not written in time")
