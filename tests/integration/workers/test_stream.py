"""The stream's consumers over a real Valkey, in either protocol: nothing is lost, nothing unworked is counted."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest
from redis import Redis

from tests.fleet import Fleet, event
from tests.waiting import wait_for
from workers import housekeeping, ingest, intake
from workers.context import Limits
from workers.ingest import Reader
from workers.intake import Entry
from workers.keys import FIELD, GROUP, STREAM, ack_key

SAID = "We decided to use Postgres for the search service because it has row locks."
LIMITS = Limits(lease_seconds=0.05, batch_size=4)


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "BLOCK_MS", 20)


@pytest.fixture(params=[2, 3], ids=["RESP2", "RESP3"])
def redis(fleet: Fleet, request: pytest.FixtureRequest) -> Iterator[Redis]:
    fleet.database.org("acme")
    with Redis.from_url(fleet.valkey.url("worker"), protocol=request.param) as client:
        yield client


def reader(redis: Redis, name: str = "one", limits: Limits = LIMITS) -> Reader:
    made = Reader(redis, limits)
    made._name = name
    assert made.batch() == []  # makes the group
    return made


def send(redis: Redis, *sessions: str) -> list[tuple[str, bytes]]:
    events = [json.dumps(event(SAID, session=session)).encode() for session in sessions]
    return [(redis.xadd(STREAM, {FIELD: data}).decode(), data) for data in events]  # type: ignore[union-attr]


def read(consumer: Reader) -> list[Entry]:
    return wait_for(consumer.batch)


def pending(redis: Redis) -> dict[str, int]:
    return {
        item["message_id"].decode(): item["times_delivered"]
        for item in redis.xpending_range(STREAM, GROUP, "-", "+", 99)
    }


def test_entries_are_read_in_batches_and_leave_when_they_are_acknowledged(fleet: Fleet, redis: Redis) -> None:
    consumer = reader(redis)
    sent = send(redis, "a", "b", "c", "d", "e")
    first, second = read(consumer), read(consumer)
    assert [(entry.id, entry.data, entry.deliveries) for entry in first + second] == [(*item, 1) for item in sent]
    assert len(first) == 4
    assert not redis.exists(ack_key(first[0].data))
    intake.ingest(fleet.using, first)
    consumer.acknowledge(first, {})
    assert set(pending(redis)) == {sent[4][0]}
    assert [id_.decode() for id_, _ in redis.xrange(STREAM)] == [sent[4][0]]  # type: ignore[union-attr]
    assert [redis.exists(ack_key(data)) for _, data in sent] == [1, 1, 1, 1, 0]
    assert redis.ttl(ack_key(first[0].data)) > 86_000
    assert housekeeping.stream_lag(fleet.using) == 1


def test_an_entry_a_consumer_left_behind_is_taken_over_when_it_is_idle(redis: Redis) -> None:
    dead, alive = reader(redis, "dead"), reader(redis, "alive")
    alive._takes_over_at = 0
    sent = send(redis, "a", "b")
    assert len(read(dead)) == 2
    assert [entry.id for entry in read(alive)] == [id_ for id_, _ in sent]
    assert pending(redis) == {id_: 2 for id_, _ in sent}


def test_the_third_delivery_is_alone_and_the_sixth_is_set_aside_in_the_stream(fleet: Fleet, redis: Redis) -> None:
    """`b` is lost with whoever takes it."""
    sent = dict(zip("abc", [id_ for id_, _ in send(redis, "a", "b", "c")], strict=True))
    seen: list[list[tuple[str, int]]] = []
    for life in range(30):
        consumer = Reader(redis, LIMITS)
        consumer._name = f"life {life}"
        batch = []
        for _ in range(40):
            consumer._takes_over_at = 0
            batch = consumer.batch()
            if not batch and not pending(redis):
                break
            if not batch:
                continue
            names = [(name, entry.deliveries) for entry in batch for name in sent if sent[name] == entry.id]
            seen.append(names)
            if any(name == "b" and deliveries < 6 for name, deliveries in names):
                break
            intake.ingest(fleet.using, batch)
            consumer.acknowledge(batch, {})
        if not pending(redis) and seen:
            break
    together = [batch for batch in seen if len(batch) > 1]
    assert together == [[(name, count) for name in "abc"] for count in (1, 2)]
    alone = [batch[0] for batch in seen if len(batch) == 1]
    assert [item for item in alone if item[0] == "b"] == [("b", 3), ("b", 4), ("b", 5), ("b", 6)]
    assert {item for item in alone if item[0] != "b"} == {("a", 3), ("c", 3)}
    assert {row["session"] for row in fleet.rows("SELECT session FROM runs")} == {"a", "c"}
    assert fleet.rows("SELECT entry_id, reason, deliveries, body FROM rejected_events") == [
        {"entry_id": sent["b"], "reason": "kills_worker", "deliveries": 6, "body": b""}
    ]
    assert [id_.decode() for id_, _ in redis.xrange(STREAM)] == [sent["b"]]  # type: ignore[union-attr]


def test_a_flushed_redis_costs_a_new_group(fleet: Fleet, redis: Redis) -> None:
    consumer = reader(redis)
    send(redis, "a")
    lost = read(consumer)
    fleet.flush()
    intake.ingest(fleet.using, lost)
    consumer.acknowledge(lost, {})
    assert consumer.batch() == []
    send(redis, "a", "b")
    again = read(consumer)
    assert intake.ingest(fleet.using, again) == []
    assert len(fleet.rows("SELECT id FROM runs")) == 2


def test_what_a_sender_wrote_before_there_was_a_group_is_read(redis: Redis) -> None:
    send(redis, "a")
    assert len(read(reader(redis))) == 1


def test_an_entry_without_the_field_is_kept_as_refused(fleet: Fleet, redis: Redis) -> None:
    consumer = reader(redis)
    redis.xadd(STREAM, {"other": "x"})
    assert [item.reason for item in intake.ingest(fleet.using, read(consumer))] == ["not_json"]


def test_trim_cuts_only_what_was_set_aside_long_ago(fleet: Fleet, redis: Redis) -> None:
    old = int((time.time() - 15 * 86_400) * 1000)
    for n in range(4):
        redis.xadd(STREAM, {FIELD: "x"}, id=f"{old + n}-0")
    consumer = reader(redis, limits=Limits(lease_seconds=60, batch_size=1))
    for n in range(2):
        entry = consumer._fresh()[0]
        if n == 0:
            redis.xack(STREAM, GROUP, entry.id)  # set aside; the second stays pending, the others unread
    young = send(redis, "a")[0][0]
    housekeeping.trim(fleet.using)
    assert [id_.decode() for id_, _ in redis.xrange(STREAM)] == [*(f"{old + n}-0" for n in (1, 2, 3)), young]  # type: ignore[union-attr]
    redis.xack(STREAM, GROUP, f"{old + 1}-0")
    housekeeping.trim(fleet.using)
    assert [id_.decode() for id_, _ in redis.xrange(STREAM)][-3:] == [*(f"{old + n}-0" for n in (2, 3)), young]  # type: ignore[union-attr]


def test_there_is_nothing_to_trim_before_there_is_a_stream(fleet: Fleet) -> None:
    housekeeping.trim(fleet.using)
    assert housekeeping.stream_lag(fleet.using) == 0
