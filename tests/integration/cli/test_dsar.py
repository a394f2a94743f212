"""A person's rights: the scanner sees them in every store before, and nowhere after, whatever happened on the way."""

from __future__ import annotations

from pathlib import Path

import pytest
from redis import Redis

from tests.fleet import Fleet
from tests.integration.cli.conftest import Cli
from tests.integration.cli.planted import ASKED, OTHER, VALUES, plant
from tests.integration.db import rows
from tests.scanning import find, in_logs, in_postgres, in_redis

FORGET = ("dsar", "forget", "--org", "acme", *ASKED, "--reason", "request 2026-114")
STORES = {"memories", "embeddings", "reviews", "drops", "payloads", "transcripts", "envelopes", "runs",
          "rejected_events", "tokens", "stream", "redis_keys"}  # fmt: skip


@pytest.fixture
def register(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "witness"
    monkeypatch.setenv("AFTERWORD_WITNESS_DIR", str(folder))
    return folder


def seen(fleet: Fleet, *logs: str) -> dict[str, set[str]]:
    with Redis.from_url(fleet.valkey.url("admin")) as redis:
        places = [*in_postgres(fleet.database), *in_redis(redis), *(p for text in logs for p in in_logs(text))]
    return find(VALUES, places)


def stores_of(places: dict[str, set[str]]) -> set[str]:
    named = {"redis afterword:sessions": "stream", "redis rq:*": "redis_keys"}
    return {named.get(place, place.partition(".")[0]) for place in places}


def test_the_scan_hits_every_store_before_and_none_after(
    cli: Cli, fleet: Fleet, register: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(cli, fleet, "acme")
    with rows.as_admin(fleet.database) as conn:
        conn.execute("ANALYZE")
    assert stores_of(seen(fleet)) == STORES - {"embeddings"}
    held = cli.json("dsar", "held", "--org", "acme", *ASKED)
    assert held["stores"].keys() == STORES
    dry = cli.json(*FORGET, "--dry-run")
    assert dry["stores"] == held["stores"]
    assert stores_of(seen(fleet)) == STORES - {"embeddings"}
    receipt = cli.json(*FORGET, "--yes")
    assert receipt["stores"].keys() == STORES | {"run_subjects"}
    assert receipt["kept"] == []
    assert receipt["append_only_file_rewritten"] is True
    with rows.as_admin(fleet.database) as conn:
        conn.execute("ANALYZE")
    fleet.run()
    assert seen(fleet, caplog.text, *(file.read_text() for file in register.iterdir())) == {}
    assert cli.json("dsar", "held", "--org", "acme", *ASKED)["stores"] == {}
    monkeypatch.delenv("AFTERWORD_WITNESS_DIR")
    cli.ok("ledger", "verify")
    assert fleet.rows("SELECT status FROM memories WHERE content = %s", OTHER) == [{"status": "active"}]
    assert fleet.rows("SELECT state, count(*) AS n FROM runs WHERE due_at IS NOT NULL GROUP BY 1") == []
