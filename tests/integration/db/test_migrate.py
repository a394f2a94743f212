"""Migrations: applied once, checked by checksum, owned by nobody powerful."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import psycopg
import pytest

from db.migrate import FOLDER, LOGINS, migrate, migrations
from ops.embedded.binaries import postgres_binaries
from pipeline.errors import SettingError
from tests.services import Database

SCHEMA = FOLDER / "schema.sql"


def passwords(database: Database) -> dict[str, str]:
    return {login: database.server.password(f"afterword_{login}") for login in LOGINS}


def dump(database: Database, name: str) -> str:
    """The schema as pg_dump writes it, without its random \\restrict lines."""
    program = postgres_binaries(database.server._home) / "pg_dump"
    command = [program, "--schema-only", "--schema=afterword", f"--dbname={database.server.url(name)}"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return "\n".join(line for line in text.splitlines() if line and not line.startswith(("--", "\\"))) + "\n"


def test_a_second_migration_applies_nothing(database: Database) -> None:
    assert migrate(database.admin, passwords(database)) == []


def test_an_edited_migration_is_refused(database: Database, tmp_path: Path) -> None:
    for file in FOLDER.glob("0*.sql"):
        shutil.copy(file, tmp_path)
    (tmp_path / "0001_orgs_and_ledger.sql").write_text("-- edited")
    with pytest.raises(SettingError, match="changed after it was applied"):
        migrate(database.admin, passwords(database), tmp_path)


def test_a_number_that_stands_twice_is_refused(tmp_path: Path) -> None:
    for name in ("0001_a.sql", "0001_b.sql"):
        (tmp_path / name).write_text("SELECT 1")
    with pytest.raises(SettingError, match="without gap or repeat"):
        migrations(tmp_path)


def test_a_newer_database_is_refused(database: Database, tmp_path: Path) -> None:
    shutil.copy(sorted(FOLDER.glob("0*.sql"))[0], tmp_path)
    with pytest.raises(SettingError, match="newer than this release"):
        migrate(database.admin, passwords(database), tmp_path)


def test_schema_file_equals_migrations(database: Database) -> None:
    """AFTERWORD_WRITE_SCHEMA=1 writes the file anew from the migrations."""
    with psycopg.connect(database.server.url(), autocommit=True) as conn:
        conn.execute("CREATE DATABASE from_schema")
        conn.execute("CREATE DATABASE from_migrations")
        try:
            migrate(database.server.url("from_migrations"), passwords(database))
            if os.environ.get("AFTERWORD_WRITE_SCHEMA"):
                SCHEMA.write_text(dump(database, "from_migrations"))
            with psycopg.connect(database.server.url("from_schema"), autocommit=True) as fresh:
                fresh.execute("CREATE EXTENSION vector SCHEMA public; CREATE EXTENSION btree_gin SCHEMA public")
                fresh.execute("SELECT '[1]'::public.vector")
                fresh.execute(SCHEMA.read_text().encode())
            assert dump(database, "from_schema") == dump(database, "from_migrations")
        finally:
            conn.execute("DROP DATABASE from_schema WITH (FORCE)")
            conn.execute("DROP DATABASE from_migrations WITH (FORCE)")


def test_no_object_belongs_to_a_superuser(database: Database) -> None:
    with psycopg.connect(database.admin) as conn:
        rows = conn.execute(
            """
            SELECT c.relname, r.rolname FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner
            WHERE c.relnamespace = 'afterword'::regnamespace AND (r.rolsuper OR r.rolbypassrls OR r.rolcanlogin)
            UNION ALL
            SELECT p.proname, r.rolname FROM pg_proc p JOIN pg_roles r ON r.oid = p.proowner
            WHERE p.pronamespace = 'afterword'::regnamespace AND (r.rolsuper OR r.rolbypassrls OR r.rolcanlogin)
            """
        ).fetchall()
    assert rows == []


def test_login_roles_are_members_of_nothing(database: Database) -> None:
    with psycopg.connect(database.admin) as conn:
        rows = conn.execute(
            "SELECT m.roleid FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.member WHERE r.rolname = ANY (%s)",
            ([f"afterword_{login}" for login in LOGINS],),
        ).fetchall()
    assert rows == []
