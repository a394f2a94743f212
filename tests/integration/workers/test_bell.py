"""Bells: one a stage, answered, healed when lost; a job that is anything else is refused and names no code."""

from __future__ import annotations

import json
import pickle
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from redis.exceptions import NoPermissionError
from rq import Callback, Queue, Repeat, Retry
from rq.job import Job
from rq.serializers import JSONSerializer, PickleSerializer

from pipeline.extraction.adapters.offline import OfflineExtractor
from tests.fleet import Fleet, event
from tests.integration.workers.running import running
from tests.integration.workers.scripted import Scripted
from tests.waiting import wait_for
from workers import housekeeping, metrics
from workers.bell import DRAIN, NotABell, answer, drain, queue, ring, stopping
from workers.fleet import STAGES
from workers.keys import bell_key
from workers.stage import work_through

SAID = "We decided to use Postgres for the search service because it has row locks."


def queued(fleet: Fleet, stage: str) -> int:
    return int(fleet.using.redis.llen(f"rq:queue:afterword-{stage}"))


def due_for(fleet: Fleet, seconds: float) -> None:
    fleet.rows("UPDATE runs SET due_at = now() - make_interval(secs => %s) RETURNING id", seconds)


class Explosive:
    """Pickled, it writes a file where it is read."""

    def __init__(self, canary: Path) -> None:
        self._canary = canary

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.write_text, (self._canary, "unpickled"))


def hostile_jobs(redis: Redis, folder: Path) -> dict[str, Callable[[], Any]]:
    """What somebody with write access to rq:* might leave in a queue, by what is hostile about it.

    The module `canary` in `folder` writes a file when it is imported.
    """
    (folder / "canary.py").write_text(f"open({str(folder / 'imported')!r}, 'w').close()\ndef sing(*_): pass\n")
    plain = Queue("afterword-extraction", connection=redis, serializer=JSONSerializer)
    pickled = Queue("afterword-extraction", connection=redis, serializer=PickleSerializer)

    def raw(**fields: bytes) -> None:
        job = plain.enqueue(DRAIN)
        redis.hset(f"rq:job:{job.id}", mapping=fields)  # type: ignore[arg-type]

    def dependent() -> None:
        first = plain.enqueue(DRAIN)
        redis.lrem(plain.key, 0, first.id)
        job = plain.enqueue(DRAIN, depends_on=first)
        redis.lpush(plain.key, job.id)

    return {
        "a function elsewhere": lambda: plain.enqueue("canary.sing"),
        "a pickled function": lambda: pickled.enqueue("canary.sing"),
        "pickled arguments": lambda: pickled.enqueue(DRAIN, Explosive(folder / "imported")),
        "arguments": lambda: plain.enqueue(DRAIN, "redaction"),
        "another function of ours": lambda: plain.enqueue("workers.bell.answer"),
        "a success callback": lambda: plain.enqueue(DRAIN, on_success=Callback("canary.sing")),
        "a failure callback": lambda: plain.enqueue(DRAIN, on_failure=Callback("canary.sing")),
        "a stopped callback": lambda: plain.enqueue(DRAIN, on_stopped=Callback("canary.sing")),
        "meta": lambda: plain.enqueue(DRAIN, meta={"a": 1}),
        "pickled meta": lambda: raw(meta=pickle.dumps(Explosive(folder / "imported"))),
        "a pickled result": lambda: raw(result=pickle.dumps(Explosive(folder / "imported"))),
        "webhooks": lambda: raw(webhooks=json.dumps([{"url": "http://127.0.0.1:1/"}]).encode()),
        "a retry": lambda: plain.enqueue(DRAIN, retry=Retry(max=3)),
        "a repeat": lambda: plain.enqueue(DRAIN, repeat=Repeat(times=3)),
        "a dependency": dependent,
        "a group": lambda: raw(group_id=b"g"),
        "a time limit": lambda: raw(timeout=b"1"),
        "a date that is none": lambda: raw(created_at=b"yesterday"),
        "a state that is none": lambda: raw(status=b"odd"),
        "a zlib bomb": lambda: raw(data=zlib.compress(b" " * (1 << 26))),
        "no data": lambda: raw(data=b""),
    }


