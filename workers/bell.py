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
FAILURE_SECONDS: Final = 3_600
QUEUED_MAX: Final = 16
"""Bells that wait for a stage nobody serves; more would say nothing new and fill Redis while it is down."""

_WHEN_AND_WHERE: Final = frozenset(
    {"created_at", "description", "ended_at", "enqueued_at", "last_heartbeat", "origin", "started_at", "status",
     "worker_name"}
)  # fmt: skip
_ALWAYS: Final = {"timeout": b"-1", "result_ttl": b"0", "failure_ttl": str(FAILURE_SECONDS).encode()}
_DATA: Final = json.dumps([DRAIN, None, [], {}]).encode()

stopping = threading.Event()
"""Set when this process was asked to stop: a drain ends after the batch at hand."""


class NotABell(AfterwordError):
    """A job in rq:* that is not the bell was refused."""


class Bell(Job):
    """A job that can only be a bell."""

    refused: bool = False

    def restore(self, raw_data: dict[bytes, bytes]) -> Any:
        """Reads only what says when and where; whatever else a job says is dropped and remembered as refused."""
        fields = {key.decode(errors="replace"): value for key, value in raw_data.items() if value}
        self.refused = not _is_bell(fields)
        fixed = {"data": _DATA, **_ALWAYS}
        try:
            _restore(super().restore, {key: fields[key] for key in _WHEN_AND_WHERE & fields.keys()} | fixed)
        except ValueError:  # a date or a state that is none
            self.refused = True
            _restore(super().restore, fixed)

    def _execute(self) -> Any:
        stage = self.origin.removeprefix("afterword-")
        if self.refused:
            metrics.REFUSED_JOBS.labels(stage if stage in _answers else "unknown").inc()
            raise NotABell(f"job {self.id} in queue {self.origin} is not a bell and was not run")
        # From here on another bell is of use again: what it would find may come after this one's last look.
        self.connection.delete(bell_key(stage))
        return drain(stage)


def _restore(restore: Callable[[dict[bytes, bytes]], Any], fields: dict[str, bytes]) -> None:
    restore({key.encode(): value for key, value in fields.items()})


def _is_bell(fields: dict[str, bytes]) -> bool:
    """Whether nothing is said that `ring` does not say."""
    if fields.keys() - _WHEN_AND_WHERE - {"data"} - _ALWAYS.keys():
        return False
    if any(fields.get(key, value) != value for key, value in _ALWAYS.items()):
        return False
    raw = fields.get("data", b"")
    with suppress(zlib.error):
        inflater = zlib.decompressobj()
        raw = inflater.decompress(raw, len(_DATA) + 1)
    return raw == _DATA


class BellQueue(Queue):
    job_class = Bell


def queue(redis: Redis, stage: str) -> BellQueue:
    return BellQueue(queue_name(stage), connection=redis, serializer=JSONSerializer, job_class=Bell)


def ring(redis: Redis, stage: str, *, past_marker: bool = False) -> bool:
    """Queue a bell unless one is queued already; `past_marker` looks into the queue instead of at the marker.

    Returns whether it rang.
    """
    bells = queue(redis, stage)
    marked = redis.set(bell_key(stage), 1, nx=not past_marker, ex=BELL_SECONDS)
    if not marked or redis.llen(bells.key) >= (1 if past_marker else QUEUED_MAX):
        metrics.BELLS.labels(stage, "queued_already").inc()
        return False
    bells.enqueue_call(DRAIN, description=f"bell for {stage}", timeout=-1, result_ttl=0, failure_ttl=FAILURE_SECONDS)
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
