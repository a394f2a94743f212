"""Child processes on Linux: tied to the life of their parent, awaited by process id."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable
from pathlib import Path

from workers.orphans import die_with_parent


def dies_with_parent(sig: signal.Signals) -> Callable[[], None]:
    """A `preexec_fn`: the kernel sends `sig` to the child when the thread that started it ends, even by SIGKILL.

    Start such a child from a thread that lives as long as the process does. Popen calls it after setuid, which would
    clear the setting.
    """
    parent = os.getpid()
    return lambda: die_with_parent(parent, sig)


def has_ended(pid: int, within_seconds: float) -> bool:
    """Waits at most `within_seconds` for a process, a child or not; a zombie has ended."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(max(0.0, within_seconds) * 1000))
    finally:
        os.close(descriptor)


def stop_by_pid(pid: int, *steps: tuple[signal.Signals, float]) -> bool:
    """Sends each (signal, seconds to wait) in turn until the process has ended. False when it outlived them all."""
    for sig, seconds in steps:
        try:
            os.kill(pid, sig)
        except ProcessLookupError:
            return True
        if has_ended(pid, seconds):
            return True
    return False


def working_folder(pid: int) -> str | None:
    """Where a process stands, by its real path; None when it has ended or is not ours to ask."""
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return None


def standing_in(folder: Path) -> list[int]:
    """The processes, of those we may ask, whose working folder is `folder`."""
    real = os.path.realpath(folder)
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit() and working_folder(int(entry)) == real]
