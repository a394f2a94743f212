"""Keeps a table of processes running in the foreground: restarts what crashes, stops all at once, leaves none behind.

    run() --> start each --> wait for a signal --+--> SIGCHLD: restart the ended, later each time it ends again
                                                 +--> SIGTERM, SIGINT: tell all, last started first

Failure handling: a child that cannot be started at first, or any error here, stops the others; a supervisor killed by
SIGKILL takes its children along, by the kernel's parent-death signal.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import structlog

from ops.processes import dies_with_parent, has_ended

_STOP = {signal.SIGTERM, signal.SIGINT}
_AWAITED = {*_STOP, signal.SIGCHLD}
# A child that ran this long had started well: its next crash counts as the first.
_STEADY_SECONDS = 60.0
# How often what is no child of ours is looked after; a child that ends wakes us at once.
_LOOK_SECONDS = 5.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Command:
    """A process to keep running: its name in the log, argv, and whole environment (None: the supervisor's own)."""

    name: str
    argv: Sequence[str]
    env: Mapping[str, str] | None = None


@dataclass(slots=True)
class _Child:
    command: Command
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    due_at: float = 0.0
    crashes: int = 0

    def start(self) -> None:
        self.started_at = time.monotonic()
        self.process = subprocess.Popen(
            self.command.argv,
            env=self.command.env,
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # a Ctrl-C reaches the supervisor alone, which stops the children
            preexec_fn=_prepare_child(),
        )
        log.info("child_started", child=self.command.name, pid=self.process.pid)

    def reap(self) -> int:
        """The exit code of an ended child. Its process group goes with it, while the id is still reserved."""
        assert self.process is not None
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        code = self.process.wait()
        self.process = None
        return code


class Supervisor:
    """Runs `commands` in order. `grace_seconds` is how long each may take to stop before it is killed.

    `look_after` is called every few seconds and when a child ends: it keeps up what the commands need.
    """

    def __init__(
        self,
        commands: Sequence[Command],
        *,
        grace_seconds: float = 70.0,
        backoff_first_seconds: float = 1.0,
        backoff_cap_seconds: float = 60.0,
        look_after: Callable[[], None] = lambda: None,
    ) -> None:
        self._children = [_Child(command) for command in commands]
        self._grace_seconds = grace_seconds
        self._backoff_first_seconds = backoff_first_seconds
        self._backoff_cap_seconds = backoff_cap_seconds
        self._look_after = look_after

    def run(self) -> None:
        """Returns once SIGTERM or SIGINT came and all children have ended. Call it from the main thread, before others.

        Raises OSError when a command cannot be executed, after stopping what was started.
        """
        with _awaited_signals():
            try:
                self._keep_running()
            finally:
                self._stop_all()

    def _keep_running(self) -> None:
        for child in self._children:
            child.start()
        while (received := signal.sigtimedwait(_AWAITED, self._seconds_to_next_start())) is None or (
            received.si_signo not in _STOP
        ):
            self._note_ended()
            self._look_after()
            self._start_due()
        log.info("supervisor_stopping", signal=signal.Signals(received.si_signo).name)

    def _seconds_to_next_start(self) -> float:
        waits = [child.due_at - time.monotonic() for child in self._children if child.process is None]
        return max(0.0, min([*waits, _LOOK_SECONDS]))

    def _note_ended(self) -> None:
        for child in self._children:
            if child.process is not None and has_ended(child.process.pid, 0):
                self._schedule(child, child.reap())

    def _schedule(self, child: _Child, code: int | str) -> None:
        ran_seconds = time.monotonic() - child.started_at
        child.crashes = 1 if ran_seconds >= _STEADY_SECONDS else child.crashes + 1
        delay = backoff_seconds(child.crashes, self._backoff_first_seconds, self._backoff_cap_seconds)
        child.due_at = time.monotonic() + delay
        log.warning("child_ended", child=child.command.name, code=code, crashes=child.crashes, restart_in_seconds=delay)

    def _start_due(self) -> None:
        for child in self._children:
            if child.process is None and child.due_at <= time.monotonic():
                self._restart(child)

    def _restart(self, child: _Child) -> None:
        try:
            child.start()
        except OSError as error:  # out of processes, or a binary that is being replaced: no reason to stop the others
            self._schedule(child, str(error))

    def _stop_all(self) -> None:
        running = [(child, child.process) for child in reversed(self._children) if child.process is not None]
        for _, process in running:
            process.terminate()
        for child, process in running:
            self._await_end(child, process)

    def _await_end(self, child: _Child, process: subprocess.Popen[bytes]) -> None:
        if not has_ended(process.pid, self._grace_seconds):
            log.warning("child_killed", child=child.command.name, pid=process.pid, after_seconds=self._grace_seconds)
            process.kill()
        log.info("child_stopped", child=child.command.name, code=child.reap())


def backoff_seconds(crashes: int, first_seconds: float, cap_seconds: float) -> float:
    """The wait before the restart after the nth crash in a row: doubling, capped."""
    return float(min(cap_seconds, first_seconds * 2 ** min(crashes - 1, 32)))


def _prepare_child() -> Callable[[], None]:
    tie = dies_with_parent(signal.SIGKILL)

    def prepare() -> None:
        tie()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _AWAITED)  # a mask outlives exec

    return prepare


@contextmanager
def _awaited_signals() -> Iterator[None]:
    """Blocks the signals we wait for, so that none is lost between two waits."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _AWAITED)
    try:
        yield
    finally:
        while signal.sigtimedwait(
            _AWAITED, 0
        ):  # an impatient second Ctrl-C must not end us before the caller's own end
            pass
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
