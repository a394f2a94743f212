"""The servers of one benchmark: durable, in a home of their own; a fresh database for each side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from redis import Redis

from db import orgs as org_store
from db.connect import connect
from db.migrate import LOGINS, create_database, migrate, register_stamp
from ops.embedded.postgres import EmbeddedPostgres
from ops.embedded.valkey import EmbeddedValkey
from pipeline.embedding.port import Stamp
from pipeline.org import OrgSettings
from tests.benchmarks import store
from tests.benchmarks.recording import STAMP
from tests.services import TEMPLATE, Database, cloned

STORE_ORGS = 400


@dataclass(frozen=True)
class Site:
    """Servers and the folder of the recording."""

    home: Path
    postgres: EmbeddedPostgres
    valkey: EmbeddedValkey

    @contextmanager
    def database(self) -> Iterator[Database]:
        """A database with the orgs and the store, its pages written out; Redis empty."""
        with Redis.from_url(self.valkey.url("admin")) as redis:
            redis.flushall()
        with cloned(self.postgres) as database:
            with connect(database.admin) as conn:
                conn.execute("CHECKPOINT")
            yield database

    def index_all(self) -> None:
        """From here on every vector of a database enters the HNSW index, and those of the store are in it."""
        store.index_all(Database(self.postgres, TEMPLATE))


@contextmanager
def opened(
    home: Path, orgs: Sequence[str], *, stored: int = 0, org_runs_max: int = 1_000, stamp: Stamp = STAMP
) -> Iterator[Site]:
    """Start both servers as they are shipped, and make the template every database is cloned from."""
    postgres, valkey = EmbeddedPostgres(home), EmbeddedValkey(home)
    try:
        postgres.start(die_with_parent=True)
        valkey.start(die_with_parent=True)
        create_database(postgres.url(), TEMPLATE)
        migrate(postgres.url(TEMPLATE), {login: postgres.password(f"afterword_{login}") for login in LOGINS})
        register_stamp(postgres.url(TEMPLATE), stamp)
        _create_orgs(Database(postgres, TEMPLATE), orgs)
        store.fill(Database(postgres, TEMPLATE), stored, orgs=STORE_ORGS, org_runs_max=org_runs_max)
        yield Site(home, postgres, valkey)
    finally:
        valkey.stop()
        postgres.stop()


def _create_orgs(database: Database, names: Sequence[str]) -> None:
    """Extraction on; nothing required that no shipped detector covers."""
    settings = OrgSettings(extraction=True, required_classes=frozenset())
    with database.as_role("operator") as conn:
        for name in names:
            org_store.create(conn, name, actor="benchmark")
            org_store.change(conn, org_store.get(conn, name), settings, actor="benchmark", reason="benchmark")
