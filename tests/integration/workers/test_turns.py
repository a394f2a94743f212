"""Turns through the fleet: kept where the org says so, gated like a candidate, repeated by nothing."""

from __future__ import annotations

from typing import Any

from tests.fleet import Fleet, event
from tests.integration.workers.scripted import Echo, Silent

CHAT = "The tea kettle in our kitchen broke on Sunday."
PHONE = "The support line of the warehouse is +44 20 7946 0958 on weekdays."
KEY = "The key for the staging bucket is AKIAQ3EGRT7VNO5K2JXW since May."
COLUMNS = "SELECT kind, tier, status, content, scope_kind, scope_value, hold_reasons, provenance FROM memories"


def kept(fleet: Fleet) -> list[dict[str, Any]]:
    return fleet.rows(f"{COLUMNS} WHERE kind = 'turn' ORDER BY observed_at")


def test_an_org_that_has_not_decided_keeps_no_turns(fleet: Fleet) -> None:
    fleet.database.org("acme")
    fleet.install(extractor=Silent())
    fleet.ingest(event(CHAT))
    fleet.run()
    assert kept(fleet) == []


def test_what_is_said_is_redacted_gated_embedded_and_left_alone_by_consolidation(fleet: Fleet) -> None:
    fleet.database.org("acme", turns=True)
    fleet.install(extractor=Silent())
    fleet.ingest(event(CHAT, PHONE, KEY), event(CHAT, session="s2"))
    fleet.run()
    first, held, secret, again = kept(fleet)[0], *kept(fleet)[-2:], kept(fleet)[1]
    assert {row["state"] for row in fleet.rows("SELECT state FROM runs")} == {"consolidated"}
    assert (first["content"], first["tier"], first["status"]) == (CHAT, "episodic", "active")
    assert (first["scope_kind"], first["scope_value"]) == ("agent", "coder")
    assert first["provenance"]["provider"] == "transcript"
    assert (held["status"], held["hold_reasons"]) == ("pending", ["class_found"])
    assert secret["content"].endswith("[REDACTED:secret] since May.")
    assert secret["status"] == "pending"
    # said in two sessions is said twice: what was said is no fact that could be repeated
    assert (again["content"], again["status"]) == (CHAT, "active")
    assert fleet.rows("SELECT count(*) AS n FROM occurrences") == [{"n": 0}]
    embedded = fleet.rows("SELECT count(*) AS n FROM embeddings_1")
    assert embedded == [{"n": 2}]


def test_a_fact_repeats_no_turn_and_an_equal_turn_is_left_to_it(fleet: Fleet) -> None:
    fleet.database.org("acme", turns=True)
    fleet.install(extractor=Echo())
    fleet.ingest(event(CHAT))
    fleet.run()
    assert [row["kind"] for row in fleet.rows(COLUMNS)] == ["fact"]


def test_turns_that_an_earlier_run_covered_are_not_kept_again(fleet: Fleet) -> None:
    fleet.database.org("acme", turns=True)
    fleet.install(extractor=Silent())
    fleet.ingest(event(CHAT))
    fleet.run()
    fleet.ingest(event(CHAT, "The new tea kettle came on Monday."))
    fleet.ingest(event(CHAT, "The new tea kettle came on Monday."))
    fleet.run()
    assert [row["content"] for row in kept(fleet)] == [CHAT, "The new tea kettle came on Monday."]


def test_a_turn_expires_as_the_org_keeps_turns(fleet: Fleet) -> None:
    fleet.database.org("acme", turns=True, retention={"turns": 45})
    fleet.install(extractor=Silent())
    fleet.ingest(event(CHAT))
    fleet.run()
    [row] = fleet.rows("SELECT extract(day FROM expires_at - created_at)::int AS days FROM memories")
    assert row["days"] in (44, 45)
