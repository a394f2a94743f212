from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from ops.embedded.postgres import EmbeddedPostgres, PostgresDown
from ops.processes import has_ended

STARTER = """
import signal, sys
from pathlib import Path
from ops.embedded.postgres import EmbeddedPostgres
server = EmbeddedPostgres(Path(sys.argv[1]))
server.start(die_with_parent=True, fast=True)
print(server.pid(), flush=True)
signal.pause()
"""


def ask(server: EmbeddedPostgres, question: str, **who: str) -> object:
    with psycopg.connect(server.url(**who), autocommit=True) as connection:
        cursor = connection.execute(question)
        row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None


def starter(home: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", STARTER, str(home)], stdout=subprocess.PIPE, text=True)


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def test_data_outlives_a_stop_and_a_second_stop_does_nothing(postgres: EmbeddedPostgres) -> None:
    postgres.start(fast=True)
    ask(postgres, "CREATE TABLE kept AS SELECT 7 AS n")
    postgres.stop()
    postgres.stop()
    assert postgres.pid() is None
    postgres.start(fast=True)
    assert ask(postgres, "SELECT n FROM kept") == 7


def test_vectors_can_be_stored(postgres: EmbeddedPostgres) -> None:
    postgres.start(fast=True)
    ask(postgres, "CREATE EXTENSION vector")
    assert ask(postgres, "SELECT '[3,4]'::vector <-> '[0,0]'::vector") == 5.0


@pytest.mark.parametrize(
    ("option", "durable", "fast"),
    [
        ("listen_addresses", "", ""),
        ("fsync", "on", "off"),
        ("synchronous_commit", "on", "off"),
        ("full_page_writes", "on", "off"),
        ("password_encryption", "scram-sha-256", "scram-sha-256"),
        ("log_min_error_statement", "panic", "panic"),
    ],
)
@pytest.mark.parametrize("is_fast", [False, True])
def test_options(shared: dict[bool, dict[str, str]], option: str, durable: str, fast: str, is_fast: bool) -> None:
    assert shared[is_fast][option] == (fast if is_fast else durable)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, dict[str, str]]:
    """Every option of a durable and of a fast start of one home."""
    server = EmbeddedPostgres(tmp_path_factory.mktemp("options"))
    options = {}
    for is_fast in (False, True):
        server.start(die_with_parent=True, fast=is_fast)
        try:
            with psycopg.connect(server.url()) as connection:
                options[is_fast] = dict(connection.execute("SELECT name, setting FROM pg_settings").fetchall())
        finally:
            server.stop()
    return options


def test_a_running_server_is_shared(postgres: EmbeddedPostgres, home: Path) -> None:
    postgres.start(fast=True)
    other = EmbeddedPostgres(home)
    other.start(fast=True)
    assert other.pid() == postgres.pid()
    other.stop()
    assert postgres.pid() is None


def test_two_processes_that_start_at_once_find_one_server(postgres: EmbeddedPostgres, home: Path) -> None:
    starters = [starter(home), starter(home)]
    try:
        pids = {process.stdout.readline() for process in starters if process.stdout}
        assert pids == {f"{postgres.pid()}\n"}
    finally:
        for process in starters:
            kill(process)


def test_a_killed_parent_leaves_no_server(postgres: EmbeddedPostgres, home: Path) -> None:
    parent = starter(home)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert not has_ended(pid, 0)
    kill(parent)
    assert has_ended(pid, 20)
    assert postgres.pid() is None


def test_a_killed_server_is_started_again(postgres: EmbeddedPostgres) -> None:
    postgres.start()
    ask(postgres, "CREATE TABLE kept AS SELECT 7 AS n")
    pid = postgres.pid()
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert has_ended(pid, 10)
    postgres.start()
    assert postgres.pid() != pid
    assert ask(postgres, "SELECT n FROM kept") == 7


