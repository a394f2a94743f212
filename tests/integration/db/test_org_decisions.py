"""What an org may not decide, whoever writes it; and who answers for what it goes without."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pipeline.redaction.classes import DETECTOR_UNAVAILABLE, REQUIRED_BY_DEFAULT, ClassTier, tier_of
from tests.integration.db import rows
from tests.services import Database

LOW = sorted(cls for cls in REQUIRED_BY_DEFAULT if tier_of(cls) is ClassTier.LOW)


def change(database: Database, settings: dict[str, Any], *, reason: str | None = "a reason") -> str:
    """What psql as the operator is told; empty when it is done."""
    org = rows.fresh_org(database)
    said = f"'{reason}'" if reason is not None else "NULL"
    script = f"UPDATE orgs SET settings = settings || '{json.dumps(settings)}', reason = {said} WHERE id = {org.id}"
    return rows.psql(database, "operator", script).stderr


@pytest.mark.parametrize("cls", [*sorted(REQUIRED_BY_DEFAULT - set(LOW)), DETECTOR_UNAVAILABLE, "unheard_of", 1, None])
def test_no_setting_lets_in_what_is_high_or_unlooked_at(shared: Database, cls: object) -> None:
    assert "activatable_is_low" in change(shared, {"activatable_classes": ["phone", cls]})


@pytest.mark.parametrize("classes", [[], LOW, *[[cls] for cls in LOW]])
def test_low_classes_may_be_let_in_by_name(shared: Database, classes: list[str]) -> None:
    assert change(shared, {"activatable_classes": classes}) == ""


@pytest.mark.parametrize(
    "waived", [{"person": ""}, {"person": "  "}, {"person": None}, {"person": 1}, {"dob": "ana", "person": ""}, [], "x",
               ["person"]],
)  # fmt: skip
def test_a_waiver_names_a_person(shared: Database, waived: Any) -> None:
    assert "waivers_are_named" in change(shared, {"waived_classes": waived})


@pytest.mark.parametrize("reason", [None, "", "  "])
def test_a_waiver_has_a_reason(shared: Database, reason: str | None) -> None:
    assert "a waiver needs a reason" in change(shared, {"waived_classes": {"person": "ana"}}, reason=reason)
    assert change(shared, {"waived_classes": {"person": "ana"}}) == ""


def test_an_org_is_not_made_with_a_waiver_nobody_explains(shared: Database) -> None:
    done = rows.psql(shared, "operator", "INSERT INTO orgs (name, settings) VALUES ('sly', "
                     """'{"waived_classes": {"person": "ana"}}')""")  # fmt: skip
    assert "a waiver needs a reason" in done.stderr


def test_who_waived_what_and_why_is_in_the_ledger(shared: Database) -> None:
    assert change(shared, {"waived_classes": {"person": "ana"}}, reason="no names here") == ""
    with shared.as_role("operator") as conn:
        row = conn.execute("SELECT detail FROM ledger WHERE action = 'org_changed' ORDER BY id DESC LIMIT 1").fetchone()
    assert row is not None
    assert row["detail"]["reason"] == "no names here"
    assert row["detail"]["changed"]["waived_classes"] == [{}, {"person": "ana"}]
