"""Nothing an operator may run prints a LOW span, whatever it was planted in; a reviewer's looks do, on record."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from typer.main import get_command

from ops.cli import app
from pipeline.dropping import Dropping
from pipeline.redaction.span import Span
from tests.fleet import Fleet, event
from tests.integration.cli.conftest import Cli
from tests.integration.workers.scripted import Echo

PHONE, ADDRESS, NAME = "+44 20 7946 0958", "81.2.69.142", "Oluwaseun Adeyemi-Brandt"
PLANTED = (PHONE, "7946 0958", ADDRESS, NAME, NAME.casefold(), "Adeyemi")
LET_IN = f"The support line of the warehouse is {PHONE} and its host is {ADDRESS}, says {NAME}."
HELD = f"The support line of the harbour is {PHONE} and its host is {ADDRESS}."

SHOWS_ON_PURPOSE = {"review show", "drops show", "near-duplicates show"}
"""A reviewer's looks, each in the ledger."""
CHANGES = {
    "up", "demo", "worker", "gateway", "migrate", "emit", "extract", "eval ab",
    "org create", "org set", "extraction enable", "extraction disable",
    "embed register", "embed migrate", "embed switch", "embed drop",
    "retention set", "retention run", "reevaluate", "ledger restored",
    "tokens create", "tokens rotate", "tokens revoke",
}  # fmt: skip
"""They print settings and counts, run the fleet, or read the caller's own file."""


class Names:
    """Finds the one name there is."""

    name, classes = "names", frozenset({"person"})

    def detect(self, text: str) -> list[Span]:
        at = text.find(NAME)
        return [] if at < 0 else [Span(at, at + len(NAME), "person", 1.0, "names")]


