"""One database for a whole file, where its cases cannot disturb each other: a clone costs half a second."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ops.embedded.postgres import EmbeddedPostgres
from tests.services import Database, cloned


@pytest.fixture(scope="module")
def shared(postgres: EmbeddedPostgres) -> Iterator[Database]:
    with cloned(postgres) as fresh:
        yield fresh
