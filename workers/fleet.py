"""Processes: rq's WorkerPool with a child of our own, and the plain loops; connections opened after the fork.

As it comes, the pool leaves schedulers and workers behind when it is killed, and a job's alarm fires inside a drain.
Here a child is a SimpleWorker without scheduler that dies with its parent, and a bell has no time limit.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import Any

import structlog
from redis.exceptions import RedisError
from rq import SimpleWorker
from rq.exceptions import StopRequested
from rq.serializers import JSONSerializer
from rq.worker_pool import ForkProcess, WorkerPool

from db.connect import DatabaseError
from workers import housekeeping, ingest, metrics, passes, reclassification, replay, watch
from workers.bell import Bell, BellQueue, answer, queue, stopping
from workers.consolidation import Consolidation
from workers.context import connect_redis, resources
from workers.embedding import Embedding
from workers.extraction import Extraction
from workers.orphans import die_with_parent
from workers.redaction import Redaction
from workers.stage import Stage, work_through

STAGES: dict[str, Stage[Any]] = {
    stage.name: stage for stage in (Extraction(), Redaction(), Embedding(), Consolidation())
}
LOOPS: dict[str, Callable[[], None]] = {"ingest": ingest.run, "replay": replay.run, "housekeeping": housekeeping.run}
NAMES = ("ingest", *STAGES, "replay", "housekeeping")

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)

log = structlog.get_logger()

for _name, _stage in STAGES.items():
    answer(_name, lambda stage=_stage: work_through(stage))  # type: ignore[misc]


def _redact() -> None:
    """Runs first; then what was asked to be looked at again."""
    work_through(STAGES[Redaction.name])
    reclassification.drain()


answer(Redaction.name, _redact)


def _consolidate() -> None:
    """Runs first; then the passes that are due."""
    work_through(STAGES[Consolidation.name])
    passes.drain()


answer(Consolidation.name, _consolidate)


class BellWorker(SimpleWorker):
    """Answers bells in this process; told to stop, it ends after the batch at hand."""

    def request_stop(self, signum: int | None, frame: FrameType | None) -> None:
        stopping.set()
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]

    def _install_signal_handlers(self) -> None:
        """RQ's own, and what came before they were there."""
        super()._install_signal_handlers()  # type: ignore[no-untyped-call]
        self._stop_requested = stopping.is_set()

    def handle_job_failure(self, *args: Any, **kwargs: Any) -> None:
        """RQ would keep the traceback in Redis, with what the database could not take quoted in it."""
        super().handle_job_failure(*args, **{**kwargs, "exc_string": "see drain_failed in the log"})

    def handle_exception(self, job: Any, *exc_info: Any) -> None:
        """A drain that failed holds no work: it is logged, and housekeeping rings again."""
        log.warning("drain_failed", queue=job.origin, error=getattr(exc_info[0], "__name__", None))


class Processes(WorkerPool):
    """N processes of one stage or loop; a dead one is replaced."""

    def __init__(self, name: str, redis_url: str, processes: int) -> None:
        self._stage = name
        self._redis_url = redis_url
        super().__init__(
            [f"afterword-{name}"], connection=connect_redis(redis_url), num_workers=processes,
            worker_class=BellWorker, job_class=Bell, queue_class=BellQueue, serializer=JSONSerializer,
        )  # fmt: skip

    def get_worker_process(self, name: str, burst: bool, _sleep: float = 0, logging_level: str = "INFO") -> BaseProcess:
        return ForkProcess(target=_child, args=(self._stage, name, self._redis_url, os.getpid()), name=name)

    def start_workers(self, *args: Any, **kwargs: Any) -> None:
        """Listens for a signal before there is anything it would have to stop, not after."""
        self._install_signal_handlers()  # type: ignore[no-untyped-call]
        super().start_workers(*args, **kwargs)

    def start_worker(self, *args: Any, **kwargs: Any) -> None:
        """A signal that comes between the fork and the child's own handlers waits for them."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
        try:
            if self.status is not self.Status.STOPPED:
                super().start_worker(*args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def handle_dead_worker(self, worker_data: Any) -> None:
        code = worker_data.process.exitcode
        if code != 0 or self.status is not self.Status.STOPPED:
            log.warning("worker_died", stage=self._stage, pid=worker_data.pid, exit_code=code)
        metrics.forget_process(worker_data.pid)
        super().handle_dead_worker(worker_data)


def _child(stage: str, name: str, redis_url: str, parent: int) -> None:
    die_with_parent(parent)
    stopping.clear()
    _stop_when_told()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
    if stage == Redaction.name:
        threading.Thread(target=watch.keep, args=(resources().watch,), name="watch", daemon=True).start()
    if stage in LOOPS:
        LOOPS[stage]()
    else:
        _answer_bells(stage, name, redis_url)


def _stop_when_told() -> None:
    for sig in STOP_SIGNALS:
        signal.signal(sig, lambda *_: stopping.set())


def _bell_worker(stage: str, name: str, redis_url: str) -> BellWorker:
    """Asks Redis for its version, so that this fails like the work does while it is away."""
    connection = connect_redis(redis_url)
    worker = BellWorker(
        [queue(connection, stage)], name=f"{name}-{time.monotonic_ns()}", connection=connection, job_class=Bell,
        queue_class=BellQueue, serializer=JSONSerializer,
    )  # fmt: skip
    worker.log_result_lifespan = False
    return worker


def _answer_bells(stage: str, name: str, redis_url: str) -> None:
    """RQ's loop; it ends with an error when Redis goes away, and begins again when it is back."""
    while not stopping.is_set():
        try:
            _bell_worker(stage, name, redis_url).work(with_scheduler=False, logging_level="WARNING")
        except StopRequested:
            return
        except (RedisError, DatabaseError) as error:
            log.warning("worker_waits", stage=stage, error=type(error).__name__)
        _stop_when_told()
        stopping.wait(0.5)


def run(
    stage: str, processes: int, *, metrics_port: int | None, metrics_dir: str | None, metrics_host: str = "127.0.0.1"
) -> None:
    """Run `processes` of a stage in the foreground until SIGTERM; /metrics is served from here. Never returns early."""
    logging.getLogger("rq").setLevel(logging.WARNING)
    server: tuple[Any, threading.Thread] | None = None
    if metrics_port is not None:
        from prometheus_client import start_http_server

        server = start_http_server(metrics_port, addr=metrics_host, registry=metrics.registry(metrics_dir))
    log.info("fleet_started", stage=stage, processes=processes)
    # What was imported lives as long as the process: no collection need look at it, and children share its pages.
    gc.collect()
    gc.freeze()
    Processes(stage, resources().context.redis, processes).start(burst=False, logging_level="WARNING")
    if server is not None:
        server[0].shutdown()
        with contextlib.suppress(RuntimeError):
            server[1].join()
