"""AFTERWORD_HOME on disk: folders, generated passwords, locks, and the account the servers run under."""

from __future__ import annotations

import fcntl
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.errors import SettingError

# Postgres refuses to run as root. The number lies in the range Debian policy keeps reserved (65000-65533) and outside
# systemd's dynamic users (61184-65519), so no other service shares it, which `nobody` could not promise.
SERVER_UID = 65_530
# initdb alone insists on an account that has a name; what it makes is handed over before it is used.
NAMED_UID = 65_534
# sun_path holds 108 bytes with its NUL; the longest name that goes into the folder is Postgres' socket.
_SOCKET_PATH_BYTES_MAX = 107
_LONGEST_SOCKET_NAME = "/.s.PGSQL.5432"


def server_uid() -> int:
    """The user id of the embedded servers: our own, or an unprivileged one when we are root."""
    return os.geteuid() or SERVER_UID


class Home:
    """The folders under AFTERWORD_HOME, made on demand. Nothing outside it is changed."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()

    def folder(self, name: str, *, for_servers: bool = False) -> Path:
        """A 0700 folder of that name, owned by the servers' account if it is for them. Raises SettingError."""
        self._make_home()
        folder = self.path / name
        folder.mkdir(mode=0o700, exist_ok=True)
        if for_servers:
            give_to_servers(folder)
        return folder

    def _make_home(self) -> None:
        # 0711 lets the servers' account pass through to its binaries; every folder inside is 0700.
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o711)
        except OSError as error:
            raise SettingError(f"AFTERWORD_HOME is {self.path}, which cannot be made: {error.strerror}") from None

    def run_folder(self) -> Path:
        """The 0700 folder of the sockets.

        A long AFTERWORD_HOME would make socket paths that no client can open; then it is a short folder made by mkdtemp
        and named in `run.path`, so that every process of this home finds the same one.
        """
        folder = self.path / "run"
        if len(os.fsencode(str(folder) + _LONGEST_SOCKET_NAME)) <= _SOCKET_PATH_BYTES_MAX:
            return self.folder("run", for_servers=True)
        return self._short_run_folder()

    def _short_run_folder(self) -> Path:
        self._make_home()
        record = self.path / "run.path"
        with self.lock("run"):
            known = Path(record.read_text()) if record.exists() else None
            if known is not None and _is_private(known):
                return known
            fresh = Path(tempfile.mkdtemp(prefix="afterword-", dir="/tmp"))
            give_to_servers(fresh)
            write_private(record, str(fresh))
            return fresh

    def password(self, name: str) -> str:
        """The password in secrets/<name>, generated (256 bits) the first time."""
        file = self.folder("secrets") / name
        with self.lock("secrets"):
            if not file.exists():
                write_private(file, secrets.token_urlsafe(32))
        return file.read_text()

    @contextmanager
    def only(self, name: str) -> Iterator[bool]:
        """Whether we are the one process that has `name` of this home, for as long as the block runs."""
        self._make_home()
        descriptor = os.open(self.path / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
        finally:
            os.close(descriptor)

    @contextmanager
    def lock(self, name: str) -> Iterator[None]:
        """Held by one process at a time; the kernel lets go of it when the holder dies."""
        self._make_home()
        descriptor = os.open(self.path / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def give_to_servers(path: Path) -> None:
    """Hands a file or folder to the servers' account; without effect unless we are root."""
    if os.geteuid() == 0:
        os.chown(path, SERVER_UID, SERVER_UID, follow_symlinks=False)


def give_tree_to_servers(folder: Path) -> None:
    """The same for a folder and all it holds."""
    for where, folders, files in os.walk(folder):
        for name in [".", *folders, *files]:
            give_to_servers(Path(where, name))


def write_private(file: Path, text: str) -> None:
    """Writes a 0600 file whole or not at all."""
    descriptor, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    with os.fdopen(descriptor, "w") as out:
        out.write(text)
    Path(temporary).replace(file)


def _is_private(folder: Path) -> bool:
    """Whether a folder in a shared place is still the one we made: no link, our owner, closed to others."""
    try:
        found = folder.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == server_uid() and stat.S_IMODE(found.st_mode) == 0o700