@pytest.fixture
def planted(cli: Cli, fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The same values let in, held, dropped beside a name, rejected at the door, and in a dead letter."""
    from pipeline.redaction.detectors import ALL

    detectors = (*ALL, Names())
    monkeypatch.setattr("ops.masking.working_detectors", lambda settings: detectors)
    cli.ok("org", "set", "acme", "--reason", "a directory", *(
        word for cls in ("phone", "ip", "person") for word in ("--activate-low", cls)))  # fmt: skip
    fleet.install(extractor=Echo(subject_hint=NAME), detectors=detectors)
    fleet.ingest(event(LET_IN, session="let-in", user=None))
    fleet.run()
    cli.ok("org", "set", "acme", "--reason", "no more", "--hold-low", "phone")
    fleet.ingest(event(HELD, session="held", user=None))
    fleet.ingest(event(HELD, session="late", org="nowhere"))
    fleet.run()
    fleet.install(extractor=Echo(confidence=0.1), dropping=Dropping({"echo/none": 0.5}, 10_000), detectors=detectors)
    fleet.ingest(event("The search service stores its documents in Postgres.", session="dropped"))
    fleet.run()
    found = {row["status"]: str(row["id"]) for row in fleet.rows("SELECT id, status FROM memories")}
    assert set(found) == {"active", "pending"}
    cli.ok("recall", "support line of the warehouse", "--org", "acme")
    return found


def leaks(text: str) -> list[str]:
    return [value for value in PLANTED if value in text]


def operator_calls(cli: Cli, fleet: Fleet, planted: dict[str, str]) -> Iterator[tuple[str, ...]]:
    """Every command that shows something, on everything there is to show."""
    yield from [("recall", "support line of the warehouse", "--org", "acme", *more) for more in ((), ("--block",))]
    for row in fleet.rows("SELECT id FROM recalls"):
        yield ("recall", "explain", str(row["id"]), "--org", "acme")
    for row in fleet.rows("SELECT id FROM runs"):
        yield ("runs", "show", str(row["id"]))
    for row in fleet.rows("SELECT id FROM rejected_events"):
        yield ("rejected", "show", str(row["id"]))
    for subject in (*planted.values(), "acme", *(str(row["id"]) for row in fleet.rows("SELECT id FROM runs"))):
        yield ("ledger", "show", subject)
    yield from [
        ("review", "list", "--org", "acme"), ("runs", "list"), ("dead-letters", "list"), ("rejected", "list"),
        ("near-duplicates", "list", "--org", "acme"), ("drops", "list"), ("audit", "report"),
        ("org", "show", "acme"), ("repair", "--dry-run"), ("consolidate", "run", "--org", "acme", "--dry-run"),
        ("ledger", "verify"), ("embed", "status"), ("replay", "list"), ("retention", "show"), ("dsar", "holds"),
        ("embed", "calibrate", "--dry-run"), ("usage", "report"), ("usage", "report", "--by", "memory"),
        ("check",), ("workspace", "show", "--org", "acme"), ("digest", "--org", "acme", "--agent", "coder"),
        ("recall", "log", "--org", "acme"),
        ("tokens", "list"),
    ]  # fmt: skip


def test_no_command_of_an_operator_prints_a_low_span(cli: Cli, fleet: Fleet, planted: dict[str, str]) -> None:
    calls = list(operator_calls(cli, fleet, planted))
    assert {call[0] for call in calls} >= {"recall", "runs", "rejected", "ledger", "review", "drops"}
    said = {}
    for call in calls:
        for more in ((), ("--json",)):
            shown = cli(*call, *more)
            assert shown.code in (0, 1), (call, shown.err)
            said[*call, *more] = shown.out + shown.err
    assert {call: leaks(text) for call, text in said.items() if leaks(text)} == {}
    recalled = said["recall", "support line of the warehouse", "--org", "acme", "--json"]
    assert "The support line of the warehouse is [REDACTED:phone]" in recalled
    assert "[REDACTED:ip]" in recalled
    assert "[REDACTED:person]" in recalled


def test_what_an_agent_is_given_is_not_masked_and_the_record_is_of_that(
    cli: Cli, fleet: Fleet, planted: dict[str, str]
) -> None:
    block = cli.json("recall", "support line of the warehouse", "--org", "acme", "--block")["block"]
    recorded = fleet.rows("SELECT encode(block_hash, 'hex') AS hash FROM recalls WHERE block_hash IS NOT NULL")
    assert [row["hash"] for row in recorded] == [block["sha256"]]
    assert leaks(block["text"]) == []


def test_a_reviewer_sees_it_as_it_stands_and_on_record(cli: Cli, planted: dict[str, str]) -> None:
    shown = cli.ok("review", "show", planted["pending"], "--org", "acme").out
    assert PHONE in shown
    assert [e["action"] for e in cli.json("ledger", "show", planted["pending"])][-1] == "memory_viewed"


def test_what_cannot_be_looked_at_is_not_shown(
    cli: Cli, planted: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Down(Names):
        def detect(self, text: str) -> list[Span]:
            raise RuntimeError

    monkeypatch.setattr("ops.masking.working_detectors", lambda settings: (Down(),))
    (hit,) = cli.json("recall", "support line of the warehouse", "--org", "acme")["hits"]
    assert hit["content"] == "[not shown: a detector is down]"


def test_every_command_is_tried_or_named_here(cli: Cli, fleet: Fleet, planted: dict[str, str]) -> None:
    """A command that comes later is looked at before this passes."""
    commands = get_command(app).commands  # type: ignore[attr-defined]
    known = {name if sub in ("", getattr(command, "default", None)) else f"{name} {sub}"
             for name, command in commands.items() for sub in getattr(command, "commands", {"": None})}  # fmt: skip
    tried = {" ".join(call[:2]) if " ".join(call[:2]) in known else call[0]
             for call in operator_calls(cli, fleet, planted)}  # fmt: skip
    judged = {f"review {verb}" for verb in ("approve", "edit", "redirect", "reject", "correct", "forget", "rehome")}
    acts = {"drops confirm", "drops restore", "near-duplicates undo", "replay", "feedback add", "outcome add",
            "preference add", "preference revoke", "workspace apply"}  # fmt: skip
    known = {words for words in known if words.split()[0] not in {"dsar", "redact"}}  # tried beside what they do
    assert known - tried - SHOWS_ON_PURPOSE - CHANGES - judged - acts == set()
