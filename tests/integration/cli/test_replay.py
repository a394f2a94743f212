"""A replay is asked for here and carried out by the replay worker; nothing is re-armed by the command itself."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.fleet import Fleet, event
from tests.integration.cli.conftest import Cli
from tests.integration.cli.test_runs import DECISION, Refuses, dead
from workers import replay

ASK = ("replay", "--code", "model_refused", "--reason", "key renewed")


def step(fleet: Fleet) -> set[str]:
    """One step of the replay worker."""
    return replay.step(fleet.using)


@contextmanager
def worker(fleet: Fleet, *stages: str) -> Iterator[None]:
    """A replay worker, and these stages, until the block ends."""
    over = threading.Event()

    def loop() -> None:
        while not over.wait(0.02):
            step(fleet)
            if stages:
                fleet.run(*stages)

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_a_dry_run_asks_for_nothing(cli: Cli, fleet: Fleet) -> None:
    dead(fleet, "s1", "s2")
    asked = cli.json("replay", "--code", "model_refused", "--dry-run")
    assert (len(asked["replayable"]), asked["refused"], asked["replay"]) == (2, [], None)
    assert "2 would be replayed" in cli.ok("replay", "--code", "model_refused", "--dry-run").out
    assert cli.json("replay", "list") == []
    assert cli.ok("replay", "list").out == "no replays yet\n"


def test_a_replay_is_a_row_with_actor_and_reason(cli: Cli, fleet: Fleet) -> None:
    dead(fleet, "s1")
    asked = cli.json(*ASK, "--rate", 2, "--cap", 7)
    (row,) = cli.json("replay", "list")
    assert row["id"] == asked["replay"]
    assert (row["actor"], row["reason"], row["rate_per_second"], row["cap"], row["status"]) == (
        "operator-of-the-day", "key renewed", 2, 7, "requested",
    )  # fmt: skip
    assert [run["state"] for run in cli.json("runs", "list")] == ["dead_letter"], "the command re-arms nothing"
    assert step(fleet) == {"extraction"}
    fleet.run()
    assert [run["state"] for run in cli.json("runs", "list")] == ["consolidated"]
    shown = cli.ok("runs", "show", cli.json("runs", "list")[0]["id"]).out
    assert "by operator-of-the-day: key renewed" in shown


def test_waiting_ends_with_the_replay(cli: Cli, fleet: Fleet) -> None:
    dead(fleet, "s1", "s2")
    fleet.install()
    with worker(fleet, "extraction"):
        said = cli.ok(*ASK, "--rate", 50, "--wait").out
    assert "finished: 2 replayed, 0 refused, 0 died again" in said


def test_waiting_says_when_the_cause_is_still_there(cli: Cli, fleet: Fleet) -> None:
    dead(fleet, *(f"s{number}" for number in range(12)))
    fleet.install(extractor=Refuses())
    with worker(fleet, "extraction"):
        said = cli(*ASK, "--rate", 5, "--wait")
    assert said.code == 1
    assert "stopped by itself" in said.err
    assert len(cli.json("dead-letters", "list")) == 12, "those it did not come to stay where they are"
    assert [row["status"] for row in cli.json("replay", "list")] == ["stopped"]


def test_selectors_narrow(cli: Cli, fleet: Fleet) -> None:
    fleet.database.org("other")
    dead(fleet, "s1")
    dead(fleet, "s2", org="other")
    run = cli.json("dead-letters", "list", "--org", "other")[0]["id"]
    for words, matches in (
        (("--run", run), 1), (("--code", "internal"), 0), (("--code", "model_refused", "--org", "other"), 1),
        (("--since", "1h"), 2), (("--since", "2999-01-01"), 0), (("--since", "1h", "--cap", "1"), 1),
    ):  # fmt: skip
        assert len(cli.json("replay", *words, "--dry-run")["replayable"]) == matches, words


def test_what_was_replayed_three_times_needs_force(cli: Cli, fleet: Fleet) -> None:
    dead(fleet, "s1", "s2")
    run = cli.json("dead-letters", "list")[0]["id"]
    fleet.rows("UPDATE runs SET replays = 3 WHERE id = %s RETURNING id", run)
    asked = cli.json("replay", "--code", "model_refused", "--dry-run")
    assert [row["id"] for row in asked["refused"]] == [run]
    assert len(asked["replayable"]) == 1
    assert run in cli.ok("replay", "--code", "model_refused", "--dry-run").out.partition("passed over")[2]
    said = cli.refused("replay", "--run", run, "--reason", "once more")
    assert run in said
    assert "--force" in said
    assert cli.json("replay", "list") == []
    assert cli.json("replay", "--run", run, "--reason", "once more", "--force")["refused"] == []


def test_nothing_to_replay_is_refused(cli: Cli, fleet: Fleet) -> None:
    assert "nothing matches code=model_refused" in cli.refused(*ASK)
    assert cli.json("replay", "--code", "model_refused", "--dry-run")["replayable"] == []


def test_rejected_events_are_tried_again_by_reason_or_id(cli: Cli, fleet: Fleet) -> None:
    fleet.ingest(event(DECISION, org="later"), event(DECISION, org="never"))
    fleet.database.org("later")
    ids = {row["detail"]: row["id"] for row in cli.json("rejected", "list")}
    one = ids["no org named 'later'"]
    assert [row["id"] for row in cli.json("replay", "--rejected", one, "--dry-run")["replayable"]] == [one]
    with worker(fleet):
        cli.ok("replay", "--rejected", "unknown_org", "--reason", "org made", "--rate", 50, "--wait")
    assert [run["org"] for run in cli.json("runs", "list")] == ["later"]
    assert "nothing matches" in cli.refused("replay", "--rejected", one, "--reason", "again")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--code", "model_refused"), "--reason is needed"),
        (("--reason", "r"), "say which"),
        (("--org", "acme", "--reason", "r"), "say which"),
        (("--rejected", "unknown_org", "--org", "acme", "--reason", "r"), "--rejected stands alone"),
        (("--rejected", "boredom", "--reason", "r"), "is no id"),
        (("--since", "yesterday", "--reason", "r"), "neither an ISO time nor a span"),
        (("--code", "boredom", "--reason", "r"), "is not one of"),
        (("--since", "1h", "--rate", "0", "--reason", "r"), "greater than or equal to 0.01"),
    ],
)
def test_misuse(cli: Cli, fleet: Fleet, words: tuple[str, ...], said: str) -> None:
    assert said in cli.misused("replay", *words)
