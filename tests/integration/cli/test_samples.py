"""Drops, audits and thresholds at the command line: asked by name, shown without content, refused with the way out."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from db import orgs
from pipeline.dropping import Dropping
from pipeline.extraction import prompts
from pipeline.extraction.stamp import rules_revision
from tests.fleet import Fleet, event
from tests.integration.cli.conftest import Cli
from tests.integration.cli.test_review import working
from tests.integration.db import rows
from tests.integration.workers.scripted import Echo

TEXT = "The search service stores its documents in Postgres."
EVERY = Dropping({"echo/none": 0.5}, review_share=10_000)


@pytest.fixture
def drop(cli: Cli, fleet: Fleet) -> str:
    fleet.install(extractor=Echo(confidence=0.2), dropping=EVERY)
    fleet.ingest(event(TEXT))
    fleet.run()
    (found,) = cli.json("drops", "list", "--org", "acme", "--open")
    return str(found["id"])


def test_drops_are_listed_with_their_attribution_and_without_content(cli: Cli, fleet: Fleet, drop: str) -> None:
    (row,) = cli.json("drops", "list")
    assert (row["rule"], row["confidence"], row["threshold"], row["stamp"], row["review"]) == (
        "confidence_below", 0.2, 0.5, "echo/none", "open")  # fmt: skip
    assert (row["prompt_revision"], row["rules_revision"]) == ("none", rules_revision())
    assert [item["id"] for item in cli.ok("drops", "list", "--org", "acme").columns] == [drop]
    run = str(fleet.rows("SELECT id FROM runs")[0]["id"])
    shown = (
        cli.ok("runs", "show", run).out + cli.ok("drops", "list").out + cli.ok("review", "list", "--org", "acme").out
    )
    assert "Postgres" not in shown
    assert drop in shown
    assert "candidate_dropped" in {entry["action"] for entry in cli.json("runs", "show", run)["timeline"]}


def test_a_drop_is_shown_to_a_reviewer_on_record(cli: Cli, fleet: Fleet, drop: str) -> None:
    assert cli.json("drops", "show", drop, "--org", "acme")["content"] == TEXT
    assert TEXT in cli.ok("drops", "show", drop[:13], "--org", "acme").out
    fleet.database.org("other")
    assert "no such drop for this grant" in cli.refused("drops", "show", drop, "--org", "other")
    assert [e["actor"] for e in cli.json("ledger", "show", drop) if e["action"] == "drop_viewed"] == [
        "operator-of-the-day"] * 2  # fmt: skip


def test_a_right_drop_is_confirmed_and_stays_out(cli: Cli, drop: str) -> None:
    words = ("drops", "confirm", drop, "--org", "acme", "--reason", "small talk")
    assert cli.ok(*words).out == "confirmed\n"
    assert cli.json(*words) == {"done": "already_confirmed"}
    assert cli.ok("drops", "list", "--open").out == "no sample waits\n"
    assert "found right" in cli.refused("drops", "restore", drop, "--org", "acme", "--reason", "no")


def test_a_wrong_drop_is_restored_through_the_gate(cli: Cli, fleet: Fleet, drop: str) -> None:
    words = ("drops", "restore", drop, "--org", "acme", "--reason", "it was decided")
    with working(fleet):
        said = cli.json(*words)
        again = cli.json(*words)
    assert [memory["status"] for memory in said["memories"]] == ["active"]
    assert again["run"] == said["run"]
    assert fleet.rows("SELECT content, status FROM memories") == [{"content": TEXT, "status": "active"}]
    assert "a restoration needs a reason" in cli.refused("drops", "restore", drop, "--org", "acme", "--reason", " ")


def audited(fleet: Fleet, count: int, **changes: Any) -> list[UUID]:
    """Active memories of echo/none under today's prompt and rules, each with an open audit."""
    by = {"provider": "echo", "model": "none", "prompt_revision": prompts.load().revision,
          "rules_revision": rules_revision()}  # fmt: skip
    with fleet.database.as_role("operator") as conn:
        org = orgs.get(conn, "acme")
    with fleet.database.as_role("worker") as conn:
        return [
            rows.insert_memory(
                conn,
                org,
                f"fact {n}",
                **{"id": rows.new_id(in_sample=True), "provenance": by, "confidence": 0.3} | changes,
            )
            for n in range(count)
        ]


