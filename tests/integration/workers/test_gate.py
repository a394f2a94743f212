"""Redaction and the gate, from a session to the memory that is kept of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from pipeline.candidate import Kind
from pipeline.redaction.detectors import ALL
from pipeline.redaction.span import Span
from tests.fleet import Fleet, event
from tests.integration.workers.scripted import Echo

PLAIN = "The search service stores its documents in Postgres."
PHONE = "The support line of the warehouse is +44 20 7946 0958 on weekdays."
MAIL = "Questions about the canteen go to ana@example.org on weekdays."
TASTE = "I prefer short answers without a summary at the end."


@dataclass(frozen=True)
class Mute:
    """Claims what another detector claims, and finds nothing."""

    name: str
    classes: frozenset[str]

    def detect(self, text: str) -> list[Span]:
        return []


@dataclass(frozen=True)
class Case:
    said: str
    status: str
    classes: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    content: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    event: dict[str, Any] = field(default_factory=dict)
    extractor: Echo = field(default_factory=Echo)
    detectors: Any = ALL


REQUIRED = {"required_classes": ["person"]}
CASES = {
    "plain": Case(PLAIN, "active"),
    "HIGH is replaced": Case(
        MAIL, "pending", ["email"], ["class_found"], "Questions about the canteen go to [REDACTED:email] on weekdays."
    ),
    "LOW waits verbatim": Case(PHONE, "pending", ["phone"], ["class_found"]),
    "LOW an org lets in": Case(PHONE, "active", ["phone"], settings={"activatable_classes": ["phone"]}),
    "LOW about nobody": Case(PHONE, "pending", ["phone"], ["class_found", "subject_missing"], event={"user": None},
                             settings={"activatable_classes": ["phone"]}),
    "a class in the rationale": Case(PLAIN, "pending", ["email"], ["class_found"],
                                     extractor=Echo(rationale="Only ana@example.org knows.")),
    "a mask of the scrub": Case("The key for the staging bucket is AKIAQ3EGRT7VNO5K2JXW since May.", "pending",
                                ["secret"], ["class_found"],
                                "The key for the staging bucket is [REDACTED:secret] since May."),
    "a required class nobody covers": Case(PLAIN, "pending", ["detector_unavailable"], ["detector_unavailable"],
                                           settings=REQUIRED),
    "waived": Case(PLAIN, "active", settings={**REQUIRED, "waived_classes": {"person": "olga"}}),
    "a required class that is covered": Case(PLAIN, "active", settings={"required_classes": ["secret", "email"]}),
    "a detector that finds nothing": Case(
        PLAIN, "pending", ["detector_unavailable"], ["detector_unavailable"], settings={"required_classes": ["ip"]},
        detectors=(*(d for d in ALL if "ip" not in d.classes), Mute("ip", frozenset({"ip"}))),
    ),
    "a preference": Case(TASTE, "active", extractor=Echo(Kind.PREFERENCE)),
    "a preference of a failed session": Case(TASTE, "pending", [], ["failed_session"], event={"outcome": "failed"},
                                             extractor=Echo(Kind.PREFERENCE)),
    "a fact of a failed session": Case(PLAIN, "active", event={"outcome": "failed"}),
    "a rule": Case("Always run the integration tests before a release.", "pending", [], ["rule"],
                   extractor=Echo(Kind.RULE)),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_is_kept_of_a_session(fleet: Fleet, case: Case) -> None:
    fleet.database.org("acme", **case.settings)
    fleet.install(extractor=case.extractor, detectors=case.detectors)
    assert fleet.ingest(event(case.said, **case.event)) == []
    fleet.run("extraction", "redaction")
    (memory,) = fleet.rows("SELECT * FROM memories")
    assert (memory["status"], memory["classes"], memory["hold_reasons"]) == (case.status, case.classes, case.reasons)
    assert memory["content"] == (case.content or case.said)
    assert [item["quote"] for item in memory["evidence"]] == [memory["content"]]
    assert "ana@" not in memory["rationale"]
    reviews = fleet.rows("SELECT kind, reasons FROM reviews WHERE closed_at IS NULL")
    assert reviews == ([{"kind": "hold", "reasons": case.reasons}] if case.status == "pending" else [])
    assert fleet.rows("SELECT run_id FROM envelopes") == []


def test_what_says_the_same_once_it_is_redacted_is_one_memory(fleet: Fleet) -> None:
    fleet.database.org("acme")
    fleet.install(extractor=Echo())
    fleet.ingest(event(MAIL, MAIL.replace("ana", "bob"), PLAIN, PLAIN.upper()))
    fleet.run("extraction", "redaction")
    assert fleet.rows("SELECT state, error_code FROM runs") == [{"state": "redacted", "error_code": None}]
    assert len(fleet.rows("SELECT id FROM memories")) == 2


def test_a_text_a_detector_could_not_read_does_not_pass(fleet: Fleet) -> None:
    @dataclass(frozen=True)
    class Broken(Mute):
        def detect(self, text: str) -> list[Span]:
            if "Postgres" in text:
                raise IndexError(text)
            return []

    fleet.database.org("acme")
    fleet.install(
        extractor=Echo(), detectors=(*ALL, Broken("broken", frozenset())), attempts_max=1,
    )  # fmt: skip
    fleet.ingest(event(PLAIN, session="a"), event("The archive is kept on tape in the basement.", session="b"))
    fleet.run("extraction", "redaction")
    assert fleet.rows("SELECT session, state, error_code, error_detail FROM runs ORDER BY session") == [
        {"session": "a", "state": "dead_letter", "error_code": "detector_failed",
         "error_detail": "detector broken raised IndexError"},
        {"session": "b", "state": "redacted", "error_code": None, "error_detail": None},
    ]  # fmt: skip


def test_a_name_that_high_would_replace_is_nobodys_subject(fleet: Fleet) -> None:
    fleet.database.org("acme")
    fleet.install(extractor=Echo(subject_hint="ana@example.org"))
    fleet.ingest(event(MAIL, user=None))
    fleet.run("extraction", "redaction")
    (memory,) = fleet.rows("SELECT subject_id, hold_reasons FROM memories")
    assert memory == {"subject_id": None, "hold_reasons": ["class_found", "subject_missing"]}


@pytest.mark.parametrize("kind", ["proposal", "note"])
@pytest.mark.parametrize(
    ("said", "status", "reasons"),
    [
        (PLAIN, "active", []),
        ("Always run the integration tests before a release.", "pending", ["rule", "agent_proposal"]),
        ("The user prefers short answers without a summary.", "pending", ["agent_proposal"]),
    ],
)
def test_what_an_agent_proposes_skips_the_model_and_steers_nobody_unreviewed(
    fleet: Fleet, kind: str, said: str, status: str, reasons: list[str]
) -> None:
    class NeverAsked(Echo):
        def extract_many(self, batch: Any) -> Any:
            raise AssertionError("a proposal is no session")

    fleet.database.org("acme", extraction=False)
    fleet.install(extractor=NeverAsked())
    turn = {"role": "assistant", "text": said, "trust": "agent"}
    fleet.ingest(event(kind=kind, transcript={"turns": [turn]}))
    fleet.run()
    assert fleet.rows("SELECT state FROM runs") == [{"state": "consolidated"}]
    (memory,) = fleet.rows("SELECT status, hold_reasons, author_kind, provenance, evidence FROM memories")
    assert (memory["status"], memory["hold_reasons"]) == (status, reasons)
    assert memory["author_kind"] == "agent"
    assert memory["provenance"]["provider"] == "agent"
    assert memory["evidence"][0]["trust"] == "agent"


@pytest.mark.parametrize("year", [1900, 2026, 8999])
def test_a_sender_s_clock_does_not_lengthen_what_is_kept(fleet: Fleet, year: int) -> None:
    fleet.database.org("acme")
    fleet.install(extractor=Echo())
    said = event(PLAIN, ended_at=f"{year}-01-01T00:00:00Z")
    for turn in said["transcript"]["turns"]:
        turn["at"] = None
    fleet.ingest(said)
    fleet.run("extraction", "redaction")
    found = fleet.rows(
        """
        SELECT expires_at BETWEEN now() + interval '89 days' AND now() + interval '91 days' AS ok,
               extract(year FROM observed_at)::integer AS year FROM memories
        """
    )
    assert found == [{"ok": True, "year": year}]
