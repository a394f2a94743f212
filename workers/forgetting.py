"""What Redis holds of somebody: events not yet taken in, and whatever else stands under our keys or RQ's.

Bells carry nothing, so that a key of RQ's with a name in it is not ours, and goes. What is packed is opened, never
loaded: a pickle is searched as the bytes it is.
"""

from __future__ import annotations

import base64
import json
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from redis import Redis
from redis.exceptions import ResponseError

from pipeline.subjects import Sought, event_names, texts_in_json
from pipeline.transcripts import inflate
from workers.keys import EVERY_KEY, FIELD, GROUP, STREAM

PAGE = 200
REWRITE_SECONDS = 120.0


@dataclass(frozen=True)
class InRedis:
    """Stream entries by id, and other keys, that name somebody."""

    stream: list[bytes] = field(default_factory=list)
    keys: list[bytes] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        return {name: len(found) for name, found in (("stream", self.stream), ("redis_keys", self.keys)) if found}


def find(redis: Redis, org: str, who: Sought) -> InRedis:
    """Entries of `org`, or of what is no event, and keys of any org."""
    stream = [id_ for id_, data in _entries(redis) if _names(data, org, who)]
    return InRedis(stream, [key for key in _keys(redis) if who.stands_in(_texts(redis, key))] if who.needles else [])


def forget(redis: Redis, found: InRedis) -> dict[str, int]:
    """Delete them; returns how many were there to delete."""
    gone = {"stream": 0, "redis_keys": 0}
    if found.stream:
        with suppress(ResponseError):  # no group yet
            redis.xack(STREAM, GROUP, *found.stream)
        gone["stream"] = int(redis.xdel(STREAM, *found.stream))
    if found.keys:
        gone["redis_keys"] = int(redis.delete(*found.keys))
    return {name: count for name, count in gone.items() if count}


def rewrite(redis: Redis) -> bool:
    """Write the append-only file anew without what was deleted; False where there is none, or it took too long."""
    if not int(redis.info("persistence").get("aof_enabled", 0)):
        return False
    with suppress(ResponseError):  # one is being written: it may have begun before, so another follows
        redis.bgrewriteaof()
    ends = time.monotonic() + REWRITE_SECONDS
    while time.monotonic() < ends:
        state = redis.info("persistence")
        if not (int(state["aof_rewrite_in_progress"]) or int(state.get("aof_rewrite_scheduled", 0))):
            return str(state.get("aof_last_bgrewrite_status", "ok")) == "ok"
        time.sleep(0.05)
    return False


def _entries(redis: Any) -> Iterator[tuple[bytes, bytes]]:
    after = "-"
    while page := redis.xrange(STREAM, min=after, count=PAGE):
        yield from ((id_, (fields or {}).get(FIELD.encode(), b"")) for id_, fields in page)
        after = f"({page[-1][0].decode()}"


def _names(data: bytes, org: str, who: Sought) -> bool:
    event = _event(data)
    if event.get("org", org) != org:
        return False
    return who.is_named(*event_names(event)) or who.stands_in(_event_texts(data, event))


def _event(data: bytes) -> dict[str, Any]:
    try:
        event = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return event if isinstance(event, dict) else {}


def _event_texts(data: bytes, event: dict[str, Any]) -> Iterator[str]:
    yield from texts_in_json(data)
    with suppress(ValueError, TypeError):
        yield from texts_in_json(inflate(base64.b64decode(event.get("transcript_zstd") or "", validate=True)))


def _keys(redis: Redis) -> Iterator[bytes]:
    for pattern in EVERY_KEY:
        yield from (key for key in redis.scan_iter(match=pattern, count=1_000) if key != STREAM.encode())


def _texts(redis: Redis, key: bytes) -> Iterator[str]:
    yield key.decode("utf-8", "replace")
    for value in _values(redis, key):
        yield value.decode("utf-8", "replace")
        with suppress(zlib.error):
            yield zlib.decompress(value).decode("utf-8", "replace")


def _values(redis: Any, key: bytes) -> list[bytes]:
    match redis.type(key):
        case b"string":
            return [redis.get(key) or b""]
        case b"hash":
            return [part for pair in redis.hgetall(key).items() for part in pair]
        case b"list":
            return list(redis.lrange(key, 0, -1))
        case b"set":
            return list(redis.smembers(key))
        case b"zset":
            return list(redis.zrange(key, 0, -1))
        case b"stream":
            return [part for _, fields in redis.xrange(key) for pair in fields.items() for part in pair]
    return []