def test_a_reused_process_id_is_not_taken_for_the_server(postgres: EmbeddedPostgres, home: Path) -> None:
    postgres.start(fast=True)
    postgres.stop()
    (home / "postgres" / "postmaster.pid").write_text(f"{os.getpid()}\n")
    assert postgres.pid() is None
    postgres.stop()  # were it taken for ours, this would interrupt the test


def test_only_the_bootstrap_user_comes_in_without_a_password(postgres: EmbeddedPostgres) -> None:
    postgres.start(fast=True)
    password = postgres.password("afterword_worker")
    ask(postgres, f"CREATE ROLE afterword_worker LOGIN PASSWORD '{password}'")
    assert ask(postgres, "SELECT session_user::text", user="afterword_worker", password=password) == "afterword_worker"
    for wrong in ({}, {"password": "guess"}):
        with pytest.raises(psycopg.OperationalError, match="password"):
            ask(postgres, "SELECT 1", user="afterword_worker", **wrong)
    assert "scram" in str(ask(postgres, "SELECT rolpassword FROM pg_authid WHERE rolname = 'afterword_worker'")).lower()


def test_what_a_statement_holds_stays_out_of_the_servers_log(postgres: EmbeddedPostgres, home: Path) -> None:
    postgres.start(fast=True)
    ask(postgres, "CREATE TABLE once (word text PRIMARY KEY)")
    ask(postgres, "INSERT INTO once VALUES ('marzipan')")
    with pytest.raises(psycopg.errors.UniqueViolation):
        ask(postgres, "INSERT INTO once VALUES ('marzipan')")
    said = (home / "log" / "postgres.log").read_text()
    assert "once_pkey" in said
    assert "marzipan" not in said


@pytest.mark.parametrize(
    ("path", "mode"),
    [
        ("postgres", 0o700),
        ("run", 0o700),
        ("run/.s.PGSQL.5432", 0o700),
        ("secrets", 0o700),
        ("secrets/afterword_agent", 0o600),
        ("log", 0o700),
    ],
)
def test_permissions(home_of_a_run: Path, path: str, mode: int) -> None:
    assert oct(stat.S_IMODE((home_of_a_run / path).stat().st_mode)) == oct(mode)


@pytest.fixture
def home_of_a_run(short_home: Path) -> Path:
    return short_home


@pytest.fixture(scope="module")
def short_home(tmp_path_factory: pytest.TempPathFactory):
    home = tmp_path_factory.mktemp("h")
    before = [(parent, parent.stat().st_mode, parent.stat().st_uid) for parent in home.parents]
    server = EmbeddedPostgres(home)
    server.start(die_with_parent=True, fast=True)
    server.password("afterword_agent")
    yield home
    server.stop()
    assert [(parent, parent.stat().st_mode, parent.stat().st_uid) for parent in home.parents] == before


def test_a_home_too_deep_for_a_socket_gets_a_short_folder(tmp_path: Path) -> None:
    home = tmp_path / ("deep" * 30)
    server = EmbeddedPostgres(home)
    server.start(die_with_parent=True, fast=True)
    try:
        assert ask(server, "SELECT 1") == 1
        folder = server.socket_folder
        assert folder == EmbeddedPostgres(home).socket_folder == Path((home / "run.path").read_text())
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    finally:
        server.stop()
        server.socket_folder.rmdir()


def test_a_start_that_fails_says_where_to_look(postgres: EmbeddedPostgres, home: Path) -> None:
    postgres.start(fast=True)
    postgres.stop()
    (home / "postgres" / "PG_VERSION").write_text("9\n")
    with pytest.raises(PostgresDown, match=r"postgres\.log"):
        postgres.start(fast=True)
    assert postgres.pid() is None


def test_an_initdb_that_was_killed_is_done_again(postgres: EmbeddedPostgres, home: Path) -> None:
    (home / "postgres.partial").mkdir(parents=True)
    (home / "postgres.partial" / "PG_VERSION").write_text("18\n")
    postgres.start(fast=True)
    assert ask(postgres, "SELECT 1") == 1