def test_an_audit_is_answered_and_a_bad_one_asks_for_more(cli: Cli, fleet: Fleet) -> None:
    right, wrong, gone = audited(fleet, 3)
    assert cli.ok("review", "approve", right, "--org", "acme").out == "audit approved\n"
    said = cli.ok("review", "reject", wrong, "--org", "acme", "--reason", "nobody said so")
    assert said.out == "audit rejected\n"
    assert f"afterword review forget|correct {wrong} --org acme" in said.err
    cli.ok("review", "forget", gone, "--org", "acme")
    assert [(row["memory_id"], row["review"]) for row in cli.json("review", "list", "--org", "acme")] == [
        (str(wrong), "amend")]  # fmt: skip
    report = cli.json("audit", "report", "--org", "acme")
    (found,) = report["precision"]
    assert (found["right"], found["wrong"], found["open"]) == (1, 2, 0)
    assert found["precision"] == pytest.approx(1 / 3)
    assert found["interval"] == [pytest.approx(0.0615, abs=1e-4), pytest.approx(0.7923, abs=1e-4)]
    assert [(row["stated"], row["judged"], row["right"]) for row in report["calibration"]] == [("0.3-0.4", 3, 1)]
    shown = cli.ok("audit", "report").out
    assert "echo/none" in shown
    assert "0.061-0.792" in shown
    assert "no answers yet" in cli.ok("audit", "report", "--since", "2999-01-01").out


def test_a_correction_that_waits_answers_the_audit_and_keeps_the_question(cli: Cli, fleet: Fleet) -> None:
    (wrong,) = audited(fleet, 1)
    text = "The support line of the warehouse is +44 20 7946 0958 on weekdays."
    with working(fleet):
        said = cli.json("review", "correct", wrong, "--org", "acme", "--text", text)
    assert said["memory"]["status"] == "active"
    kinds = {"kind": "audit", "decision": "correct"}, {"kind": "amend", "decision": None}
    found = fleet.rows("SELECT kind, decision FROM reviews WHERE memory_id = %s", wrong)
    assert sorted(found, key=str) == sorted(kinds, key=str)
    cli.ok("review", "approve", said["new"][0]["id"], "--org", "acme", "--subject", "person:warehouse")
    assert fleet.rows("SELECT status FROM memories WHERE id = %s", wrong) == [{"status": "superseded"}]
    assert [r["decision"] for r in fleet.rows("SELECT decision FROM reviews WHERE kind = 'amend'")] == ["voided"]


# --- Thresholds.


def test_a_threshold_nobody_bears_out_starts_no_worker_and_check_says_what_it_lacks(
    cli: Cli, fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFTERWORD_CONFIDENCE_THRESHOLDS", "echo/none=0.5")
    said = cli("worker", "redaction")
    assert said.code == 1
    assert "error: AFTERWORD_CONFIDENCE_THRESHOLDS: echo/none=0.5 lacks 11 more verdicts" in said.err
    assert "an answer about what it drops" in said.err
    checked = cli("check", "--json")
    assert checked.code == 1
    (item,) = checked.json["thresholds"]
    assert (item["verdicts"], item["samples"], len(item["lacks"])) == (0, 0, 2)
    assert "Threshold echo/none=0.5: 11 more verdicts" in cli("check").out
    for memory in audited(fleet, 10):
        cli.ok("review", "approve", memory, "--org", "acme")
    assert "lacks 1 more verdicts" in cli("worker", "redaction").err


def test_a_threshold_that_was_earned_is_loaded_on_record(
    cli: Cli, fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[Any] = []
    monkeypatch.setattr("workers.fleet.run", lambda *given, **more: ran.append(given))
    monkeypatch.setattr("workers.context.install", ran.append)
    for memory in audited(fleet, 11):
        cli.ok("review", "approve", memory, "--org", "acme")
    monkeypatch.setenv("AFTERWORD_CONFIDENCE_THRESHOLDS", "echo/none=0.5")
    for _ in range(2):
        cli.ok("worker", "redaction")
    context, run, *_ = ran
    assert context.dropping.thresholds == {"echo/none": 0.5}
    assert run[0] == "redaction"
    entries = fleet.rows("SELECT action, detail FROM ledger WHERE subject_id = 'echo/none'")
    assert [(entry["action"], entry["detail"]["verdicts"]) for entry in entries] == [("threshold_loaded", 11)]
    assert "11 verdicts; of 11 answers below it, 0 found it better left out" in cli("check").out


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DROP_REVIEW_BASIS_POINTS", "0"), ("DROP_REVIEW_BASIS_POINTS", "10001"), ("CONFIDENCE_THRESHOLDS", "0.5"),
        ("CONFIDENCE_THRESHOLDS", "echo/none=1.5"),
    ],
)  # fmt: skip
def test_what_no_boot_takes(cli: Cli, monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"AFTERWORD_{name}", value)
    assert f"error: AFTERWORD_{name}" in cli.refused("check")
    assert f"error: AFTERWORD_{name}" in cli.refused("worker", "redaction")
