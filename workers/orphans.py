"""Linux: a child that does not outlive its parent, whatever kills the parent."""

from __future__ import annotations

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


def die_with_parent(parent: int, sig: signal.Signals = signal.SIGKILL) -> None:
    """Call in the child: the kernel sends `sig` when the thread that started it ends."""
    _libc.prctl(_PR_SET_PDEATHSIG, int(sig), 0, 0, 0)
    if os.getppid() != parent:  # it died before the setting took hold, so no signal will come
        os._exit(1)
