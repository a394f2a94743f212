"""The scanner that erasure is proven with: it must see through every packing, or its silence proves nothing."""

from __future__ import annotations

import base64
import json
import pickle
import zlib

import pytest
from redis import Redis

from ops.embedded.valkey import EmbeddedValkey
from pipeline.transcripts import deflate
from tests.integration.db import rows
from tests.scanning import decoded, find, in_logs, in_postgres, in_redis
from tests.services import Database

NAME = "Zebediah Quill"
PLAIN = NAME.encode()
PACKED = {
    "text": NAME,
    "another case": NAME.upper(),
    "a JSON key": {NAME: 1},
    "JSON within JSON": json.dumps({"a": [json.dumps({"b": NAME})]}),
    "escaped": json.dumps({"a": "Zebediah \u0051uill"}),
    "bytes": b"\x00\xff" + PLAIN,
    "zstd": deflate(PLAIN),
    "zlib": zlib.compress(PLAIN),
    "zlib of zstd": zlib.compress(deflate(PLAIN)),
    "base64 of zstd in JSON": deflate(json.dumps({"z": base64.b64encode(deflate(PLAIN * 9)).decode()}).encode()),
    "a pickle": zlib.compress(pickle.dumps({"args": [NAME]})),
    "a list": [[memoryview(PLAIN)]],
}


@pytest.mark.parametrize("value", PACKED.values(), ids=PACKED)
def test_a_value_is_seen_however_it_is_packed(value: object) -> None:
    assert find([NAME, "someone else"], [("here", text) for text in decoded(value)]) == {"here": {NAME}}


def test_every_table_is_read_and_the_statistics_with_it(database: Database) -> None:
    org = rows.fresh_org(database)
    with database.as_role("worker") as conn:
        for _ in range(40):
            rows.insert_memory(conn, org, f"{NAME} likes tea", run=rows.insert_run(conn, org, agent=NAME))
    with rows.as_admin(database) as admin:
        admin.execute("ALTER TABLE afterword.runs ALTER COLUMN agent SET STATISTICS 100")
        admin.execute("ANALYZE afterword.runs")
    found = find([NAME], in_postgres(database))
    assert found.keys() == {"memories.content", "memories.evidence", "runs.agent", "statistics of runs.agent"}


def test_every_kind_of_key_is_read(valkey: EmbeddedValkey) -> None:
    with Redis.from_url(valkey.url("admin")) as client:
        client.set("afterword:ack:1", NAME)
        client.hset("rq:job:1", mapping={"data": zlib.compress(pickle.dumps(NAME)), "status": "queued"})
        client.rpush("list:1", NAME)
        client.sadd("set:1", NAME)
        client.zadd("zset:1", {NAME: 1})
        client.xadd("afterword:sessions", {"event": json.dumps({"transcript_zstd": deflate(PLAIN * 9).hex()})})
        client.xadd("afterword:sessions", {"event": json.dumps({"user": NAME})})
        client.set(f"name:{NAME}", "1")
        found = find([NAME], in_redis(client))
    assert found.keys() == {f"redis {place}" for place in (
        "afterword:*", "rq:*", "list:*", "set:*", "zset:*", "afterword:sessions", "name:*")}  # fmt: skip


def test_logs_are_read_as_the_json_they_are() -> None:
    line = json.dumps({"event": "x", "detail": NAME.replace("Q", "\u0051")})
    assert find([NAME], in_logs(f"\n{line}\n")) == {"logs": {NAME}}
