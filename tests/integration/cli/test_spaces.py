"""Another embedding space takes over under traffic: nothing that was found by vector is lost on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence

import pytest

from db import spaces
from pipeline.embedding.port import Vectors
from pipeline.errors import ModelUnavailable
from tests.doubles import embedding_server
from tests.doubles.embedding_server import EmbeddingServer
from tests.fleet import Fleet, WordVectors, event
from tests.integration.cli.conftest import Cli
from tests.integration.cli.test_embed import choose
from tests.integration.cli.test_recall import Elsewhere
from tests.integration.db import rows
from tests.integration.workers.scripted import Echo
from tests.waiting import wait_for

SWITCH = ("embed", "switch", "--to", 2, "--reason", "a better model")


def said(fleet: Fleet, *numbers: int) -> None:
    fleet.ingest(*(event(f"Shelf number {n} of the depot is empty.", session=f"s{n}") for n in numbers))
    fleet.run()


def held(fleet: Fleet, stamp: int) -> int:
    return int(fleet.rows(f"SELECT count(*) AS n FROM embeddings_{stamp}")[0]["n"])


@pytest.fixture
def beside(cli: Cli, fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> Fleet:
    """Ten memories in space 1, and an empty space 2."""
    fleet.install(extractor=Echo())
    said(fleet, *range(10))
    choose(monkeypatch, Elsewhere)
    cli.ok("embed", "register")
    return fleet


def test_a_space_is_filled_switched_to_and_the_old_one_dropped(cli: Cli, beside: Fleet) -> None:
    assert cli.json("embed", "migrate", "--to", 2, "--dry-run")["wanted"] == 10
    assert held(beside, 2) == 0
    assert "10 memories have no vector in space 2" in cli.refused(*SWITCH)
    assert cli.json("embed", "migrate", "--to", 2) == {"space": 2, "current": 1, "wanted": 10, "filled": 10, "left": 0}
    assert "not calibrated" in cli.refused(*SWITCH)
    assert cli.json(*SWITCH, "--dry-run") == {"space": 2, "missing": 0, "switched": False}
    assert cli.json(*SWITCH, "--uncalibrated")["switched"] is True
    assert cli.json(*SWITCH)["switched"] is False
    assert "is the current one" in cli.refused("embed", "drop", 2, "--reason", "by mistake", "--yes")
    assert cli.json("embed", "drop", 1, "--reason", "done", "--yes") == {"space": 1, "dropped": True}
    assert cli.json("embed", "drop", 1, "--reason", "done", "--yes") == {"space": 1, "dropped": False}
    assert [row["id"] for row in cli.json("embed", "status")["stamps"]] == [2]
    found = cli.json("recall", "Shelf number 3", "--org", "acme")
    assert found["mode"] in ("vector", "hybrid")
    assert [e["action"] for e in cli.json("ledger", "show", "1")][-1] == "stamp_dropped"
    assert "stamp_switched" in [e["action"] for e in cli.json("ledger", "show", "2")]


def test_what_comes_in_meanwhile_is_caught_up_with_and_workers_of_the_old_space_put_their_runs_off(
    cli: Cli, beside: Fleet
) -> None:
    cli.ok("embed", "migrate", "--to", 2)
    said(beside, 11)
    assert "1 memories have no vector" in cli.refused(*SWITCH, "--uncalibrated")
    assert cli.json("embed", "migrate", "--to", 2)["filled"] == 1
    cli.ok(*SWITCH, "--uncalibrated")
    said(beside, 12)
    [run] = beside.rows("SELECT state, attempts, reason FROM runs WHERE session = 's12'")
    assert run == {"state": "redacted", "attempts": 0, "reason": "embedder_not_current"}
    found = cli.json("recall", "Shelf number 12", "--org", "acme", "--limit", 20)
    assert "Shelf number 12 of the depot is empty." in [hit["content"] for hit in found["hits"]]
    beside.install(extractor=Echo(), embedder=Elsewhere)
    beside.rows("UPDATE runs SET due_at = now() WHERE due_at > now() RETURNING id")
    beside.run()
    assert beside.rows("SELECT state FROM runs WHERE session = 's12'") == [{"state": "consolidated"}]
    assert held(beside, 2) == 12


def test_what_was_superseded_is_found_in_its_own_time_in_the_new_space_too(cli: Cli, beside: Fleet) -> None:
    one, *_, last = beside.rows("SELECT id FROM memories ORDER BY id")
    with rows.as_admin(beside.database) as admin:
        admin.execute("UPDATE memories SET status = 'superseded', superseded_by = %s, valid_to = now(),"
                      " status_at = now() WHERE id = %s", (last["id"], one["id"]))  # fmt: skip
    assert cli.json("embed", "migrate", "--to", 2)["filled"] == 10


class Flaky(Elsewhere):
    """Does not answer every other time."""

    calls = 0

    def passages(self, texts: Sequence[str]) -> Vectors:
        Flaky.calls += 1
        if Flaky.calls % 2:
            raise ModelUnavailable("busy", retry_after_seconds=0.01)
        return super().passages(texts)


def test_an_embedder_that_stutters_is_asked_again(cli: Cli, beside: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ops.commands.spaces.BATCH", 3)
    choose(monkeypatch, Flaky)
    assert cli.json("embed", "migrate", "--to", 2)["left"] == 0


def test_the_embedder_must_be_that_of_the_space(cli: Cli, beside: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    choose(monkeypatch, WordVectors)
    assert "AFTERWORD_EMBEDDER is that of space 1" in cli.refused("embed", "migrate", "--to", 2)
    assert "there is no space 9" in cli.refused("embed", "switch", "--to", 9, "--reason", "x")


def test_two_do_not_fill_one_space_at_once(cli: Cli, beside: Fleet) -> None:
    with beside.database.as_role("worker") as conn, spaces.filling(conn, 2):
        assert "Somebody else fills this space" in cli.refused("embed", "migrate", "--to", 2)
    assert cli.json("embed", "migrate", "--to", 2)["left"] == 0


@pytest.fixture
def slow_endpoint(cli: Cli, fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingServer]:
    with EmbeddingServer([embedding_server.Vectors(8)]) as server:
        for name, value in (("EMBEDDER", "openai"), ("EMBEDDING_MODEL", "e"), ("EMBEDDING_DIMENSION", "8"),
                            ("EMBEDDING_BASE_URL", server.base_url)):  # fmt: skip
            monkeypatch.setenv(f"AFTERWORD_{name}", value)
        yield server


def test_a_migration_that_was_killed_is_taken_up_by_the_next(
    cli: Cli, fleet: Fleet, slow_endpoint: EmbeddingServer
) -> None:
    fleet.install(extractor=Echo())
    said(fleet, *range(80))
    started("embed", "register").communicate(timeout=60)
    with started("embed", "migrate", "--to", "2", "--rate", "10") as process:
        wait_for(lambda: held(fleet, 2) > 0)
        process.send_signal(signal.SIGKILL)
    assert 0 < held(fleet, 2) < 80
    out, _ = started("embed", "migrate", "--to", "2", "--json").communicate(timeout=60)
    assert (json.loads(out)["left"], held(fleet, 2)) == (0, 80)


def started(*words: str) -> subprocess.Popen[bytes]:
    program = "from ops.cli import main; main()"
    return subprocess.Popen([sys.executable, "-c", program, *words], env=os.environ, stdout=subprocess.PIPE)


@pytest.mark.parametrize("role", ["worker", "agent", "reviewer"])
def test_nobody_but_an_operator_switches_or_drops(fleet: Fleet, cli: Cli, role: str) -> None:
    for statement in (
        "SELECT afterword.switch_stamp(1)", "SELECT afterword.drop_stamp(1)",
        "UPDATE afterword.stamps SET is_current = false", "DELETE FROM afterword.stamps",
    ):  # fmt: skip
        assert "permission denied" in rows.psql(fleet.database, role, statement).stderr
