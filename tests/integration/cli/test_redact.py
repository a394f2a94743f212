"""redact explain --org: as that org would decide."""

from __future__ import annotations

from tests.fleet import Fleet
from tests.integration.cli.conftest import Cli

PHONE = "The support line of the warehouse is +44 20 7946 0958 on weekdays."


def test_an_org_s_own_settings_decide(cli: Cli, fleet: Fleet) -> None:
    told = cli.json("redact", "explain", "The importer runs at six.", "--org", "acme")
    assert (told["gate"], told["uncovered"]) == ("activate", [])
    fleet.database.org("strict", required_classes=["secret", "a_class_of_tomorrow"])
    told = cli.json("redact", "explain", PHONE, "--org", "strict")
    assert (told["gate"], told["uncovered"]) == ("hold", ["a_class_of_tomorrow"])
    assert told["reasons"] == ["class_found", "detector_unavailable", "subject_missing"]


def test_an_org_that_is_not_there_is_named(cli: Cli) -> None:
    assert "nobody" in cli.refused("redact", "explain", "x", "--org", "nobody")
