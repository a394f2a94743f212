"""Rescan and reevaluate as a person calls them: shown first, carried out by the workers, applied by a second person."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from db import orgs
from ops.commands import rescan
from pipeline.redaction.detectors import ALL
from pipeline.redaction.span import Span
from tests.fleet import Fleet, event
from tests.integration.cli.conftest import Cli
from tests.integration.db import rows
from tests.integration.workers.scripted import Echo
from workers import reclassification

ROOM = "The night watch sits in room 4711 since May."
RULE = "Always run the integration tests before a release."
RESCAN = ("redact", "rescan", "--reason", "a detector for rooms")


class Rooms:
    name, classes = "rooms", frozenset({"address"})

    def detect(self, text: str) -> Sequence[Span]:
        at = text.find("room 4711")
        return [Span(at, at + 9, "address", 1.0, self.name)] if at >= 0 else []


def remembered(fleet: Fleet, *said: str) -> None:
    fleet.install(extractor=Echo())
    fleet.ingest(*(event(text, session=f"s{number}") for number, text in enumerate(said)))
    fleet.run()


@contextmanager
def workers(fleet: Fleet, *newer: Any) -> Iterator[None]:
    """Whoever answers redaction's bell, with these detectors besides, until the block ends."""
    fleet.install(extractor=Echo(), detectors=(*ALL, *newer))
    over = threading.Event()

    def loop() -> None:
        while not over.wait(0.02):
            reclassification.step(fleet.using)

    thread = threading.Thread(target=loop)
    with capture_logs():  # they would stand between what the command prints
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def of_old(fleet: Fleet, content: str) -> UUID:
    """Active, as classifier and gate of then let it in."""
    with fleet.database.as_role("operator") as conn:
        org = orgs.get(conn, "acme")
    with fleet.database.as_role("worker") as conn:
        return rows.insert_memory(conn, org, content)


def statuses(fleet: Fleet) -> list[str]:
    return sorted(row["status"] for row in fleet.rows("SELECT status FROM memories"))


def test_a_rescan_is_shown_then_done(cli: Cli, fleet: Fleet) -> None:
    remembered(fleet, ROOM, "The search service stores its documents in Postgres.")
    with workers(fleet, Rooms()):
        shown = cli.json("redact", "rescan", "--dry-run")
        assert [(row["move"], row["classes"]) for row in shown["changes"]] == [("hold", ["address"])]
        assert statuses(fleet) == ["active", "active"]
        said = cli.ok(*RESCAN).out
        assert "finished: 4 looked at; changed: 1 hold" in said
        assert statuses(fleet) == ["active", "pending", "superseded"]
        assert "changed: nothing" in cli.ok(*RESCAN).out
    listed = cli.json("redact", "rescans")
    assert [(row["kind"], row["status"], row["actor"]) for row in listed] == [
        ("rescan", "finished", "operator-of-the-day")
    ] * 3
    (entry,) = [e for e in cli.json("ledger", "show", shown["changes"][0]["memory_id"]) if "reclass" in e["action"]]
    assert entry["actor"] == "operator-of-the-day"


def test_no_text_is_shown(cli: Cli, fleet: Fleet) -> None:
    remembered(fleet, ROOM)
    with workers(fleet, Rooms()):
        for words in ((*RESCAN, "--dry-run"), ("reevaluate",), ("redact", "rescans")):
            assert "4711" not in cli.ok(*words).out
            assert "4711" not in cli.ok(*words, "--json").out


def test_what_could_not_be_read_is_said_and_is_a_failure(cli: Cli, fleet: Fleet) -> None:
    class Chokes(Rooms):
        def detect(self, text: str) -> Sequence[Span]:
            if "choke" in text:
                raise RuntimeError
            return super().detect(text)

    remembered(fleet, ROOM, "The night watch may choke on it every Monday.")
    with workers(fleet, Chokes()):
        said = cli(*RESCAN)
    assert said.code == 1
    assert "1 could not be read" in said.err
    assert "changed: 1 hold" in said.out


def test_where_no_worker_answers_it_is_said(cli: Cli, fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rescan, "STALLED_SECONDS", 0.2)
    assert "is a redaction worker running?" in cli.refused(*RESCAN)
    assert [row["status"] for row in cli.json("redact", "rescans")] == ["requested"]


# --- Two people.


