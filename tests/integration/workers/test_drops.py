"""Confidence that misses its threshold, from a session to the drop and back in; and what a person kept out before."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from psycopg import errors

from db import orgs, redaction, reviews
from db.connect import granted
from db.reviews import Placement
from db.tokens import Bearer, mint
from pipeline.candidate import Kind
from pipeline.dropping import Dropping
from pipeline.redaction.span import Span
from tests.fleet import Fleet, event
from tests.integration.workers.scripted import Echo, Unsupported

PLAIN = "The search service stores its documents in Postgres."
PHONE = "The support line of the warehouse is +44 20 7946 0958 on weekdays."
LOADED = Dropping({"echo/none": 0.5}, review_share=10_000)


class Unsure(Echo):
    """Echo, at a stated confidence."""

    def __init__(self, confidence: float | None, kind: Kind = Kind.FACT) -> None:
        super().__init__(kind, confidence=confidence)


def said(fleet: Fleet, text: str, session: str = "s1", **more: Any) -> None:
    fleet.ingest(event(text, session=session, **more))
    fleet.run()


def judge(fleet: Fleet, act: Any) -> Any:
    """One act of a reviewer of acme."""
    with fleet.database.as_role("operator") as conn:
        token = mint(conn, orgs.get(conn, "acme").id, Bearer("reviewer", "rita"), lives_seconds=60)
    with fleet.database.as_role("reviewer") as conn, granted(conn, token):
        return act(conn)


def standing(fleet: Fleet) -> list[tuple[str, list[str]]]:
    found = fleet.rows("SELECT status, hold_reasons FROM memories ORDER BY created_at, id")
    return [(row["status"], row["hold_reasons"]) for row in found]


CASES: dict[str, tuple[str, dict[str, Any], Echo, list[tuple[str, list[str]]]]] = {
    "below": (PLAIN, {}, Unsure(0.49), []),
    "at it": (PLAIN, {}, Unsure(0.5), [("active", [])]),
    "nothing stated": (PLAIN, {}, Unsure(None), [("active", [])]),
    "a class": (PHONE, {}, Unsure(0.1), [("pending", ["class_found"])]),
    "a class the org lets in": (PHONE, {"activatable_classes": ["phone"]}, Unsure(0.1), [("pending", ["class_found"])]),
    "a class nobody covers": (PLAIN, {"required_classes": ["person"]}, Unsure(0.1),
                              [("pending", ["detector_unavailable"])]),
    "a reason to hold": ("Always run the tests before a release.", {}, Unsure(0.1, Kind.RULE), [("pending", ["rule"])]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "settings", "extractor", "kept"), CASES.values(), ids=CASES)
def test_what_confidence_drops(
    fleet: Fleet, text: str, settings: dict[str, Any], extractor: Echo, kept: list[tuple[str, list[str]]]
) -> None:
    fleet.database.org("acme", **settings)
    fleet.install(extractor=extractor, dropping=LOADED)
    said(fleet, text)
    assert standing(fleet) == kept
    assert fleet.rows("SELECT content, rule, confidence FROM drops") == (
        [] if kept else [{"content": PLAIN, "rule": "confidence_below", "confidence": 0.49}]
    )
    assert fleet.rows("SELECT state FROM runs") == [{"state": "consolidated"}]


def test_as_it_ships_nothing_is_dropped(fleet: Fleet) -> None:
    fleet.database.org("acme")
    fleet.install(extractor=Unsure(0.0))
    said(fleet, PLAIN)
    assert standing(fleet) == [("active", [])]


def test_a_restored_drop_passes_the_gate_like_any_other_and_is_not_dropped_again(fleet: Fleet) -> None:
    fleet.database.org("acme")
    fleet.install(extractor=Unsure(0.1), dropping=LOADED)
    said(fleet, PLAIN)
    (drop,) = fleet.rows("SELECT id FROM drops")
    for _ in range(2):
        judge(fleet, lambda conn: reviews.restore_drop(conn, drop["id"], comment="it was decided"))
        fleet.run()
    (memory,) = fleet.rows("SELECT content, status, confidence, provenance FROM memories")
    assert (memory["content"], memory["status"], memory["provenance"]["restored"]) == (PLAIN, "active", str(drop["id"]))
    assert fleet.rows("SELECT state FROM runs WHERE kind = 'verdict'") == [{"state": "consolidated"}]
    assert fleet.rows("SELECT count(*) AS n FROM embeddings_1") == [{"n": 1}]
    assert fleet.rows("SELECT run_id FROM envelopes") == []


def test_a_detector_that_came_since_holds_what_is_restored(fleet: Fleet) -> None:
    class Newer:
        name, classes = "newer", frozenset({"project_name"})

        def detect(self, text: str) -> list[Span]:
            at = text.find("Postgres")
            return [] if at < 0 else [Span(at, at + 8, "project_name", 1.0, "newer")]

    fleet.database.org("acme")
    fleet.install(extractor=Unsure(0.1), dropping=LOADED)
    said(fleet, PLAIN)
    (drop,) = fleet.rows("SELECT id FROM drops")
    fleet.install(extractor=Unsure(0.1), dropping=LOADED, detectors=(Newer(),))
    judge(fleet, lambda conn: reviews.restore_drop(conn, drop["id"], comment="it was decided"))
    fleet.run()
    (memory,) = fleet.rows("SELECT content, status, hold_reasons FROM memories")
    assert memory == {"content": PLAIN.replace("Postgres", "[REDACTED:project_name]"), "status": "pending",
                      "hold_reasons": ["class_found"]}  # fmt: skip


# --- What a person kept out.

SAME = [
    "THE  search service stores its documents in Postgres.",
    "So the search service stores its documents in Postgres!",
]
OTHER = "The search service stores its documents in Valkey."


def forgotten(fleet: Fleet) -> UUID:
    """PLAIN, let in and then forgotten by a person."""
    fleet.database.org("acme")
    fleet.install(extractor=Echo())
    said(fleet, PLAIN, "s0")
    (memory,) = fleet.rows("SELECT id FROM memories")
    judge(fleet, lambda conn: reviews.forget(conn, memory["id"], comment="not so"))
    return UUID(str(memory["id"]))


def test_what_was_rejected_and_comes_again_waits_too(fleet: Fleet) -> None:
    fleet.database.org("acme")
    fleet.install(extractor=Unsupported())
    said(fleet, OTHER, "s1")
    (held,) = fleet.rows("SELECT id FROM memories WHERE status = 'pending'")
    judge(fleet, lambda conn: reviews.reject(conn, held["id"], comment="a guess"))
    fleet.install(extractor=Echo())
    said(fleet, OTHER, "s2")
    assert standing(fleet) == [("rejected", ["unsupported"]), ("pending", ["rejected_before"])]
    assert fleet.rows("SELECT cites FROM reviews WHERE closed_at IS NULL AND kind = 'hold'") == [{"cites": held["id"]}]


@pytest.mark.parametrize("text", [PLAIN, *SAME])
def test_what_was_forgotten_and_comes_again_waits_and_cites_the_verdict(fleet: Fleet, text: str) -> None:
    before = forgotten(fleet)
    said(fleet, text)
    assert standing(fleet)[1:] == [("pending", ["rejected_before"])]
    assert fleet.rows("SELECT cites FROM reviews WHERE closed_at IS NULL") == [{"cites": before}]


def test_what_says_something_else_is_not_held_for_it(fleet: Fleet) -> None:
    forgotten(fleet)
    said(fleet, OTHER)
    assert standing(fleet)[1:] == [("active", [])]


def test_another_org_s_verdict_holds_nothing(fleet: Fleet) -> None:
    forgotten(fleet)
    fleet.database.org("other")
    said(fleet, PLAIN, org="other")
    assert standing(fleet)[1:] == [("active", [])]


def test_what_a_person_let_in_again_comes_freely(fleet: Fleet) -> None:
    forgotten(fleet)
    said(fleet, PLAIN, "s1")
    (held,) = fleet.rows("SELECT id FROM memories WHERE status = 'pending'")
    judge(fleet, lambda conn: reviews.approve(conn, held["id"], comment="it is so now", placement=Placement()))
    fleet.run()
    said(fleet, PLAIN, "s2")
    assert fleet.rows("SELECT status, occurrences FROM memories WHERE id = %s", held["id"]) == [
        {"status": "active", "occurrences": 2}]  # fmt: skip
    assert fleet.rows("SELECT count(*) AS n FROM memories WHERE status = 'pending'") == [{"n": 0}]


def test_a_rejected_copy_of_what_is_known_holds_nothing(fleet: Fleet) -> None:
    fleet.database.org("acme")
    fleet.install(extractor=Echo())
    said(fleet, PLAIN, "s0", user=None)
    fleet.install(extractor=Unsupported())
    said(fleet, PLAIN, "s1", user=None)
    (copy,) = fleet.rows("SELECT id FROM memories WHERE status = 'pending'")
    judge(fleet, lambda conn: reviews.reject(conn, copy["id"], comment="known already"))
    fleet.install(extractor=Echo())
    said(fleet, PLAIN, "s2", user=None)
    assert [status for status, _ in standing(fleet)] == ["active", "rejected", "superseded"]


def test_a_verdict_that_falls_between_the_look_and_the_commit_holds_it_too(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker has looked, a person forgets, the worker writes: the database refuses, and the next look sees it."""
    fleet.database.org("acme")
    fleet.install(extractor=Echo())
    said(fleet, PLAIN, "s0")
    (memory,) = fleet.rows("SELECT id FROM memories")
    look, looked = redaction.refused, []

    def refused(conn: Any, texts: Any) -> Any:
        found = look(conn, texts)
        if not looked:
            judge(fleet, lambda conn: reviews.forget(conn, memory["id"], comment="not so"))
        looked.append(found)
        return found

    monkeypatch.setattr(redaction, "refused", refused)
    fleet.ingest(event(PLAIN, session="s1"))
    fleet.run("extraction")
    with pytest.raises(errors.SerializationFailure, match="kept this text out before"):
        fleet.run("redaction")
    fleet.run("redaction")
    assert [bool(found) for found in looked] == [False, True]
    assert standing(fleet)[1:] == [("pending", ["rejected_before"])]
