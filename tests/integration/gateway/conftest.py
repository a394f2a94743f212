"""The HTTP door over real services, beside a fleet whose stages are run by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from db.tokens import ROLES
from gateway.app import make_app
from gateway.context import Context, Limits
from ops.embedded.valkey import EmbeddedValkey
from tests.fleet import Fleet, WordVectors
from tests.integration.db import rows
from tests.integration.workers.scripted import Echo
from tests.services import Database
from workers.ingest import Reader
from workers.intake import ingest


@dataclass
class Door:
    """A client of one running application, and the tokens of its org."""

    fleet: Fleet
    app: FastAPI
    client: TestClient

    def token(self, role: str = "agent", org: str = "acme", **bearer: Any) -> dict[str, str]:
        """As a header."""
        (found,) = self.fleet.rows("SELECT id FROM orgs WHERE name = %s", org)
        made = rows.token(self.fleet.database, _Org(found["id"]), role, **bearer)  # type: ignore[arg-type]
        return {"Authorization": f"Bearer {made}"}

    def take_in(self) -> int:
        """What ingest does with the stream, until it is empty; how many events there were."""
        using, count = self.fleet.using, 0
        reader = Reader(using.redis, using.context.limits)
        reader.batch()
        while batch := reader.batch():
            refused = {item.entry.data: item.reason for item in ingest(using, batch)}
            reader.acknowledge(batch, refused)
            count += len(batch)
        return count


@dataclass(frozen=True)
class _Org:
    id: int


@pytest.fixture
def fleet(database: Database, valkey: EmbeddedValkey) -> Iterator[Fleet]:
    made = Fleet(database, valkey)
    made.install(extractor=Echo())
    made.database.org("acme")
    yield made
    made.close()


@pytest.fixture
def open_door(fleet: Fleet, tmp_path: Path) -> Iterator[Callable[..., Door]]:
    with ExitStack() as open_:

        def make(**limits: Any) -> Door:
            context = Context(
                databases={role: fleet.database.address(role) for role in ROLES},
                emitter=fleet.valkey.url("emitter"), limiter=fleet.valkey.url("limiter"), embedder=WordVectors,
                spool=tmp_path / "spool", limits=Limits(**limits),
            )  # fmt: skip
            app = make_app(context)
            return Door(fleet, app, open_.enter_context(TestClient(app, raise_server_exceptions=False)))

        yield make


@pytest.fixture
def door(open_door: Callable[..., Door]) -> Door:
    return open_door()
