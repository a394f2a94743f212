"""Rules as people keep them: feedback, a workspace's file, preferences, the guard at approval, the digest."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fleet import Fleet
from tests.integration.cli.conftest import Cli

ASK = "Ask for the order number once, not twice."
FILE = """
namespaces:
  - name: support
    scope: agent=support
    path: rules/support.md
    title: Support
    description: orders, refunds, customers
    preamble: How support speaks.
    agents: [support]
    rules:
      - Greet the customer by name.
      - Never promise a refund.
  - name: house
    rules: [Write dates as year-month-day.]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "workspace.yaml"
    path.write_text(FILE)
    return path


def rules(fleet: Fleet) -> dict[str, tuple[str, str, int]]:
    found = fleet.rows("SELECT content, status, namespace, occurrences FROM memories ORDER BY id")
    return {row["content"]: (row["status"], row["namespace"], row["occurrences"]) for row in found}


def held(cli: Cli) -> list[str]:
    return [str(row["memory_id"]) for row in cli.json("review", "list", "--org", "acme")]


def test_feedback_waits_counts_and_is_filed_by_a_person(cli: Cli, fleet: Fleet, file: Path) -> None:
    cli.ok("workspace", "apply", file, "--org", "acme")
    fleet.run()
    for said in (ASK, ASK.lower()):
        cli.ok("feedback", "add", said, "--org", "acme", "--namespace", "house")
        fleet.run()
    assert rules(fleet)[ASK] == ("pending", "house", 2)
    (waiting,) = held(cli)
    assert cli.json("review", "show", waiting, "--org", "acme")["hold_reasons"] == ["rule"]
    cli.ok("review", "approve", waiting, "--org", "acme", "--namespace", "support", "--scope", "object=order-form")
    assert rules(fleet)[ASK] == ("active", "support", 2)
    (scope,) = fleet.rows("SELECT scope_kind, scope_value FROM memories WHERE content = %s", ASK)
    assert scope == {"scope_kind": "object", "scope_value": "order-form"}


def test_a_namespace_outside_the_manifest_is_refused_and_counted(cli: Cli, fleet: Fleet) -> None:
    said = cli.refused("feedback", "add", ASK, "--org", "acme", "--namespace", "suport")
    assert "no namespace 'suport'" in said
    assert "there are: default" in said
    assert fleet.rows("SELECT id FROM runs") == []
    assert [entry["action"] for entry in cli.json("ledger", "show", "suport")] == ["namespace_refused"]


def test_a_workspace_is_shown_first_and_applied_once(cli: Cli, fleet: Fleet, file: Path) -> None:
    said = cli.ok("workspace", "apply", file, "--org", "acme", "--dry-run").out
    assert "+ namespace support (agent=support)" in said
    assert "+ Never promise a refund." in said
    assert fleet.rows("SELECT name FROM namespaces") == [{"name": "default"}]
    cli.ok("workspace", "apply", file, "--org", "acme")
    fleet.run()
    assert rules(fleet) == {
        "Greet the customer by name.": ("active", "support", 1), "Never promise a refund.": ("active", "support", 1),
        "Write dates as year-month-day.": ("active", "house", 1),
    }  # fmt: skip
    again = cli.json("workspace", "apply", file, "--org", "acme")
    assert (again["changes"], again["runs"]) == ([], [])
    file.write_text(FILE.replace("How support speaks.", "How we speak.").replace("Never promise", "Do not promise"))
    (change,) = cli.json("workspace", "apply", file, "--org", "acme")["changes"]
    assert change["fields"] == {"preamble": ["How support speaks.", "How we speak."]}
    assert change["rules"] == ["Do not promise a refund."]


def test_what_detection_finds_in_a_kept_rule_still_waits(cli: Cli, fleet: Fleet, file: Path) -> None:
    file.write_text("namespaces: [{name: house, rules: ['Call +44 20 7946 0958 before a release.']}]")
    cli.ok("workspace", "apply", file, "--org", "acme")
    fleet.run()
    (row,) = fleet.rows("SELECT status, hold_reasons FROM memories")
    assert row["status"] == "pending"
    assert "rule" not in row["hold_reasons"]
    file.write_text("namespaces: [{name: house, rules: ['Use AKIAQ3EGRT7VNO5K2JXW for staging.']}]")
    for _ in range(2):
        cli.ok("workspace", "apply", file, "--org", "acme")
        fleet.run()
    found = [text for text in rules(fleet) if "staging" in text]
    assert found == ["Use [REDACTED:secret] for staging."]


