"""What operators see: runs with what became of each candidate, dead letters, rejected events with their original."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence
from uuid import UUID

import pytest

from pipeline.extraction.port import ExtractionJob, ExtractionOutcome
from pipeline.outcome import Bury, ErrorCode
from tests.fleet import Fleet, event
from tests.integration.cli.conftest import Cli

DECISION = "We decided to use Postgres for the search service because it has row locks."
RULE = "Always run the integration tests before you deploy the search service."
KEY = "AKIAQ3EGRT7VNO5K2JXW"


class Refuses:
    """An extractor whose endpoint refuses every call, as a revoked key does."""

    provider = "refusing"

    def extract_many(self, batch: Sequence[ExtractionJob]) -> Iterator[tuple[UUID, ExtractionOutcome]]:
        for job in batch:
            yield job.run_id, Bury(ErrorCode.MODEL_REFUSED, "401: the key was revoked")


def dead(fleet: Fleet, *sessions: str, org: str = "acme") -> None:
    """Sessions whose runs die of a refused model call."""
    fleet.install(extractor=Refuses())
    fleet.ingest(*(event(DECISION, org=org, session=session) for session in sessions))
    fleet.run("extraction")
    fleet.install()


def test_runs_are_listed_and_narrowed(cli: Cli, fleet: Fleet) -> None:
    fleet.database.org("other")
    fleet.ingest(event(DECISION), event(DECISION, org="other"))
    fleet.run()
    fleet.ingest(event(RULE, session="s2"))
    assert [run["session"] for run in cli.json("runs", "list", "--org", "acme")] == ["s2", "s1"]
    assert [run["state"] for run in cli.ok("runs", "list", "--state", "received").columns] == ["received"]
    assert len(cli.json("runs", "list", "--limit", 1)) == 1
    for command in ("runs", "dead-letters"):
        said = cli(command, "list", "--org", "nobody")
        assert (said.code, "no org named 'nobody' (known: " in said.err) == (1, True)


def test_a_state_that_does_not_exist_is_misuse(cli: Cli) -> None:
    assert "'done' is not one of" in cli.misused("runs", "list", "--state", "done")


def test_a_run_shows_what_became_of_each_candidate(cli: Cli, fleet: Fleet) -> None:
    fleet.ingest(event(DECISION, RULE))
    fleet.run()
    run = cli.json("runs", "list")[0]["id"]
    shown = cli.json("runs", "show", run)
    assert {(memory["kind"], memory["status"]) for memory in shown["memories"]} == {
        ("fact", "active"),
        ("rule", "pending"),
    }
    actions = [entry["action"] for entry in shown["timeline"]]
    assert actions[:2] == ["run_received", "run_extracted"]
    assert {"memory_active", "memory_pending", "run_consolidated"} <= set(actions)
    text = cli.ok("runs", "show", run.replace("-", "")[:31]).out
    assert "pending; held for rule" in text
    assert "timeline" in text
    assert "Postgres" not in text, "an operator reads no content"


@pytest.mark.parametrize(
    ("given", "said"),
    [("0192f3a477aa", "no run has an id that begins with 0192f3a477aa"), ("{prefix}", "ambiguous: 2 or more ids")],
)
def test_a_beginning_that_names_not_one_run_is_refused(cli: Cli, fleet: Fleet, given: str, said: str) -> None:
    fleet.ingest(event(DECISION), event(DECISION, session="s2"))
    prefix = cli.json("runs", "list")[0]["id"][:8]
    assert said in cli.refused("runs", "show", given.format(prefix=prefix))


@pytest.mark.parametrize("given", ["0192f3", "zzzzzzzz", "0192f3a4-77aa-7c31-9d0e-6a1f0e6f2b11-22"])
def test_what_is_no_id_is_misuse(cli: Cli, given: str) -> None:
    assert "is no id" in cli.misused("runs", "show", given)


def test_dead_letters_are_listed_and_narrowed(cli: Cli, fleet: Fleet) -> None:
    assert cli.ok("dead-letters", "list").out == "no dead letters\n"
    dead(fleet, "s1")
    found = cli.ok("dead-letters", "list", "--org", "acme", "--code", "model_refused").columns
    assert [(row["died_in"], row["error_detail"]) for row in found] == [("received", "401: the key was revoked")]
    assert cli.json("dead-letters", "list", "--code", "internal") == []
    assert "is not one of" in cli.misused("dead-letters", "list", "--code", "boredom")


def test_rejected_events_are_listed_and_shown_without_their_secret(cli: Cli, fleet: Fleet) -> None:
    fleet.ingest(event(f"The key is {KEY}.", org="nobody"), b"{no json")
    assert [row["reason"] for row in cli.ok("rejected", "list").columns] == ["not_json", "unknown_org"]
    (row,) = cli.json("rejected", "list", "--reason", "unknown_org")
    shown = cli.json("rejected", "show", row["id"])
    assert "The key is [REDACTED:secret]." in shown["original"]
    text = cli.ok("rejected", "show", row["id"]).out
    assert "[REDACTED:secret]" in text
    assert KEY not in text
    assert "no rejected event has an id" in cli.refused("rejected", "show", "0192f3a477aa")


def test_a_terminal_gets_a_table_that_obeys_nothing_it_holds(
    cli: Cli, fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet.ingest(event(DECISION, session="\x1b[2J[red]s"))

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", screen)
        patched.setenv("TERM", "xterm")
        cli.ok("runs", "list")
    assert "created at" in screen.getvalue()
    assert "\\u001b[2J[red]s" in screen.getvalue()
    assert "\x1b[2J" not in screen.getvalue()
