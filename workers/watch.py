"""This process's own watch over its detectors: a round of canaries at start and every minute, on what is loaded here.

Failure handling: each detector is asked in a thread of its own and waited for so long and no longer. One that hangs is
not asked again before its last call has come back; one that raises is asked again in the next round. Looking at texts
is bounded the same way: a call that does not come back fails the texts at hand, and a new round says who it was.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

import structlog

from pipeline.errors import DetectorDown
from pipeline.redaction.canary import Canary
from pipeline.redaction.health import Answer, Health, canaries_for, sing
from pipeline.redaction.span import Detector
from workers import metrics
from workers.bell import stopping

ANY_LANGUAGE = "any"

T = TypeVar("T")
log = structlog.get_logger()


class Watch:
    """Asks when a minute has passed. Any thread may ask; while one does, others go by the last round."""

    def __init__(
        self, detectors: tuple[Detector, ...], *, canaries: tuple[Canary, ...] | None = None,
        every_seconds: float, answer_seconds: float,
    ) -> None:  # fmt: skip
        self._detectors = detectors
        self._canaries = canaries_for(detectors) if canaries is None else canaries
        self._every_seconds, self._answer_seconds = every_seconds, answer_seconds
        self._last: Health | None = None
        self._due_at = 0.0
        self._asking = threading.Lock()
        self._hanging: dict[str, threading.Thread] = {}

    def health(self) -> Health:
        """What the last round showed; a new one if that is a minute old."""
        last = self._last
        if last is not None and time.monotonic() < self._due_at:
            return last
        if not self._asking.acquire(blocking=last is None):
            assert last is not None
            return last
        try:
            if self._last is None or time.monotonic() >= self._due_at:
                self._last = self._round()
                self._due_at = time.monotonic() + self._every_seconds
            return self._last
        finally:
            self._asking.release()

    def expire(self) -> None:
        """Something is amiss: the next to ask for health has a new round made."""
        self._due_at = 0.0

    def _round(self) -> Health:
        health = Health(self._detectors, {each.name: self._ask(each) for each in self._detectors}, self._canaries)
        # Who sees a detector change finds the canaries of the same round beside it.
        for (cls, language), is_found in health.found.items():
            metrics.CANARY_FOUND.labels(cls, language or ANY_LANGUAGE).set(is_found)
        for name, is_up in health.up.items():
            metrics.DETECTOR_UP.labels(name).set(is_up)
            if self._last is not None and self._last.up[name] != is_up:
                log.warning("detector_changed", detector=name, up=is_up)
        return health

    def _ask(self, detector: Detector) -> Answer:
        if (hanging := self._hanging.get(detector.name)) is not None and hanging.is_alive():
            return None
        call = Call(lambda: sing(detector, self._canaries), f"canary-{detector.name}")
        try:
            return call.answer(self._answer_seconds)
        except TimeoutError:
            self._hanging[detector.name] = call.thread
            log.warning("detector_hangs", detector=detector.name, seconds=self._answer_seconds)
        except Exception as error:
            log.warning("detector_raises", detector=detector.name, error=type(error).__name__)
        return None


class Call(Generic[T]):
    """A call in a daemon thread, so that who waits for its answer can give up."""

    def __init__(self, work: Callable[[], T], name: str) -> None:
        self._work = work
        self._answers: list[T] = []
        self._error: Exception | None = None
        self.thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.thread.start()

    def answer(self, within_seconds: float) -> T:
        """Raises TimeoutError, or what the call raised."""
        self.thread.join(within_seconds)
        if self._error is not None:
            raise self._error
        if not self._answers:
            raise TimeoutError
        return self._answers[0]

    def _run(self) -> None:
        try:
            self._answers.append(self._work())
        except Exception as error:
            self._error = error


def within(seconds: float, work: Callable[[], T]) -> T:
    """Raises DetectorDown when time is up; what was begun ends by itself, or never."""
    try:
        return Call(work, "inspection").answer(seconds)
    except TimeoutError:
        raise DetectorDown(f"the detectors did not answer within {seconds:g} s") from None


def keep(watch: Watch) -> None:
    """Ask on the clock until this process stops, whether or not there is work."""
    while not stopping.is_set():
        watch.health()
        stopping.wait(1.0)
