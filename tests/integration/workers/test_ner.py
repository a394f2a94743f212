"""The bundled model in the redaction stage: who is named waits for a person, what sounds like a name does not."""

from __future__ import annotations

import pytest

from ops.compose import verified_detectors
from ops.settings import Settings
from tests.fleet import Fleet, event
from tests.integration.workers.scripted import Echo

REQUIRED = {"required_classes": ["person", "address"]}


@pytest.mark.parametrize(
    ("said", "status", "classes"),
    [
        ("The lease was signed by Margaret Ellison on a Friday.", "pending", ["person"]),
        ("Parcels for the warehouse go to 27 Maple Grove Road, Bristol.", "pending", ["address"]),
        ("Update CLAUDE.md and package.json when setTheme changes.", "active", []),
        ("The bug sits in setup.go:680-706, see localhost:3001 for more.", "active", []),
    ],
)
def test_who_is_named_waits_verbatim(fleet: Fleet, said: str, status: str, classes: list[str]) -> None:
    fleet.database.org("acme", **REQUIRED)
    fleet.install(extractor=Echo(), detectors=verified_detectors(Settings(ner="rampart")))
    fleet.ingest(event(said))
    fleet.run("extraction", "redaction")
    assert fleet.rows("SELECT status, classes, content FROM memories") == [
        {"status": status, "classes": classes, "content": said}
    ]


def test_without_a_model_everything_waits(fleet: Fleet) -> None:
    fleet.database.org("acme", **REQUIRED)
    fleet.install(extractor=Echo(), detectors=verified_detectors(Settings(ner="none")))
    fleet.ingest(event("The search service stores its documents in Postgres."))
    fleet.run("extraction", "redaction")
    assert fleet.rows("SELECT status, hold_reasons FROM memories") == [
        {"status": "pending", "hold_reasons": ["detector_unavailable"]}
    ]


def test_an_org_that_speaks_what_the_model_does_not_know_waits(fleet: Fleet) -> None:
    fleet.database.org("acme", languages=["en", "ja"], **REQUIRED)
    fleet.install(extractor=Echo(), detectors=verified_detectors(Settings(ner="rampart")))
    fleet.ingest(event("The search service stores its documents in Postgres."))
    fleet.run("extraction", "redaction")
    assert fleet.rows("SELECT hold_reasons FROM memories") == [{"hold_reasons": ["detector_unavailable"]}]
