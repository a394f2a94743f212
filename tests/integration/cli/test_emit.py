"""What a sender is told about the org, where the database can be asked."""

from __future__ import annotations

import io
import json
import threading
from pathlib import Path

import pytest

from ops.embedded.valkey import EmbeddedValkey
from tests.fleet import Fleet
from tests.integration.cli.conftest import Cli
from workers.ingest import Reader
from workers.intake import ingest


@pytest.fixture
def log(tmp_path: Path, valkey: EmbeddedValkey, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AFTERWORD_REDIS_PASSWORD_EMITTER", valkey.password("emitter"))
    file = tmp_path / "session.json"
    file.write_text(json.dumps([{"role": "user", "content": "We decided to keep the cache."}]))
    return file


def test_a_sender_is_warned_of_what_would_be_lost(cli: Cli, log: Path) -> None:
    send = ("emit", log, "--org", "acme", "--timeout", "0")
    assert "warning: no org named 'acme'" in cli.ok(*send).err
    cli.ok("org", "create", "acme")
    assert "warning: extraction is off for acme: what is sent now is skipped" in cli.ok(*send).err
    cli.ok("extraction", "enable", "--org", "acme", "--reason", "pilot")
    assert cli.ok(*send).err == ""


def test_a_sender_without_a_login_is_not_warned(cli: Cli, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AFTERWORD_DATABASE_PASSWORD_OPERATOR")
    assert cli.ok("emit", log, "--org", "acme", "--timeout", "0").err == ""


def test_a_hook_asks_no_database(cli: Cli, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hook = {"session_id": "s1", "transcript_path": str(log), "hook_event_name": "SessionEnd"}
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(hook)))
    assert cli.ok("emit", "--hook", "claude-code", "--org", "acme", "--timeout", "0").err == ""


def test_a_rejection_is_said_with_its_reason_and_forgotten_when_it_is_mended(cli: Cli, fleet: Fleet, log: Path) -> None:
    over = threading.Event()

    def consume() -> None:
        reader = Reader(fleet.using.redis, fleet.using.context.limits)
        while not over.is_set():
            if batch := reader.batch():
                rejected = ingest(fleet.using, batch)
                reader.acknowledge(batch, {item.entry.data: item.reason for item in rejected})

    consumer = threading.Thread(target=consume)
    consumer.start()
    try:
        cli.ok("org", "create", "acme")
        send = ("emit", log, "--org", "acme", "--space", "ops")
        said = cli(*send)
        assert (said.code, "rejected as unknown_space" in said.err) == (1, True)
        cli.ok("org", "set", "acme", "--space", "ops:semantic", "--reason", "new")
        assert cli.ok(*send).out != ""
    finally:
        over.set()
        consumer.join()
