"""A circuit breaker: an endpoint that does not answer is left alone for a while, then asked once.

    closed --failures_max in a row--> open --cool-down over, one asks--> half_open --fails--> open
       ^-------------------------------------any answer, a refusal too------------'

One lives in each worker process, for as long as it; nothing of it is stored.
"""

from __future__ import annotations

from enum import StrEnum

FAILURES_MAX = 5
"""In a row: as many as a run has attempts, so that an outage is noticed before it kills the first run."""


class CircuitState(StrEnum):
    """`open` lasts until somebody asks again, be the cool-down over or not."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Circuit:
    """Times are seconds of one steady clock, given by whoever asks. Used from one thread."""

    def __init__(self, *, cool_down_seconds: float, failures_max: int = FAILURES_MAX) -> None:
        self._cool_down, self._failures_max = cool_down_seconds, failures_max
        self._failures, self._open_until, self._probing = 0, 0.0, False

    @property
    def state(self) -> CircuitState:
        if self._failures < self._failures_max:
            return CircuitState.CLOSED
        return CircuitState.HALF_OPEN if self._probing else CircuitState.OPEN

    def admit(self, now: float) -> float:
        """0 where a call may be made, which then is told of; else the seconds until asking is worth it."""
        if self.state is CircuitState.CLOSED:
            return 0
        if self._probing:
            return self._cool_down
        if now < self._open_until:
            return self._open_until - now
        self._probing = True
        return 0

    def answered(self) -> None:
        """The endpoint said something, if only that it refuses."""
        self._failures, self._probing = 0, False

    def failed(self, now: float, wait_seconds: float | None = None) -> None:
        """No answer; `wait_seconds`: for how long the endpoint asked to be left alone."""
        was_open = self.state is CircuitState.OPEN
        self._failures += 1
        self._probing = False
        if not was_open:  # calls that began before it opened say nothing new
            self._open_until = now + max(self._cool_down, wait_seconds or 0)

    def abandoned(self) -> None:
        """A call that was admitted and never made, or whose end nobody waited for."""
        self._probing = False
