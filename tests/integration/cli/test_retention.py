"""Retention at the command line: what is kept and for how long, what would go, and that it goes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pipeline.retention import BY_ORG, REGISTRY
from tests.fleet import Fleet, WordVectors, event
from tests.integration.cli.conftest import Cli
from tests.integration.workers.scripted import Echo

FACT = "The search service stores its documents in Postgres."
SET = ("retention", "set", "--org", "acme", "--reason", "agreed")


@pytest.fixture
def kept(cli: Cli, fleet: Fleet) -> Fleet:
    """A session with one fact, and a transcript that is past its date."""
    fleet.install(extractor=Echo())
    fleet.ingest(event(FACT))
    fleet.run()
    fleet.rows("UPDATE transcripts SET purge_after = now() - interval '1 s' RETURNING run_id")
    return fleet


def purged(said: Any) -> dict[str, int]:
    return {row["store"]: row["rows"] for row in said["purged"]}


@pytest.mark.usefixtures("kept")
def test_what_is_kept_and_what_is_past_its_date_is_shown(cli: Cli) -> None:
    said = cli.json("retention", "show", "--org", "acme")
    assert [item["name"] for item in said["kept"]] == [item.name for item in REGISTRY]
    assert {item["name"] for item in said["kept"] if item["by_org"]} == set(BY_ORG)
    assert [(row["store"], row["org"], row["due"]) for row in said["past_date"]] == [("transcripts", "acme", 1)]
    assert "what a person approved as binding" in cli.ok("retention", "show").out


def test_a_dry_run_says_what_the_run_then_does(cli: Cli, kept: Fleet) -> None:
    would = cli.json("retention", "run", "--dry-run")
    assert kept.rows("SELECT count(*) AS n FROM transcripts") == [{"n": 1}]
    assert "nothing was done" in cli.ok("retention", "run", "--dry-run").out
    assert purged(cli.json("retention", "run")) == purged(would) == {"transcripts": 1}
    assert kept.rows("SELECT count(*) AS n FROM transcripts") == [{"n": 0}]
    assert purged(cli.json("retention", "run")) == {}
    assert cli.ok("retention", "run", "--org", "acme").out == "nothing is past its date\n"
    entry = kept.rows("SELECT actor, subject_id, detail FROM ledger WHERE action = 'purged'")
    assert entry == [{"actor": "operator-of-the-day", "subject_id": "transcripts", "detail": {"rows": 1}}]


@pytest.mark.usefixtures("kept")
def test_only_the_org_that_was_named_is_purged(cli: Cli, fleet: Fleet) -> None:
    fleet.database.org("other")
    assert purged(cli.json("retention", "run", "--org", "other")) == {}
    assert "no org named 'nobody'" in cli.refused("retention", "run", "--org", "nobody")


def test_an_orgs_own_days_hold_for_what_comes(cli: Cli, fleet: Fleet) -> None:
    cli.ok(*SET, "--days", "facts=45", "--days", "transcripts=40")
    assert cli.json("org", "show", "acme")["retention"] == {"facts": 45, "transcripts": 40}
    fleet.install(extractor=Echo())
    fleet.ingest(event(FACT))
    fleet.run()
    (fact,) = fleet.rows("SELECT expires_at FROM memories")
    (transcript,) = fleet.rows("SELECT purge_after FROM transcripts")
    now = datetime.now(UTC)
    assert abs(fact["expires_at"] - now - timedelta(days=45)) < timedelta(minutes=5)
    assert abs(transcript["purge_after"] - now - timedelta(days=40)) < timedelta(minutes=5)


def test_shortening_is_tried_first_and_brings_the_end_of_what_there_is_nearer(cli: Cli, fleet: Fleet) -> None:
    fleet.install(extractor=Echo())
    fleet.ingest(event(FACT))
    fleet.run()
    tried = cli.json(*SET, "--days", "facts=30", "--dry-run")
    assert (tried["changed"], tried["ends_sooner"]["memories"]) == (True, 1)
    assert cli.json("org", "show", "acme")["retention"] == {}
    said = cli.ok(*SET, "--days", "facts=30").out
    assert said == "acme keeps facts for 30 days; the rest as by default\n1 of memories end sooner than before\n"
    assert cli.json(*SET, "--days", "facts=30")["changed"] is False
    assert cli.ok(*SET, "--days", "facts=default").out == "acme keeps everything as by default\n"
    assert cli.json("org", "show", "acme")["retention"] == {}
    changes = [entry["action"] for entry in cli.json("ledger", "show", "acme")]
    assert changes[-4:] == ["org_changed", "retention_applied"] * 2


@pytest.mark.parametrize(
    ("days", "why"),
    [
        ("facts=7", "below the floor of 30 days; what must go sooner is erased, by name and on record: afterword dsar"),
        ("facts=9999", "above 3650 days"),
        ("secrets=60", "has no class secrets; an org may set facts, preferences"),
        ("rejected_events=60", "has no class rejected_events"),
        ("facts", "'facts' is not CLASS=DAYS"),
        ("facts=long", "is not CLASS=DAYS or CLASS=default"),
        ("secrets=default", "has no class secrets"),
    ],
)
def test_what_no_org_may_set_is_refused_with_the_way_out(cli: Cli, fleet: Fleet, days: str, why: str) -> None:
    assert why in cli.refused(*SET, "--days", days)


@pytest.mark.parametrize("embedder", [WordVectors, lambda: None], ids=["vectors", "no vectors"])
@pytest.mark.parametrize("again", [FACT, "The search service stores its document in Postgres."], ids=["exact", "near"])
def test_what_is_said_anew_is_no_repeat_of_what_has_expired(cli: Cli, fleet: Fleet, again: str, embedder: Any) -> None:
    """It would be counted for a memory that no agent is given any more, and be lost."""
    fleet.install(extractor=Echo(), embedder=embedder)
    fleet.ingest(event(FACT, session="a"))
    fleet.run()
    fleet.rows("UPDATE memories SET expires_at = now() - interval '1 h' RETURNING id")
    fleet.ingest(event(again, session="b"))
    fleet.run()
    found = cli.json("recall", "search documents", "--org", "acme", "--user", "u1")
    assert [hit["content"] for hit in found["hits"]] == [again]


def test_what_a_legal_hold_keeps_is_counted_and_stays_until_it_is_released(cli: Cli, kept: Fleet) -> None:
    """Of the session's user; placed and released by the commands that do so."""
    about = ("--org", "acme", "--subject", "user:u1", "--reason", "a court asked")
    cli.ok("dsar", "hold", *about)
    assert cli.ok("retention", "run").out == "nothing is past its date\n1 of transcripts are kept by a legal hold\n"
    assert [(row["due"], row["held"]) for row in cli.json("retention", "show")["past_date"]] == [(0, 1)]
    assert kept.rows("SELECT count(*) AS n FROM transcripts") == [{"n": 1}]
    cli.ok("dsar", "unhold", *about)
    assert purged(cli.json("retention", "run")) == {"transcripts": 1}
