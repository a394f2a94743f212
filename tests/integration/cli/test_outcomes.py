"""Outcomes: verdicts are kept by the database, evaluations and ratings handed in; mined, never shown to an agent."""

from __future__ import annotations

import psycopg
import pytest

from db import outcomes
from tests.fleet import Fleet, event
from tests.integration.cli.conftest import Cli
from tests.integration.db import rows
from tests.integration.workers.scripted import Echo
from workers import housekeeping, metrics

RULE = "Always run the integration tests before you deploy the search service."


def kept(fleet: Fleet) -> list[dict[str, object]]:
    return fleet.rows("SELECT kind, verdict, confidence, score, eval_run, comment, actor FROM outcomes ORDER BY id")


def test_a_verdict_leaves_an_outcome_with_what_the_model_had_claimed(cli: Cli, fleet: Fleet) -> None:
    fleet.install(extractor=Echo(confidence=0.75))
    fleet.ingest(event(RULE))
    fleet.run()
    (review,) = cli.json("review", "list", "--org", "acme")
    for _ in range(2):
        cli.ok("review", "reject", review["memory_id"], "--org", "acme", "--reason", "a guess")
    assert kept(fleet) == [{"kind": "verdict", "verdict": "reject", "confidence": 0.75, "score": None, "eval_run": None,
                            "comment": None, "actor": "operator-of-the-day"}]  # fmt: skip


def test_a_verdict_stands_though_its_outcome_is_lost_and_the_loss_is_counted(cli: Cli, fleet: Fleet) -> None:
    fleet.ingest(event(RULE))
    fleet.run()
    (review,) = cli.json("review", "list", "--org", "acme")
    with rows.as_admin(fleet.database) as conn:
        conn.execute("ALTER TABLE outcomes RENAME TO gone")
    cli.ok("review", "reject", review["memory_id"], "--org", "acme", "--reason", "a guess")
    said = cli.refused("outcome", "add", "--org", "acme", "--score", "0.5")
    assert "counted as lost" in said
    with fleet.database.as_role("worker") as conn:
        assert outcomes.lost(conn) == 2
        housekeeping.hear_silence(conn)
    assert metrics.OUTCOMES_LOST._value.get() == 2


def test_ratings_and_evaluations_are_kept_without_secrets(cli: Cli, fleet: Fleet) -> None:
    cli.ok("outcome", "add", "--org", "acme", "--score", "0.1", "--comment", "it wrote AKIAQ3EGRT7VNO5K2JXW down")
    cli.ok("outcome", "add", "--org", "acme", "--score", "1", "--kind", "eval", "--eval-run", "nightly-7")
    assert "names its run" in cli.misused("outcome", "add", "--org", "acme", "--score", "1", "--kind", "eval")
    assert [(row["kind"], row["eval_run"], row["comment"]) for row in kept(fleet)] == [
        ("rating", None, "it wrote [REDACTED:secret] down"), ("eval", "nightly-7", None),
    ]  # fmt: skip


@pytest.mark.parametrize("role", ["agent", "reviewer", "operator"])
def test_no_login_behind_a_door_reads_an_outcome(fleet: Fleet, role: str) -> None:
    with fleet.database.as_role(role) as conn, pytest.raises(psycopg.errors.InsufficientPrivilege):
        conn.execute("SELECT comment FROM outcomes")


def test_what_renders_a_prompt_cannot_reach_an_outcome(fleet: Fleet) -> None:
    """Neither the role that answers recalls and digests, nor anything it owns, has a way to the table."""
    with rows.as_admin(fleet.database) as conn:
        may = conn.execute("SELECT has_table_privilege('afterword_recall', 'outcomes', 'SELECT') AS may").fetchone()
        views = conn.execute(
            "SELECT c.relname FROM pg_depend d JOIN pg_rewrite w ON w.oid = d.objid"
            " JOIN pg_class c ON c.oid = w.ev_class"
            " WHERE d.refobjid = 'outcomes'::regclass AND c.relname <> 'past_date'"
        ).fetchall()
        functions = conn.execute(
            "SELECT p.proname FROM pg_proc p WHERE p.proowner = 'afterword_recall'::regrole AND p.prosrc ~ 'outcomes'"
        ).fetchall()
    assert may == {"may": False}
    assert (views, functions) == ([], [])


def test_an_erasure_reaches_what_a_comment_says(cli: Cli, fleet: Fleet) -> None:
    cli.ok("outcome", "add", "--org", "acme", "--score", "0", "--comment", "Ana Silva was asked twice")
    cli.ok("outcome", "add", "--org", "acme", "--score", "0", "--comment", "somebody was asked twice")
    subject = ("--org", "acme", "--subject", "person:ana silva")
    assert cli.json("dsar", "held", *subject)["stores"]["outcomes"] == 1
    receipt = cli.json("dsar", "forget", *subject, "--reason", "asked", "--yes")
    assert receipt["stores"]["outcomes"] == 1
    assert [row["comment"] for row in kept(fleet)] == ["somebody was asked twice"]


def test_outcomes_end_after_thirty_days(cli: Cli, fleet: Fleet) -> None:
    cli.ok("outcome", "add", "--org", "acme", "--score", "0")
    with rows.as_admin(fleet.database) as conn:
        conn.execute("UPDATE outcomes SET at = now() - interval '31 days', expires_at = now() - interval '1 day'")
    assert cli.json("retention", "run", "--org", "acme")
    assert kept(fleet) == []
