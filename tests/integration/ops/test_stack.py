"""The embedded servers of a home are kept up: whoever started them, whatever ended them."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import psycopg
import pytest
from redis import Redis

from ops.embedded.postgres import EmbeddedPostgres
from ops.embedded.valkey import EmbeddedValkey
from ops.processes import has_ended
from ops.settings import Settings
from ops.stack import services


@pytest.fixture
def settings(home: Path, postgres: EmbeddedPostgres, valkey: EmbeddedValkey) -> Settings:
    return Settings(home=home)


def pids(*servers: EmbeddedPostgres | EmbeddedValkey) -> list[int]:
    return [pid for server in servers if (pid := server.pid()) is not None]


def assert_both_answer(postgres: EmbeddedPostgres, valkey: EmbeddedValkey) -> None:
    with psycopg.connect(postgres.url()) as conn:
        assert conn.execute("SELECT 1").fetchone() == (1,)
    with Redis.from_url(valkey.url("worker")) as redis:
        assert redis.ping()


def test_killed_servers_are_started_again(
    settings: Settings, postgres: EmbeddedPostgres, valkey: EmbeddedValkey
) -> None:
    with services(settings) as revive:
        before = pids(postgres, valkey)
        for pid in before:
            os.kill(pid, signal.SIGKILL)
            assert has_ended(pid, 10)
        revive()
        after = pids(postgres, valkey)
        assert len(after) == 2
        assert not set(after) & set(before)
        assert_both_answer(postgres, valkey)
        revive()
        assert pids(postgres, valkey) == after
    assert pids(postgres, valkey) == []


def test_servers_that_another_process_stopped_are_taken_over(
    settings: Settings, postgres: EmbeddedPostgres, valkey: EmbeddedValkey
) -> None:
    with services(settings), services(settings) as revive:
        valkey.stop()
        postgres.stop()
        revive()
        assert_both_answer(postgres, valkey)


def test_what_was_running_is_left_running(
    settings: Settings, postgres: EmbeddedPostgres, valkey: EmbeddedValkey
) -> None:
    with services(settings):
        with services(settings):
            pass
        assert_both_answer(postgres, valkey)


def test_a_server_started_while_signals_are_blocked_hears_them(settings: Settings, valkey: EmbeddedValkey) -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT, signal.SIGCHLD})
    try:
        valkey.start(die_with_parent=True)
        started = time.monotonic()
        valkey.stop()
        assert time.monotonic() - started < 10  # seconds; it is killed after thirty
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def test_a_server_that_does_not_start_is_left_for_the_next_look(
    settings: Settings, postgres: EmbeddedPostgres, valkey: EmbeddedValkey, monkeypatch: pytest.MonkeyPatch
) -> None:
    with services(settings) as revive:
        postgres.stop()
        with monkeypatch.context() as patch:
            patch.setattr("ops.embedded.postgres.postgres_binaries", lambda _: Path("/nowhere"))
            revive()
        assert postgres.pid() is None
        revive()
        assert_both_answer(postgres, valkey)
