"""Events this gateway has taken and that are not yet runs: a file each, sent again until ingest has noted them.

Failure handling: a file is on disk before its event is on the stream, and goes once the arrival (or the rejection) is
noted in Redis. A flushed Redis, or a gateway that was killed, costs one more sending; the same event is one run.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import structlog
from redis import Redis
from redis.exceptions import RedisError

from gateway.outbox import Outbox
from workers import metrics
from workers.keys import TAKEN_IN, ack_key

_LOOK_SECONDS = 1.0
_RESEND_CAP_SECONDS = 600.0
_AT_ONCE = 64

log = structlog.get_logger()


class Spool:
    def __init__(self, folder: Path, url: str, outbox: Outbox, resend_seconds: float) -> None:
        self._folder, self._outbox, self._resend_seconds = folder, outbox, resend_seconds
        self._redis = Redis.from_url(url, socket_timeout=5, socket_connect_timeout=2)
        self._tries: dict[str, tuple[int, float]] = {}
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._keep_sending, name="spool", daemon=True)

    def start(self) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()
        self._redis.close()

    def keep(self, events: Sequence[bytes]) -> None:
        """On disk when this returns."""
        for event in events:
            path = self._folder / hashlib.sha256(event).hexdigest()
            writing = path.with_suffix(f".{threading.get_ident()}.writing")
            with open(writing, "wb", opener=_private) as file:
                file.write(event)
                file.flush()
                os.fsync(file.fileno())
            self._tries[path.name] = (0, time.monotonic() + self._resend_seconds)
            writing.rename(path)
        _sync_folder(self._folder)

    def waiting(self) -> int:
        """How many are not known to be runs."""
        return sum(1 for _ in self._files())

    def look(self) -> None:
        """One round: let go of what ingest has noted, send the rest again when its time has come."""
        due = []
        for path in list(self._files()):
            with suppress(FileNotFoundError):
                event = path.read_bytes()
                if not self._let_go(path, event) and self._is_due(path.name):
                    due.append(event)
            if len(due) == _AT_ONCE:
                self._outbox.put(due).result()
                due = []
        if due:
            self._outbox.put(due).result()
        metrics.SPOOLED.set(self.waiting())

    def _let_go(self, path: Path, event: bytes) -> bool:
        noted = self._redis.get(ack_key(event))
        if noted is None:
            return False
        if noted != TAKEN_IN.encode():
            log.warning("event_rejected", event=path.name, reason=bytes(noted).decode())  # type: ignore[arg-type]
        path.unlink(missing_ok=True)
        self._tries.pop(path.name, None)
        return True

    def _is_due(self, name: str) -> bool:
        """What an earlier life of this gateway left is due at once; then later each time."""
        tries, at = self._tries.get(name, (0, 0.0))
        if time.monotonic() < at:
            return False
        pause = min(_RESEND_CAP_SECONDS, self._resend_seconds * 2.0 ** min(tries, 16))
        self._tries[name] = (tries + 1, time.monotonic() + pause)
        return True

    def _files(self) -> Iterator[Path]:
        return (path for path in self._folder.iterdir() if not path.suffix)

    def _keep_sending(self) -> None:
        while not self._stopping.wait(_LOOK_SECONDS):
            try:
                self.look()
            except (RedisError, OSError) as error:
                log.warning("spool_waits", error=type(error).__name__)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
