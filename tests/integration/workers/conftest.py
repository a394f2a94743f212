"""The fleet over real services: one of its own for each test, or one for a whole file whose cases stand apart."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ops.embedded.postgres import EmbeddedPostgres
from ops.embedded.valkey import EmbeddedValkey
from tests.fleet import Fleet
from tests.services import Database, cloned
from workers.bell import stopping


@pytest.fixture
def fleet(database: Database, valkey: EmbeddedValkey) -> Iterator[Fleet]:
    """Over an empty database: an org is made by the test that needs it."""
    yield from _installed(database, valkey)


@pytest.fixture(scope="module")
def shared(postgres: EmbeddedPostgres, valkey_server: EmbeddedValkey) -> Iterator[Fleet]:
    """One database for a whole file, with the org `acme`."""
    with cloned(postgres) as database:
        database.org("acme")
        yield from _installed(database, valkey_server)


def _installed(database: Database, valkey: EmbeddedValkey) -> Iterator[Fleet]:
    fleet = Fleet(database, valkey)
    fleet.install()
    stopping.clear()
    yield fleet
    fleet.close()
    stopping.clear()
