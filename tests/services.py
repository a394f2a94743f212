"""Real Postgres and Valkey for tests: one pair a test process, a fresh database a test, cloned from a template."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql

from db import events, orgs
from db.connect import Connection, connect
from db.migrate import LOGINS, migrate, register_stamp
from ops.embedded.postgres import EmbeddedPostgres
from pipeline.embedding.port import Stamp
from pipeline.org import OrgSettings
from pipeline.provenance import EndpointClass

STAMP = Stamp("test", "words", "1", 8)
TEMPLATE = "afterword_template"
_numbers = itertools.count()


@dataclass(frozen=True)
class Database:
    """A migrated database of one test, by role."""

    server: EmbeddedPostgres
    name: str

    def address(self, role: str) -> str:
        return self.server.url(self.name, f"afterword_{role}", self.server.password(f"afterword_{role}"))

    @property
    def admin(self) -> str:
        return self.server.url(self.name)

    @contextmanager
    def as_role(self, role: str) -> Iterator[Connection]:
        with connect(self.address(role)) as conn:
            yield conn

    def org(self, name: str, **settings: object) -> events.Org:
        """An org with extraction on, nothing required and every endpoint admitted, unless said otherwise."""
        wanted = (
            OrgSettings(
                extraction=True, required_classes=frozenset(), endpoint_classes=frozenset(EndpointClass)
            ).model_dump()
            | settings
        )
        with self.as_role("operator") as conn:
            orgs.create(conn, name, actor="test")
            org = orgs.get(conn, name)
            assert orgs.change(conn, org, OrgSettings.model_validate(wanted), actor="test", reason="test")
            return orgs.get(conn, name)


def start_postgres(home: Path) -> EmbeddedPostgres:
    """A server without durability that dies with this process, holding the migrated template."""
    server = EmbeddedPostgres(home)
    server.start(die_with_parent=True, fast=True)
    with psycopg.connect(server.url(), autocommit=True) as conn:
        conn.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(TEMPLATE)))
    migrate(server.url(TEMPLATE), {login: server.password(f"afterword_{login}") for login in LOGINS})
    register_stamp(server.url(TEMPLATE), STAMP)
    return server


@contextmanager
def cloned(server: EmbeddedPostgres) -> Iterator[Database]:
    """A database of its own, dropped afterwards with whatever is still connected."""
    name = f"test_{next(_numbers)}"
    with psycopg.connect(server.url(), autocommit=True) as conn:
        conn.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(TEMPLATE)))
        conn.execute(sql.SQL("ALTER DATABASE {} SET search_path = afterword, public").format(sql.Identifier(name)))
    try:
        yield Database(server, name)
    finally:
        # A connection of its own: the test may have restarted the server.
        with psycopg.connect(server.url(), autocommit=True) as conn:
            conn.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