@pytest.mark.parametrize(
    ("text", "said"),
    [("namespaces: [", "is no YAML"), ("a: 1\na: 2", "is no YAML"), ("- 1", "the document"), ("", "the document")],
)
def test_what_is_no_workspace_is_refused(cli: Cli, fleet: Fleet, file: Path, text: str, said: str) -> None:
    file.write_text(text)
    assert said in cli.refused("workspace", "apply", file, "--org", "acme")


def test_a_near_rule_is_not_approved_beside_another_unasked(cli: Cli, fleet: Fleet) -> None:
    for text in ("Always run the integration tests before a release.", "Always run the unit tests before a release."):
        cli.ok("feedback", "add", text, "--org", "acme")
        fleet.run()
    first, second = sorted(held(cli))
    cli.ok("review", "approve", first, "--org", "acme")
    assert first in cli.refused("review", "approve", second, "--org", "acme")
    assert cli.json("review", "approve", second, "--org", "acme", "--beside") == {"done": "approved"}
    assert cli.json("review", "approve", first, "--org", "acme", "--beside") == {"done": "already_active"}


def test_a_misfiled_rule_is_moved_and_stays_decided(cli: Cli, fleet: Fleet, file: Path) -> None:
    cli.ok("workspace", "apply", file, "--org", "acme")
    fleet.run()
    (row,) = fleet.rows("SELECT id FROM memories WHERE namespace = 'house'")
    moved = (
        "review",
        "rehome",
        row["id"],
        "--org",
        "acme",
        "--namespace",
        "support",
        "--reason",
        "support writes them",
    )
    assert cli.json(*moved) == {"done": "moved"}
    assert cli.json(*moved) == {"done": "already_there"}
    (after,) = fleet.rows("SELECT namespace, scope_kind, scope_value, status FROM memories WHERE id = %s", row["id"])
    assert after == {"namespace": "support", "scope_kind": "agent", "scope_value": "support", "status": "active"}
    assert "memory_rehomed" in [entry["action"] for entry in cli.json("ledger", "show", row["id"])]
    assert "no such namespace" in cli.refused(*moved[:6], "nowhere", *moved[7:])


def test_a_preference_is_the_users_own_and_taken_back_by_them(cli: Cli, fleet: Fleet) -> None:
    cli.ok("preference", "add", "Answer in Portuguese.", "--org", "acme", "--user", "u-1", "--no-wait")
    fleet.run()
    (row,) = fleet.rows("SELECT id, status, scope_kind, scope_value, subject_id, author FROM memories")
    assert tuple(row.values())[1:] == ("active", "user", "u-1", "u-1", "u-1")
    mine = cli.ok("digest", "--org", "acme", "--agent", "a", "--user", "u-1")
    assert "- Answer in Portuguese." in mine.out
    theirs = cli.ok("digest", "--org", "acme", "--agent", "a", "--user", "u-2")
    assert (theirs.out, "is empty" in theirs.err) == ("", True)
    assert "no such preference" in cli.refused("preference", "revoke", row["id"], "--org", "acme", "--user", "u-2")
    revoke = ("preference", "revoke", row["id"], "--org", "acme", "--user", "u-1")
    assert [cli.json(*revoke)["done"] for _ in range(2)] == ["revoked", "already_revoked"]
    assert cli.ok("digest", "--org", "acme", "--agent", "a", "--user", "u-1").out == ""


def test_a_digest_holds_what_people_approved_for_this_agent(cli: Cli, fleet: Fleet, file: Path) -> None:
    cli.ok("workspace", "apply", file, "--org", "acme")
    cli.ok("feedback", "add", "Not approved yet.", "--org", "acme")
    fleet.run()
    said = cli.json("digest", "--org", "acme", "--agent", "support")
    lines = [line for line in said["text"].splitlines() if line.startswith(("##", "-", "How"))]
    assert lines[:3] == ["## house.md", "- Write dates as year-month-day.", "## rules/support.md Support"]
    assert lines[3] == "How support speaks."
    assert sorted(lines[4:]) == ["- Greet the customer by name.", "- Never promise a refund."]
    other = cli.json("digest", "--org", "acme", "--agent", "coder")["text"]
    assert "support" not in other.casefold()
    (record,) = fleet.rows("SELECT mode, hits, block_hash FROM recalls WHERE id = %s", said["recall"])
    assert (record["mode"], len(record["hits"]), record["block_hash"].hex()) == ("digest", 3, said["sha256"])