def test_what_is_no_bell_is_refused_and_the_worker_goes_on(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet.database.org("acme")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    jobs = hostile_jobs(fleet.using.redis, tmp_path)
    for leave in jobs.values():
        leave()
    with running(fleet, "extraction", tmp_path) as worker:
        wait_for(lambda: queued(fleet, "extraction") == 0)
        fleet.ingest(event(SAID))
        wait_for(lambda: fleet.rows("SELECT state FROM runs") == [{"state": "extracted"}])
        assert not (tmp_path / "imported").exists()
        assert worker.log().count("NotABell") >= len(jobs)
        assert len(worker.children()) == 1
        assert "worker_died" not in worker.log()


def test_the_canary_is_alive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hostile_jobs(Redis(), tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    __import__("canary")
    assert (tmp_path / "imported").exists()
    pickle.loads(pickle.dumps(Explosive(tmp_path / "unpickled")))
    assert (tmp_path / "unpickled").exists()


def test_two_rings_queue_one_bell_and_answering_it_makes_room_for_another(fleet: Fleet) -> None:
    redis = fleet.using.redis
    assert ring(redis, "redaction")
    assert not ring(redis, "redaction")
    assert queued(fleet, "redaction") == 1
    rung_inside = []
    answer("redaction", lambda: rung_inside.append(ring(redis, "redaction")))
    try:
        bell = queue(redis, "redaction").fetch_job(queue(redis, "redaction").pop_job_id())  # type: ignore[arg-type]
        assert bell is not None
        bell.perform()
    finally:
        answer("redaction", lambda: work_through(STAGES["redaction"]))
    assert rung_inside == [True]


def test_a_stage_nobody_serves_gathers_few_bells(fleet: Fleet) -> None:
    for _ in range(50):
        fleet.using.redis.delete(bell_key("redaction"))
        ring(fleet.using.redis, "redaction")
    assert queued(fleet, "redaction") <= 16


def test_a_lost_bell_is_rung_again_once(fleet: Fleet) -> None:
    fleet.database.org("acme")
    fleet.ingest(event(SAID))
    redis = fleet.using.redis
    redis.delete("rq:queue:afterword-extraction")  # lost; the marker stands
    with fleet.using.pool.connection() as conn:
        housekeeping.heal_bells(fleet.using, conn)
        assert queued(fleet, "extraction") == 0, "not two seconds old"
        due_for(fleet, 3)
        housekeeping.heal_bells(fleet.using, conn)
        housekeeping.heal_bells(fleet.using, conn)
    assert queued(fleet, "extraction") == 1
    assert queued(fleet, "redaction") == 0


def test_a_drain_ends_after_the_batch_at_hand_and_rings_for_the_rest(fleet: Fleet) -> None:
    fleet.database.org("acme")
    fleet.install(batch_size=2)
    fleet.ingest(*[event(SAID, session=f"s{n}") for n in range(6)])
    fleet.flush()

    class Stops(OfflineExtractor):
        def extract_many(self, batch: Any) -> Any:
            stopping.set()
            return super().extract_many(batch)

    fleet.install(batch_size=2, extractor=Stops())
    fleet.run("extraction")
    assert fleet.rows("SELECT count(*) AS n FROM runs WHERE state = 'extracted'")[0]["n"] == 2
    assert queued(fleet, "extraction") == 1


def test_a_full_batch_rings_for_a_colleague_before_it_is_worked(fleet: Fleet) -> None:
    fleet.database.org("acme")
    fleet.ingest(*[event(SAID, session=f"s{n}") for n in range(3)])
    fleet.flush()
    seen = []
    fleet.install(batch_size=3)
    work_through(Scripted(lambda _: seen.append(queued(fleet, "extraction"))))
    assert seen == [1, 1, 1]


def test_a_bell_for_a_stage_nobody_answers_is_refused() -> None:
    with pytest.raises(NotABell):
        drain("attic")


def test_refused_jobs_are_counted_by_stages_there_are(fleet: Fleet) -> None:
    def counted(stage: str) -> float:
        return float(metrics.REFUSED_JOBS.labels(stage)._value.get())

    before = counted("unknown"), counted("redaction")
    for name in ("afterword-redaction", "attic"):
        fleet.using.redis.hset("rq:job:x", mapping={"data": b"{}", "origin": name})
        job = queue(fleet.using.redis, "redaction").job_class.fetch(
            "x", connection=fleet.using.redis, serializer=JSONSerializer
        )
        with pytest.raises(NotABell):
            job.perform()
    assert (counted("unknown"), counted("redaction")) == (before[0] + 1, before[1] + 1)


def test_the_emitter_reaches_no_queue(fleet: Fleet) -> None:
    with Redis.from_url(fleet.valkey.url("emitter")) as emitter:
        for command in (
            lambda: emitter.lpush("rq:queue:afterword-extraction", "x"),
            lambda: emitter.hset("rq:job:x", "data", "x"),
            lambda: emitter.get("rq:job:x"),
            lambda: emitter.delete("afterword:sessions"),
            lambda: emitter.set("afterword:bell:extraction", 1),
            lambda: Queue("afterword-extraction", connection=emitter).enqueue("canary.sing"),
            lambda: Job.create("canary.sing", connection=emitter).save(),
        ):
            with pytest.raises(NoPermissionError):
                command()
