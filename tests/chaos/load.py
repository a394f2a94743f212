"""What is sent: distinct events, some malformed, some twice, one deadly; and a sender that never gives up."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from redis import Redis
from redis.exceptions import RedisError

from tests.chaos.worker import DEADLY
from workers.keys import FIELD, STREAM, ack_key

BIG = "org-00"
_START = datetime(2026, 3, 1, tzinfo=UTC)
_THINGS = ("search index", "event bus", "layout engine", "cache layer", "test runner", "message codec", "scheduler")


@dataclass
class Load:
    """`valid` by session id, `malformed` and `deadly` as they are sent; `twice` are sent once more."""

    valid: dict[str, bytes] = field(default_factory=dict)
    malformed: list[bytes] = field(default_factory=list)
    deadly: bytes = b""
    twice: list[bytes] = field(default_factory=list)

    def all(self) -> list[bytes]:
        return [*self.valid.values(), *self.malformed, self.deadly]


def make(events: int, orgs: int, rng: random.Random) -> Load:
    """`events` distinct valid events, half of them of one org, 1 % malformed besides, 5 % sent twice, one deadly."""
    load = Load()
    for number in range(events - 1):
        org = BIG if number % 2 else f"org-{1 + number // 2 % (orgs - 1):02d}"
        load.valid[f"s-{number}"] = _event(org, f"s-{number}", _sentence(number), number)
    load.deadly = _event(BIG, "deadly", DEADLY, events)
    for number in range(max(1, events // 100)):
        whole = _event(BIG, f"bad-{number}", _sentence(number), number)
        load.malformed.append(rng.choice([whole[: len(whole) // 2], whole.replace(b'"agent"', b'"agnet"')]))
    load.twice = rng.sample(list(load.valid.values()), max(1, events // 20))
    return load


def _sentence(number: int) -> str:
    thing = _THINGS[number % len(_THINGS)]
    return f"We decided to use variant {number} of the {thing} because it passed trial {number * 7 + 1} last week."


def _event(org: str, session: str, text: str, number: int) -> bytes:
    at = (_START + timedelta(minutes=number)).isoformat()
    turn = {"role": "user", "text": text, "at": at, "trust": "user"}
    body = {"org": org, "session": session, "agent": "coder", "ended_at": at, "transcript": {"turns": [turn]}}
    return json.dumps(body).encode()


@dataclass
class Sender:
    """Keeps every event until its arrival is noted, and sends what is missing again."""

    redis: Redis
    waiting: list[bytes]
    resend_seconds: float = 4.0
    _last: float = 0.0

    def send(self, events: list[bytes]) -> None:
        with self.redis.pipeline(transaction=False) as pipe:
            for event in events:
                pipe.xadd(STREAM, {FIELD: event})
            pipe.execute()
        self._last = time.monotonic()

    def unacknowledged(self) -> list[bytes]:
        with self.redis.pipeline(transaction=False) as pipe:
            for event in self.waiting:
                pipe.get(ack_key(event))
            there = pipe.execute()
        self.waiting = [event for event, is_in in zip(self.waiting, there, strict=True) if not is_in]
        return self.waiting

    def keep_sending(self) -> Iterator[int]:
        """Yields how many are still missing, until none is."""
        while self.waiting:
            try:
                if self.unacknowledged() and time.monotonic() - self._last > self.resend_seconds:
                    self.send(self.waiting)
            except RedisError:
                self._last = 0.0
            yield len(self.waiting)
