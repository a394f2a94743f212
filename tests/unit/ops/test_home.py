from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ops.embedded.binaries import can_reach
from ops.embedded.home import Home, server_uid

SOCKET = "/.s.PGSQL.5432"
STRANGER = 60_001


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path / ("deep" * 30))
    yield home
    shutil.rmtree((home.path / "run.path").read_text(), ignore_errors=True)


@pytest.mark.parametrize(("socket_bytes", "is_inside"), [(106, True), (107, True), (108, False), (300, False)])
def test_a_socket_path_never_passes_107_bytes(socket_bytes: int, is_inside: bool) -> None:
    base = Path(f"/tmp/afterword-test-{os.getpid()}")
    try:
        missing = socket_bytes - len(f"{base}//run{SOCKET}")
        home = Home(base.joinpath(*_names(missing)))
        assert len(f"{home.path}/run{SOCKET}") == socket_bytes
        folder = home.run_folder()
        assert folder.is_relative_to(home.path) == is_inside
        assert len(os.fsencode(f"{folder}{SOCKET}")) <= 107
        if not is_inside:
            folder.rmdir()
    finally:
        shutil.rmtree(base, ignore_errors=True)


def _names(length: int) -> list[str]:
    """Folder names that make a path of that many bytes; one name holds at most 255."""
    return ["h" * length] if length < 200 else ["h" * 99, "h" * (length - 100)]


def test_the_short_folder_is_found_again(deep: Home) -> None:
    assert deep.run_folder() == Home(deep.path).run_folder()


def loosen(folder: Path) -> None:
    folder.chmod(0o755)


def replace_by_link(folder: Path) -> None:
    folder.rmdir()
    folder.symlink_to("/tmp")


@pytest.mark.parametrize("tamper", [Path.rmdir, loosen, replace_by_link])
def test_a_short_folder_that_is_gone_or_not_ours_is_not_used(deep: Home, tamper: Callable[[Path], None]) -> None:
    before = deep.run_folder()
    tamper(before)
    try:
        after = deep.run_folder()
        assert after != before
        assert stat.S_IMODE(after.stat().st_mode) == 0o700
        assert after.stat().st_uid == server_uid()
    finally:
        if before.is_symlink():
            before.unlink()
        else:
            shutil.rmtree(before, ignore_errors=True)


def test_a_password_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    assert home.password("worker") == Home(home.path).password("worker") != home.password("agent")
    assert len(home.password("worker")) >= 43  # 256 bits
    for path, mode in [(".", 0o711), ("secrets", 0o700), ("secrets/worker", 0o600)]:
        assert stat.S_IMODE((home.path / path).stat().st_mode) == mode


def test_a_home_that_exists_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    Home(tmp_path).password("worker")
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o750


@pytest.mark.parametrize(
    ("folder_mode", "file_mode", "reachable"),
    [(0o755, 0o755, True), (0o711, 0o755, True), (0o700, 0o755, False), (0o755, 0o750, False), (0o755, 0o744, False)],
)
def test_a_stranger_reaches_what_every_folder_lets_through(folder_mode: int, file_mode: int, reachable: bool) -> None:
    base = Path(f"/tmp/afterword-reach-{os.getpid()}")
    try:
        base.mkdir(mode=0o755)
        file = base / "folder" / "binary"
        file.parent.mkdir()
        file.touch()
        file.chmod(file_mode)
        file.parent.chmod(folder_mode)
        assert can_reach(file, STRANGER) == reachable
    finally:
        shutil.rmtree(base)


def test_one_process_has_a_name_at_a_time(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    with home.only("up") as first, home.only("up") as second:
        assert (first, second) == (True, False)
    with home.only("up") as again:
        assert again
