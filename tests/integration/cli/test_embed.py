"""Embedding spaces: registered once, the first is current, and what the chosen embedder is to it is said."""

from __future__ import annotations

import pytest

from pipeline.embedding.port import Stamp
from tests.fleet import Fleet, WordVectors, event
from tests.integration.cli.conftest import Cli
from tests.integration.cli.test_recall import Elsewhere
from tests.integration.cli.test_review import FACT


def choose(monkeypatch: pytest.MonkeyPatch, embedder: type[WordVectors]) -> None:
    monkeypatch.setenv("AFTERWORD_EMBEDDER", "local")
    monkeypatch.setattr("ops.compose._local_embedder", embedder)


def test_a_space_is_registered_once(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    choose(monkeypatch, Elsewhere)
    for _ in range(2):
        assert cli.ok("embed", "register").out == "test other words 2 (8) is space 2\n"
    assert cli.json("embed", "register")["id"] == 2
    stamps = cli.json("embed", "status")["stamps"]
    assert [(row["id"], row["is_current"]) for row in stamps] == [(1, True), (2, False)]


class Shorter(WordVectors):
    stamp = Stamp("test", "words", "1", 9)


def test_no_table_is_made_for_vectors_of_another_length(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    choose(monkeypatch, Shorter)
    assert "vectors of length 8 for a stamp of dimension 9" in cli.refused("embed", "register")
    assert [row["id"] for row in cli.json("embed", "status")["stamps"]] == [1]


@pytest.mark.parametrize(("setting", "said"), [("none", "embeds nothing"), (None, "AFTERWORD_EMBEDDER")])
def test_without_an_embedder_there_is_no_space_to_register(
    cli: Cli, setting: str | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if setting:
        monkeypatch.setenv("AFTERWORD_EMBEDDER", setting)
    assert said in cli.refused("embed", "register")
    assert "recall is lexical" in cli.json("embed", "status")["verdict"]


@pytest.mark.parametrize(
    ("embedder", "verdict"),
    [(WordVectors, "is the current space"), (Elsewhere, "is not the current space: recall refuses")],
)
def test_the_status_says_what_the_embedder_is(
    cli: Cli, embedder: type[WordVectors], verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(monkeypatch, embedder)
    assert cli.json("embed", "status")["verdict"].endswith(verdict)
    text = cli.ok("embed", "status").out
    assert "nothing is counted yet" in text
    assert text.rstrip().endswith(verdict)


def test_coverage_is_what_housekeeping_counted(cli: Cli, fleet: Fleet) -> None:
    from workers.housekeeping import index

    fleet.ingest(event(FACT))
    fleet.run()
    with fleet.using.pool.connection() as conn:
        index(conn)
    (row,) = cli.json("embed", "status")["coverage"]
    assert (row["org"], row["embedded"], row["missing"]) == ("acme", 1, 0)


def test_a_space_is_calibrated_by_what_is_stored(cli: Cli, fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    choose(monkeypatch, WordVectors)
    assert "unrelated pairs on the passage side" in cli.refused("embed", "calibrate")
    words = [
        "amber",
        "birch",
        "copper",
        "delta",
        "ember",
        "fjord",
        "grove",
        "harbor",
        "islet",
        "jetty",
        "kelp",
        "lagoon",
    ]
    for number in range(160):
        said = " ".join(words[(number * step) % 12] for step in (1, 3, 5, 7))
        fleet.ingest(event(f"We decided to use the {said} {number} service because it is good.", session=f"s{number}"))
    fleet.run()
    seen = cli.json("embed", "calibrate", "--dry-run")
    assert seen["stored"] is False
    assert {one["side"] for one in seen["calibrations"]} == {"passage", "query"}
    stored = cli.json("embed", "calibrate")["calibrations"]
    assert stored == seen["calibrations"]
    again = cli.json("embed", "calibrate", "--seed", 2)["calibrations"]
    assert [one["seed"] for one in again] == [1, 1, 2, 2]
    entries = cli.json("ledger", "show", "1")
    assert [entry["action"] for entry in entries][-2:] == ["stamp_calibrated"] * 2
