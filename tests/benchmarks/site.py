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
from pipeline.org import OrgSettings
from tests.benchmarks.recording import STAMP
from tests.services import TEMPLATE, Database, cloned


@dataclass(frozen=True)
class Site:
    """Servers and the folder of the recording."""

    home: Path
    postgres: EmbeddedPostgres
    valkey: EmbeddedValkey

    @contextmanager
    def database(self, *, indexed: bool = False) -> Iterator[Database]:
        """A database with the orgs and nothing else, Redis empty; `indexed`: every vector enters the HNSW index."""
        with Redis.from_url(self.valkey.url("admin")) as redis:
            redis.flushall()
        with cloned(self.postgres) as database:
            if indexed:
                with connect(database.admin) as conn:
                    conn.execute(
                        "INSERT INTO org_search (org_id, stamp, ann) SELECT o.id, s.id, true FROM orgs o, stamps s"
                    )
            with connect(database.admin) as conn:
                conn.execute("CHECKPOINT")
            yield database


@contextmanager
def opened(home: Path, orgs: Sequence[str]) -> Iterator[Site]:
    """Start both servers as they are shipped, and make the template every database is cloned from."""
    postgres, valkey = EmbeddedPostgres(home), EmbeddedValkey(home)
    try:
        postgres.start(die_with_parent=True)
        valkey.start(die_with_parent=True)
        create_database(postgres.url(), TEMPLATE)
        migrate(postgres.url(TEMPLATE), {login: postgres.password(f"afterword_{login}") for login in LOGINS})
        register_stamp(postgres.url(TEMPLATE), STAMP)
        _create_orgs(Database(postgres, TEMPLATE), orgs)
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
