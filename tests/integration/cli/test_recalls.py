"""Many questions as lines, and what was handed out: who was given what, why, and whether it is still so."""

from __future__ import annotations

import hashlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from db import recall as store
from tests.fleet import Fleet, event
from tests.integration.cli.conftest import Cli, Said
from tests.integration.cli.test_recall import ASK, embedder
from tests.integration.cli.test_review import FACT
from tests.integration.db import rows

__all__ = ["embedder"]

GATEWAY = "We decided to keep the request timeout of the gateway at 30 seconds."
ABOUT_BOTH = ("recall", "search service gateway timeout database", "--org", "acme")


@pytest.fixture
def stored(cli: Cli, fleet: Fleet) -> dict[str, str]:
    """Two active facts by a word of each: search, gateway."""
    fleet.ingest(event(FACT), event(GATEWAY, session="s2"))
    fleet.run()
    found = fleet.rows("SELECT id, content FROM memories WHERE status = 'active'")
    assert len(found) == 2
    return {"gateway" if "gateway" in row["content"] else "search": str(row["id"]) for row in found}


def piped(cli: Cli, monkeypatch: pytest.MonkeyPatch, lines: list[Any], *options: str) -> tuple[Said, list[Any]]:
    """These lines on standard input, as JSON or as the bytes they are; what was answered, a line each."""
    data = b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    said = cli("recall", "--org", "acme", "--jsonl", *options)
    return said, [json.loads(line) for line in said.out.splitlines()]


# --- Lines.


