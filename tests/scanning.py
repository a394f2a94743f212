"""Every decoded value that is kept anywhere: tables, statistics, Redis, logs. A plain search is blind to packed ones.

    find(values, places) -> {place: the values that stand there}

A value is looked for as it is, case apart, in texts, in JSON keys and values, in bytes as they are and with zstd, zlib
and base64 undone, however deep.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import psycopg
import zstandard
from psycopg import sql
from redis import Redis

from tests.services import Database

Place = tuple[str, str]
"""Where a text was found: (`memories.content`, the text)."""
_MAX_BYTES = 64 << 20
_PACKED_MIN = 24


def find(values: Iterable[str], places: Iterable[Place]) -> dict[str, set[str]]:
    """Which of `values` stand where; empty when none stands anywhere."""
    wanted = {value: value.casefold() for value in values}
    found: dict[str, set[str]] = {}
    for place, text in places:
        folded = text.casefold()
        hits = {value for value, needle in wanted.items() if needle in folded}
        if hits:
            found.setdefault(place, set()).update(hits)
    return found


def decoded(value: Any) -> Iterator[str]:
    """Every text in a value, and the value as one text: a name may stand across what JSON takes apart."""
    if value is None:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            yield from decoded(key)
            yield from decoded(item)
    elif isinstance(value, (list, tuple, set)):
        for item in value:
            yield from decoded(item)
    elif isinstance(value, (bytes, bytearray, memoryview)):
        yield from _of_bytes(bytes(value))
    else:
        yield from _of_text(str(value))


def _of_text(text: str) -> Iterator[str]:
    yield text
    if text[:1] in "{[":
        with suppress(ValueError, RecursionError):
            yield from decoded(json.loads(text))
    if len(text) >= _PACKED_MIN and " " not in text:
        with suppress(binascii.Error, ValueError):
            packed = base64.b64decode(text, validate=True)
            if packed.startswith(zstandard.FRAME_HEADER) or packed[:1] == b"\x78":
                yield from _of_bytes(packed)


def _of_bytes(data: bytes) -> Iterator[str]:
    # Bytes as UTF-8 where they can be; pickles and protocol frames are searched as they lie, never loaded.
    yield from _of_text(data.decode("utf-8", "replace"))
    for opened in _opened(data):
        yield from _of_bytes(opened)


def _opened(data: bytes) -> Iterator[bytes]:
    if data.startswith(zstandard.FRAME_HEADER):
        with suppress(zstandard.ZstdError), zstandard.ZstdDecompressor().stream_reader(data) as reader:
            yield reader.read(_MAX_BYTES)
    if data[:1] == b"\x78":
        with suppress(zlib.error):
            yield zlib.decompressobj().decompress(data, _MAX_BYTES)


def in_postgres(database: Database) -> Iterator[Place]:
    """Every value of every table of every schema that is ours, and what the planner keeps of them."""
    with psycopg.connect(database.admin) as conn:
        tables = conn.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'afterword'").fetchall()
        for (table,) in tables:
            cursor = conn.execute(sql.SQL("SELECT * FROM afterword.{}").format(sql.Identifier(table)))
            names = [column.name for column in cursor.description or ()]
            for row in cursor:
                for name, value in zip(names, row, strict=True):
                    for text in decoded(value):
                        yield f"{table}.{name}", text
        yield from _statistics(conn)


def _statistics(conn: psycopg.Connection[Any]) -> Iterator[Place]:
    rows = conn.execute(
        "SELECT tablename, attname, most_common_vals::text, histogram_bounds::text, most_common_elems::text"
        " FROM pg_stats WHERE schemaname = 'afterword'"
    )
    for table, column, *kept in rows:
        for text in kept:
            if text is not None:
                yield f"statistics of {table}.{column}", text


def in_redis(client: Redis) -> Iterator[Place]:
    """Every key there is, its name and all it holds, by the kind of the key."""
    for raw in client.scan_iter(count=1_000):
        key = raw.decode("utf-8", "replace")
        place = "redis " + (key if key.startswith("afterword:sessions") else key.partition(":")[0] + ":*")
        for value in (raw, *_held(client, raw)):
            for text in decoded(value):
                yield place, text


def _held(client: Redis, key: bytes) -> Iterator[Any]:
    match client.type(key):
        case b"string":
            yield client.get(key)
        case b"hash":
            yield client.hgetall(key)
        case b"list":
            yield client.lrange(key, 0, -1)
        case b"set":
            yield client.smembers(key)
        case b"zset":
            yield client.zrange(key, 0, -1)
        case b"stream":
            yield [fields for _, fields in client.xrange(key)]
        case b"none":
            return  # it ended while we looked
        case other:
            raise AssertionError(f"a key of type {other!r} cannot be searched")


def in_logs(text: str) -> Iterator[Place]:
    """Captured output, line by line."""
    for line in text.splitlines():
        for found in decoded(line):
            yield "logs", found