def plan(cli: Cli, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = cli.json("reevaluate", *words)
    return found


def apply(shown: dict[str, Any], *words: str) -> tuple[str, ...]:
    return ("reevaluate", "--apply", shown["id"], "--digest", shown["digest"], "--reason", "agreed in May", *words)


def test_what_would_differ_is_shown_and_applied_by_another(cli: Cli, fleet: Fleet) -> None:
    remembered(fleet, "The search service stores its documents in Postgres.")
    rule = of_old(fleet, RULE)
    with workers(fleet):
        shown = plan(cli)
        assert [(row["memory_id"], row["move"], row["reasons"]) for row in shown["changes"]] == [
            (str(rule), "hold", ["rule"])
        ]
        assert statuses(fleet) == ["active", "active"]
        assert "the plan is your own" in cli.refused(*apply(shown))
        assert "the plan is your own" in cli.refused(*apply(shown, "--by", " Operator-Of-The-Day "))
        assert "changed: 1 hold" in cli.ok(*apply(shown, "--by", "rita")).out
        assert statuses(fleet) == ["active", "pending", "superseded"]
        assert "was applied already" in cli.refused(*apply(shown, "--by", "otto"))
    entries = [(e["action"], e["actor"]) for e in cli.json("ledger", "show", str(rule))]
    assert entries[-1] == ("memory_reclassified", "rita")
    request = cli.json("redact", "rescans")[0]["id"]
    (asked, done) = cli.json("ledger", "show", request)
    assert (asked["action"], asked["detail"]["planned_by"], done["action"]) == (
        "apply_requested", "operator-of-the-day", "apply_finished",
    )  # fmt: skip


def test_a_held_memory_that_nothing_speaks_against_is_released_by_two(cli: Cli, fleet: Fleet) -> None:
    fleet.install(extractor=Echo(), detectors=(*ALL, Rooms()))
    fleet.ingest(event(ROOM))
    fleet.run()
    assert statuses(fleet) == ["pending"]
    with workers(fleet):
        assert "changed: nothing" in cli.ok(*RESCAN).out, "a rescan alone never lets it in"
        shown = plan(cli)
        assert [row["move"] for row in shown["changes"]] == ["release"]
        cli.ok(*apply(shown, "--by", "rita"))
    assert statuses(fleet) == ["active"]


def test_what_changed_since_it_was_shown_is_left(cli: Cli, fleet: Fleet) -> None:
    fleet.install(extractor=Echo(), detectors=(*ALL, Rooms()))
    fleet.ingest(event(ROOM))
    fleet.run()
    with workers(fleet):
        shown = plan(cli)
    with workers(fleet, Rooms()):
        assert "1 left, which come out otherwise by now" in cli.ok(*apply(shown, "--by", "rita")).out
    assert statuses(fleet) == ["pending"]


def test_a_plan_that_was_tampered_with_is_not_applied(cli: Cli, fleet: Fleet) -> None:
    of_old(fleet, RULE)
    with workers(fleet):
        shown = plan(cli)
        with rows.as_admin(fleet.database) as admin:
            admin.execute("SET session_replication_role = replica")
            admin.execute("SET search_path = afterword")
            admin.execute("UPDATE reclassified SET move = 'release'")
        assert "not those that were confirmed" in cli(*apply(shown, "--by", "rita")).err
    assert statuses(fleet) == ["active"]


@pytest.mark.parametrize(
    "forged",
    [
        "'rita', id, actor, plan_digest",  # the real thing, to be refused for its planner's own name below
        "'rita', id, 'nobody', plan_digest",
        "'rita', id, actor, '\\x00'",
        "actor, id, actor, plan_digest",
        "'RITA', id, 'rita', plan_digest",
    ],
)
def test_psql_as_the_operator_cannot_be_two_people(cli: Cli, fleet: Fleet, forged: str) -> None:
    remembered(fleet, RULE)
    with workers(fleet):
        plan(cli, "--by", "olga")
    statement = (
        "INSERT INTO reclassifications (id, kind, reason, rate_per_second, actor, plan_id, planned_by,"
        f" confirmed_digest) SELECT uuidv7(), 'apply', 'r', 1, {forged} FROM reclassifications"
    )
    done = rows.psql(fleet.database, "operator", statement)
    if forged.startswith("'rita', id, actor, plan_digest"):
        assert done.returncode == 0
    else:
        assert "violates" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("redact", "rescan"), "--reason is needed"),
        (("redact", "rescan", "--since", "yesterday", "--dry-run"), "neither an ISO time nor a span"),
        (("reevaluate", "--apply", "0" * 32), "--apply needs --digest"),
        (("reevaluate", "--apply", "0" * 32, "--digest", "00", "--reason", "r", "--dry-run"), "takes no --dry-run"),
    ],
)
def test_misuse(cli: Cli, fleet: Fleet, words: tuple[str, ...], said: str) -> None:
    assert said in cli.misused(*words)