@pytest.mark.usefixtures("embedder")
def test_each_line_is_answered_in_its_place(
    cli: Cli, fleet: Fleet, stored: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [{"id": n, "query": ("database of search", "gateway timeout")[n % 2], "limit": 1} for n in range(70)]
    said, answers = piped(cli, monkeypatch, asked)
    assert (said.code, said.err) == (0, "")
    assert [line["id"] for line in answers] == list(range(70))
    for line in answers:
        (hit,) = line["hits"]
        assert hit["memory_id"] == stored[("search", "gateway")[line["id"] % 2]]
        assert (line["mode"], hit["lexical_rank"]) == ("hybrid", 1)
    recorded = {str(row["id"]) for row in fleet.rows("SELECT id FROM recalls")}
    assert {line["recall_id"] for line in answers} == recorded
    assert len(recorded) == 70


def test_a_bad_line_is_answered_with_its_error_and_loses_no_other(
    cli: Cli, fleet: Fleet, stored: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = [
        (b"{", "not JSON in UTF-8"), (b'{"id": "\xff"}', "not JSON in UTF-8"), ([1], "not an object"),
        ({"id": 1.5, "query": "x"}, "id is no string or whole number"), ({"id": 2}, "query: field required"),
        ({"query": "x", "limit": 0}, "limit: input should be greater"), ({"query": 3}, "query: input should be a"),
        ({"query": "x", "kinds": ["fact"]}, "kinds: extra inputs are not permitted"),
        ({"query": "x", "kind": ["idea"]}, "a memory is a fact, preference, rule or turn"),
        ({"query": "x", "since": "soon"}, "'soon' is neither an ISO time nor a span"),
        ({"query": "x", "about": "ana"}, "'ana' is not of the form TYPE:ID"),
        ({"query": "x", "since": "2026-02-01", "until": "2026-01-01"}, "begins before it ends"),
        ({"query": "lorem " * 2_000}, "at most 10,000 characters"),
    ]  # fmt: skip
    good = {"id": "good", "query": "gateway timeout"}
    lines = [line for one, _ in bad for line in (one, b"  ", good)]
    said, answers = piped(cli, monkeypatch, lines)
    assert said.code == 1
    assert len(answers) == 2 * len(bad)
    for number, (_, error) in enumerate(bad):
        refused, answered = answers[2 * number : 2 * number + 2]
        assert error in refused["error"]
        assert refused["line"] == 3 * number + 1
        assert (answered["id"], answered["hits"][0]["memory_id"]) == ("good", stored["gateway"])
    assert len(fleet.rows("SELECT id FROM recalls")) == len(bad)


def test_a_file_of_questions_and_defaults_from_the_options(cli: Cli, stored: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text('{"query": "gateway search"}\n{"query": "gateway search", "kind": ["fact"]}\n')
    said = cli.ok("recall", file, "--org", "acme", "--jsonl", "--kind", "preference", "--block")
    first, second = (json.loads(line) for line in said.out.splitlines())
    assert (first["id"], first["hits"]) == (None, [])
    assert {hit["memory_id"] for hit in second["hits"]} == set(stored.values())
    assert "Nothing was remembered for this." in first["block"]["text"]
    assert second["block"]["included"] == [hit["memory_id"] for hit in second["hits"]]
    assert "no such file" in cli.refused("recall", tmp_path / "nowhere", "--org", "acme", "--jsonl")
    cli.misused("recall", file, "--org", "acme", "--jsonl", "--since", "soon")


def test_where_the_database_goes_down_what_was_printed_was_asked(
    cli: Cli, fleet: Fleet, stored: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third question ends the connections; two lines are out, and two recalls are on record."""
    plain, asked = store.recall, []

    def cut(conn: Any, question: Any) -> Any:
        asked.append(question)
        if len(asked) == 3:
            with rows.as_admin(fleet.database) as admin:
                admin.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'afterword_agent'"
                )
        return plain(conn, question)

    monkeypatch.setattr(store, "recall", cut)
    said, answers = piped(cli, monkeypatch, [{"id": n, "query": "gateway"} for n in range(5)])
    assert said.code == 1
    assert "the database does not answer" in said.err
    assert [line["id"] for line in answers] == [0, 1]
    assert len(fleet.rows("SELECT id FROM recalls")) == 2


def test_a_question_may_be_called_as_a_command_is(cli: Cli, stored: dict[str, str]) -> None:
    assert cli.json("recall", "ask", "log", "--org", "acme")["mode"] == "newest"
    assert cli.json("recall", "--org", "acme", "--limit", "1", "gateway")["hits"][0]["memory_id"] == stored["gateway"]
    assert "a question is needed" in cli.misused("recall", "--org", "acme")
    cli.misused("recall", "gateway", "timeout", "--org", "acme")


# --- What was handed out.


@pytest.mark.usefixtures("embedder")
def test_a_recall_is_explained_hit_by_hit(cli: Cli, stored: dict[str, str]) -> None:
    asked = cli.json(*ABOUT_BOTH, "--project", "api", "--scope", "org", "--limit", "1", "--block")
    told = cli.json("recall", "explain", asked["recall_id"], "--org", "acme")
    assert (told["agent"], told["actor"], told["project"]) == ("afterword-cli", "operator-of-the-day", "api")
    assert (told["mode"], told["candidates"]) == ("hybrid", 2)
    assert told["request"] == {"max_hits": 1, "fusion": "rrf", "stamp": 1, "scope_kind": "org"}
    assert told["block_hash"] == asked["block"]["sha256"]
    (hit,), (given,) = told["hits"], asked["hits"]
    for key in ("memory_id", "vector_rank", "lexical_rank"):
        assert hit[key] == given[key]
    for key in ("vector_score", "lexical_score", "combined_score"):
        assert hit[key] == pytest.approx(given[key], rel=1e-5)
    assert (hit["allowed"], hit["shown"], hit["since_then"]) == ("org in default", True, "as it was")
    (other,) = told["left_out"]
    assert {other["memory_id"], hit["memory_id"]} == set(stored.values())
    assert other["why"] == "ranked below what was asked for"
    assert {hit["vector_rank"], other["vector_rank"]} == {1, 2}


def test_what_did_not_fit_the_block_was_handed_out_and_not_shown(cli: Cli, stored: dict[str, str]) -> None:
    asked = cli.json(*ABOUT_BOTH, "--block", "--tokens", "150")
    assert (len(asked["hits"]), asked["block"]["left_out"]) == (2, 1)
    told = cli.json("recall", "explain", asked["recall_id"], "--org", "acme")
    assert [hit["shown"] for hit in told["hits"]] == [hit["memory_id"] in asked["block"]["included"]
                                                     for hit in asked["hits"]]  # fmt: skip
    (row,) = cli.ok("recall", "log", "--org", "acme").columns
    assert (row["hits"], row["shown"]) == ("2", "1")


def test_what_became_of_a_memory_since_is_said(cli: Cli, fleet: Fleet, stored: dict[str, str]) -> None:
    recall = cli.json(*ABOUT_BOTH)["recall_id"]
    cli.ok("review", "forget", stored["search"], "--org", "acme")
    fleet.rows("UPDATE memories SET expires_at = now() WHERE id = %s RETURNING id", stored["gateway"])
    told = cli.json("recall", "explain", recall, "--org", "acme")
    became = {hit["memory_id"]: hit["since_then"].split()[0] for hit in told["hits"]}
    assert became == {stored["search"]: "tombstoned", stored["gateway"]: "expired"}
    with rows.as_admin(fleet.database) as admin:
        admin.execute(f"UPDATE memories SET {rows.EMPTIED} WHERE id = %s", (stored["search"],))
    told = cli.json("recall", "explain", recall, "--org", "acme", "--text")
    erased = next(hit for hit in told["hits"] if hit["memory_id"] == stored["search"])
    assert (erased["since_then"].split()[0], erased["content"]) == ("erased", "")


def test_a_text_is_shown_only_to_a_reviewer_and_on_record(cli: Cli, stored: dict[str, str]) -> None:
    recall = cli.json(*ASK)["recall_id"]
    short = recall[:23]
    for more in ((), ("--json",)):
        assert "Postgres" not in cli.ok("recall", "explain", short, "--org", "acme", *more).out
    assert [e["action"] for e in cli.json("ledger", "show", stored["search"])].count("memory_viewed") == 0
    assert "Postgres" in cli.ok("recall", "explain", short, "--org", "acme", "--text").out
    assert [e["action"] for e in cli.json("ledger", "show", stored["search"])].count("memory_viewed") == 1


def test_the_log_is_narrowed_by_agent_time_and_memory(cli: Cli, fleet: Fleet, stored: dict[str, str]) -> None:
    both = cli.json(*ABOUT_BOTH, "--agent", "a-1")["recall_id"]
    one = cli.json("recall", "gateway timeout", "--org", "acme", "--agent", "a-2", "--limit", "1")["recall_id"]

    def logged(*options: str) -> list[str]:
        return [row["id"] for row in cli.json("recall", "log", "--org", "acme", *options)]

    assert logged() == [one, both]
    assert logged("--agent", "a-1") == [both]
    assert logged("--memory", stored["search"]) == [both]
    assert logged("--memory", stored["gateway"], "--limit", "1") == [one]
    assert (logged("--since", "1h"), logged("--until", "1h")) == ([one, both], [])
    row = cli.json("recall", "log", "--org", "acme")[0]
    assert row["hits"][0]["id"] == stored["gateway"]
    assert (row["shown"], row["block_hash"]) == (None, None)
    assert "gateway timeout" not in json.dumps(row)


def test_a_digest_is_a_recall_too(cli: Cli, fleet: Fleet, tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    house = {"name": "house", "rules": ["Invoices are rounded half up.", "Numbers are spelt out. " * 40]}
    file.write_text(json.dumps({"namespaces": [house]}))
    cli.ok("workspace", "apply", file, "--org", "acme")
    fleet.run()
    made = cli.json("digest", "--org", "acme", "--agent", "support", "--characters", "1000")
    assert (len(made["included"]), len(made["omitted"])) == (1, 1)
    told = cli.json("recall", "explain", made["recall"], "--org", "acme")
    assert (told["mode"], told["agent"], told["block_hash"]) == ("digest", "support", made["sha256"])
    shown = {hit["memory_id"]: hit["shown"] for hit in told["hits"]}
    assert shown == {made["included"][0]: True, made["omitted"][0]: False}
    assert "every session of the agent starts" in cli.ok("recall", "explain", made["recall"], "--org", "acme").out
    assert cli.ok("recall", "log", "--org", "acme").columns[0]["shown"] == "1"


def test_another_orgs_recall_is_no_recall(cli: Cli, fleet: Fleet, stored: dict[str, str]) -> None:
    fleet.database.org("globex")
    recall = cli.json(*ASK)["recall_id"]
    unknown = hashlib.sha256(b"x").hexdigest()[:32]
    theirs = cli.refused("recall", "explain", recall, "--org", "globex")
    assert theirs.replace(recall, "ID") == cli.refused("recall", "explain", unknown, "--org", "globex").replace(
        unknown, "ID"
    )
    assert cli.json("recall", "log", "--org", "globex") == []
    assert "no memory has an id" in cli.refused("recall", "log", "--org", "globex", "--memory", stored["search"])
