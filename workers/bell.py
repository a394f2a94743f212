"""RQ jobs as doorbells: a bell says "there is something for this stage" and carries no work.

Whoever may write `rq:*` could otherwise have any importable function called here, by the job itself or by a callback
of it. `Bell` therefore takes nothing from a job but the fact that it came: what runs is `drain` for the stage whose
queue it was in, and a job that says anything else is refused.
"""

from __future__ import annotations

import json
import threading
import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from redis import Redis
from rq import Queue
from rq.job import Job
from rq.serializers import JSONSerializer

from pipeline.errors import AfterwordError
from workers import metrics
from workers.keys import BELL_SECONDS, bell_key, queue_name

DRAIN: Final = "workers.bell.drain"
FAILURE_SECONDS = 3_600
_MADE_BY_A_BELL: Final = frozenset(
    {"created_at", "data", "description", "ended_at", "enqueued_at", "failure_ttl", "group_id", "last_heartbeat",
     "meta", "origin", "result_ttl", "started_at", "status", "success_callback_name", "failure_callback_name",
     "stopped_callback_name", "timeout", "worker_name", "ttl"}
)  # fmt: skip

stopping = threading.Event()
"""Set when this process was asked to stop: a drain ends after the batch at hand."""


class NotABell(AfterwordError):
    """A job in rq:* that is not the bell was refused."""


class Bell(Job):
    """A job that can only be a bell."""

    refused: bool = False

    def restore(self, raw_data: dict[bytes, bytes]) -> Any:
        """Reads only what says when and where; anything that could name code is dropped and remembered as refused."""
        fields = {key.decode(errors="replace"): value for key, value in raw_data.items()}
        self.refused = not _is_bell(fields)
        safe = {key: value for key, value in fields.items() if key in _MADE_BY_A_BELL and "callback" not in key}
        safe["data"] = _data()
        safe.pop("meta", None)
        super().restore({key.encode(): value for key, value in safe.items()})

    def _execute(self) -> Any:
        stage = self.origin.removeprefix("afterword-")
        if self.refused:
            metrics.REFUSED_JOBS.labels(stage).inc()
            raise NotABell(f"job {self.id} in queue {self.origin} is not a bell and was not run")
        return drain(stage)


def _data() -> bytes:
    return json.dumps([DRAIN, None, [], {}]).encode()


def _is_bell(fields: dict[str, bytes]) -> bool:
    if any(fields.get(f"{kind}_callback_name") for kind in ("success", "failure", "stopped")):
        return False
    raw = fields.get("data", b"")
    with suppress(zlib.error):
        raw = zlib.decompress(raw)
    try:
        return bool(json.loads(raw) == [DRAIN, None, [], {}])
    except ValueError:
        return False


class BellQueue(Queue):
    job_class = Bell


def queue(redis: Redis, stage: str) -> BellQueue:
    return BellQueue(queue_name(stage), connection=redis, serializer=JSONSerializer, job_class=Bell)


def ring(redis: Redis, stage: str, *, past_marker: bool = False) -> bool:
    """Queue a bell unless one is queued already; `past_marker` rings all the same. Returns whether it rang."""
    if not redis.set(bell_key(stage), 1, nx=not past_marker, ex=BELL_SECONDS):
        metrics.BELLS.labels(stage, "queued_already").inc()
        return False
    queue(redis, stage).enqueue_call(
        DRAIN, description=f"bell for {stage}", timeout=-1, result_ttl=0, failure_ttl=FAILURE_SECONDS
    )
    metrics.BELLS.labels(stage, "rang").inc()
    return True


_answers: dict[str, Callable[[], None]] = {}


def answer(stage: str, work: Callable[[], None]) -> None:
    """Say what answers this stage's bell in this process."""
    _answers[stage] = work


def drain(stage: str) -> None:
    """What a bell calls: work through whatever is due. Raises NotABell for a stage nobody answers here."""
    if stage not in _answers:
        raise NotABell(f"no worker here answers the bell of {stage!r}")
    _answers[stage]()
