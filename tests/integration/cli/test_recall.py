"""Recall as an agent would: scores and reasons said, the mode said, the block recorded, another stamp refused."""

from __future__ import annotations

import hashlib

import pytest

from pipeline.embedding.port import Stamp
from tests.fleet import Fleet, WordVectors, event
from tests.integration.cli.conftest import Cli
from tests.integration.cli.test_review import FACT

ASK = ("recall", "which database does the search service use", "--org", "acme")


class Elsewhere(WordVectors):
    stamp = Stamp("test", "other words", "2", 8)


@pytest.fixture
def stored(cli: Cli, fleet: Fleet) -> str:
    fleet.ingest(event(FACT))
    fleet.run()
    return str(fleet.rows("SELECT id FROM memories WHERE status = 'active'")[0]["id"])


@pytest.fixture
def embedder(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if AFTERWORD_EMBEDDER named the embedder of the tests' fleet."""
    monkeypatch.setenv("AFTERWORD_EMBEDDER", "local")
    monkeypatch.setattr("ops.compose._local_embedder", WordVectors)


@pytest.mark.parametrize(("setting", "because"), [(None, "unset"), ("none", "none")])
def test_without_an_embedder_it_goes_by_words_and_says_so(
    cli: Cli, stored: str, setting: str | None, because: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if setting:
        monkeypatch.setenv("AFTERWORD_EMBEDDER", setting)
    found = cli.json(*ASK)
    assert (found["mode"], found["lexical_because"]) == ("lexical", f"AFTERWORD_EMBEDDER is {because}")
    assert [hit["memory_id"] for hit in found["hits"]] == [stored]
    text = cli.ok(*ASK).out
    assert f"lexical: Found by words alone, not by meaning. No vectors: AFTERWORD_EMBEDDER is {because}." in text


@pytest.mark.usefixtures("embedder")
def test_with_an_embedder_both_legs_have_scores(cli: Cli, stored: str) -> None:
    (hit,) = cli.json(*ASK)["hits"]
    assert (hit["memory_id"], hit["vector_rank"], hit["lexical_rank"]) == (stored, 1, 1)
    assert hit["allowed"] == "org in default"
    assert hit["vector_score"] > 0 < hit["lexical_score"]
    text = cli.ok(*ASK).out
    assert "hybrid: Found by words and by meaning." in text
    assert text.splitlines()[0].split("\t")[2:6] == ["session", "turns", "combined_score", "vector_score"]


@pytest.mark.usefixtures("stored")
def test_another_stamp_is_refused_naming_both(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERWORD_EMBEDDER", "local")
    monkeypatch.setattr("ops.compose._local_embedder", Elsewhere)
    said = cli.refused(*ASK)
    assert "test other words 2 (8)" in said
    assert "test words 1 (8)" in said
    assert "AFTERWORD_EMBEDDER" in said


def test_the_block_is_printed_as_a_prompt_gets_it_and_its_hash_recorded(cli: Cli, fleet: Fleet, stored: str) -> None:
    block = cli.ok(*ASK, "--block").out.removesuffix("\n")
    assert block.startswith("<afterword-memory recall=")
    assert stored in block
    (row,) = fleet.rows("SELECT block_hash, actor FROM recalls")
    assert row == {"block_hash": hashlib.sha256(block.encode()).digest(), "actor": "operator-of-the-day"}
    document = cli.json(*ASK, "--block")["block"]
    assert hashlib.sha256(document["text"].encode()).hexdigest() == document["sha256"]


def test_scope_and_time_decide_what_is_found(cli: Cli, fleet: Fleet, stored: str) -> None:
    fleet.rows("UPDATE memories SET scope_kind = 'project', scope_value = 'search' RETURNING id")
    assert cli.ok(*ASK).out.startswith("Nothing was remembered for this.")
    assert [hit["memory_id"] for hit in cli.json(*ASK, "--project", "search")["hits"]] == [stored]
    assert cli.json(*ASK, "--project", "search", "--as-of", "2020-01-01")["hits"] == []
    assert len(cli.json(*ASK, "--project", "search", "--as-of", "1s")["hits"]) == 1


@pytest.mark.parametrize("options", [("--as-of", "yesterday"), ("--limit", "0"), ("--tokens", "1")])
def test_misuse(cli: Cli, fleet: Fleet, options: tuple[str, ...]) -> None:
    cli.misused(*ASK, *options)
