"""Roles and migrations: forward only, each with a checksum, one migrator at a time.

The migrator is the one caller that takes on the owner's role; no process that serves anyone does.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, LiteralString

import psycopg
from psycopg import sql

from db.sql import query
from pipeline.embedding.calibration import SHIPPED
from pipeline.embedding.port import Stamp
from pipeline.errors import SettingError

FOLDER = Path(__file__).parent / "migrations"
LOGINS = ("agent", "reviewer", "operator", "worker")
OLDEST_SERVER = 18_00_00
_LOCK = 0x61667465  # 'afte': one migrator a database
_FILE = re.compile(r"(\d{4})_\w+\.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    version: int
    name: str
    body: LiteralString

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.body.encode()).hexdigest()


def migrations(folder: Path = FOLDER) -> list[Migration]:
    """All files in order. Raises SettingError for a number that stands twice or a gap."""
    found = [
        Migration(int(match[1]), path.stem, path.read_text(encoding="utf-8"))
        for path in sorted(folder.glob("*.sql"))
        if (match := _FILE.fullmatch(path.name))
    ]
    if [m.version for m in found] != list(range(1, len(found) + 1)):
        raise SettingError(f"migration numbers must run from 1 without gap or repeat: {[m.name for m in found]}")
    return found


def migrate(admin: str, passwords: Mapping[str, str], folder: Path = FOLDER) -> list[str]:
    """Bring a database to this release; returns the names of what was applied. `admin` may create roles."""
    with psycopg.connect(admin, autocommit=True, connect_timeout=10) as conn:
        if conn.info.server_version < OLDEST_SERVER:
            raise SettingError(f"Postgres 18 or newer is needed; this server is {conn.info.server_version // 10_000}")
        conn.execute("SELECT pg_advisory_lock(%s)", (_LOCK,))
        _prepare(conn, passwords)
        conn.execute("SET ROLE afterword_owner")
        return _apply_missing(conn, migrations(folder))


def _prepare(conn: psycopg.Connection, passwords: Mapping[str, str]) -> None:
    with conn.transaction():
        conn.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        conn.execute(query("setup.roles"))
        for login in LOGINS:
            if password := passwords.get(login):
                role = sql.Identifier(f"afterword_{login}")
                conn.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(role, sql.Literal(password)))
        conn.execute(query("setup.database"))
        conn.execute(query("setup.closed"))
        database = sql.Identifier(conn.info.dbname)
        conn.execute(sql.SQL("ALTER DATABASE {} SET search_path = afterword, public").format(database))
        conn.execute("SET search_path = afterword, public")


def _apply_missing(conn: psycopg.Connection, wanted: list[Migration]) -> list[str]:
    done: dict[int, str] = dict(conn.execute("SELECT version, checksum FROM migrations").fetchall())
    applied = []
    for migration in wanted:
        if (checksum := done.get(migration.version)) is None:
            _apply(conn, migration)
            applied.append(migration.name)
        elif checksum != migration.checksum:
            raise SettingError(
                f"migration {migration.name} was changed after it was applied; restore the file and add a new migration"
            )
    if newer := sorted(set(done) - {m.version for m in wanted}):
        raise SettingError(f"the database is at migration {newer[-1]}, newer than this release; upgrade afterword")
    return applied


def _apply(conn: psycopg.Connection, migration: Migration) -> None:
    with conn.transaction():
        conn.execute(migration.body)
        conn.execute(
            "INSERT INTO migrations (version, name, checksum) VALUES (%s, %s, %s)",
            (migration.version, migration.name, migration.checksum),
        )


Storage = Literal["vector", "halfvec"]


def register_stamp(admin: str, stamp: Stamp, storage: Storage | None = None) -> int:
    """Make the table of an embedding space as its owner; returns the stamp's number. Harmless when repeated.

    `storage`: in single or half precision; None takes half above 2,000 dimensions. Raises SettingError where the space
    is there and stored otherwise.
    """
    with psycopg.connect(admin, autocommit=True, connect_timeout=10) as conn:
        conn.execute("SET ROLE afterword_owner")
        try:
            row = conn.execute(
                "SELECT afterword.register_stamp(%s, %s, %s, %s, %s)",
                (stamp.provider, stamp.model, stamp.revision, stamp.dimension, storage),
            ).fetchone()
        except psycopg.errors.ObjectNotInPrerequisiteState as error:
            raise SettingError(f"{error.diag.message_primary}; another revision makes another space") from None
        assert row is not None
        for known in SHIPPED.get(stamp, ()):
            conn.execute(query("setup.shipped_calibration"), {"stamp": row[0], **asdict(known)})
        return int(row[0])


def create_database(admin: str, name: str) -> bool:
    """Create an empty database on a server of our own; False when it is there."""
    with psycopg.connect(admin, autocommit=True, connect_timeout=10) as conn:
        if conn.execute("SELECT FROM pg_database WHERE datname = %s", (name,)).fetchone() is not None:
            return False
        conn.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    return True
