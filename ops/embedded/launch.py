"""Starting an embedded server: its account, its log, and the folders it gets as open descriptors."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ops.embedded.home import SERVER_UID


def spawn(
    binary: Path,
    options: Sequence[str],
    log: Path,
    *,
    keep: Sequence[int],
    uid: int = SERVER_UID,
    cwd: Path = Path("/"),
    tie: Callable[[], None] | None = None,
) -> subprocess.Popen[bytes]:
    """Runs a server's binary with `keep` descriptors open; as root, under `uid` without groups. Both outputs to `log`.

    The child enters `cwd` before it changes account, so the way there may be closed to that account.
    """
    account = uid if os.geteuid() == 0 else None
    with log.open("ab") as out:
        return subprocess.Popen(
            [str(binary), *options],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            cwd=cwd,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},  # our own environment may hold secrets
            pass_fds=keep,
            start_new_session=True,  # a Ctrl-C at the terminal is for the supervisor, which stops us in order
            preexec_fn=_prepare(tie),
            user=account,
            group=account,
            extra_groups=None if account is None else [],
        )


def _prepare(tie: Callable[[], None] | None) -> Callable[[], None]:
    def prepare() -> None:
        if tie is not None:
            tie()
        signal.pthread_sigmask(
            signal.SIG_SETMASK, []
        )  # the supervisor blocks what stops a server, and masks outlive exec

    return prepare


@contextmanager
def descriptors(*folders: Path) -> Iterator[list[int]]:
    """Open descriptors of folders, for a child that may not walk the path to them."""
    opened = [os.open(folder, os.O_RDONLY | os.O_DIRECTORY) for folder in folders]
    try:
        yield opened
    finally:
        for descriptor in opened:
            os.close(descriptor)
