"""A person's decisions, carried out by the workers: what was typed is checked, then done, once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest

from db import reviews, tokens
from db.connect import Connection, granted
from db.events import Org
from db.reviews import Act, Placement
from pipeline.candidate import Kind
from pipeline.memory import content_hash
from tests.fleet import Fleet, event
from tests.integration.workers.scripted import Echo
from tests.scanning import find, in_postgres

RULE = "Always run the integration tests before a release."
BETTER = "Always run the integration tests and the linters before a release."
KEY = "AKIAQ3EGRT7VNO5K2JXW"
FACT = "The search service stores its documents in Postgres."
TRUER = "The search service stores its documents in OpenSearch."
PHONE = "Call +44 20 7946 0958 before a release of the search service."


class Rita:
    """A reviewer of `acme`."""

    def __init__(self, fleet: Fleet, org: Org) -> None:
        self._fleet = fleet
        with fleet.database.as_role("operator") as conn:
            self._token = tokens.mint(conn, org.id, tokens.Bearer("reviewer", "rita"), lives_seconds=600)

    @contextmanager
    def _door(self) -> Iterator[Connection]:
        with self._fleet.database.as_role("reviewer") as conn, granted(conn, self._token):
            yield conn

    def retype(self, memory: UUID, act: Act, text: str) -> UUID | None:
        with self._door() as conn:
            return reviews.retype(conn, memory, act, text, comment=f"since {KEY} leaked")

    def approve(self, memory: UUID, namespace: str | None = None) -> str:
        with self._door() as conn:
            return reviews.approve(conn, memory, comment=None, placement=Placement(namespace=namespace))

    def restore(self, repeat: UUID) -> UUID:
        with self._door() as conn:
            return reviews.restore_repeat(conn, repeat, comment="something else")

    def reject(self, memory: UUID) -> str:
        with self._door() as conn:
            return reviews.reject(conn, memory, comment="no")


@pytest.fixture
def rita(fleet: Fleet) -> Rita:
    return Rita(fleet, fleet.database.org("acme"))


def kept(fleet: Fleet, said: str, kind: Kind = Kind.FACT) -> UUID:
    """The memory of a session in which this was said, every stage done."""
    fleet.install(extractor=Echo(kind))
    fleet.ingest(event(said, session=said[:20]))
    fleet.run()
    return UUID(str(fleet.rows("SELECT id FROM memories WHERE content = %s", said)[0]["id"]))


def memory(fleet: Fleet, id_: UUID) -> dict[str, Any]:
    return fleet.rows("SELECT * FROM memories WHERE id = %s", id_)[0]


def embedded(fleet: Fleet) -> set[UUID]:
    return {row["memory_id"] for row in fleet.rows("SELECT memory_id FROM embeddings_1")}


def test_an_approval_is_embedded_by_its_own_run_once(fleet: Fleet, rita: Rita) -> None:
    rule = kept(fleet, RULE, Kind.RULE)
    assert embedded(fleet) == set()
    assert [rita.approve(rule), rita.approve(rule)] == ["approved", "already_active"]
    fleet.run()
    assert rita.approve(rule) == "already_active"
    fleet.run()
    assert memory(fleet, rule)["status"] == "active"
    assert embedded(fleet) == {rule}
    assert fleet.rows("SELECT state FROM runs WHERE kind = 'verdict'") == [{"state": "consolidated"}]


def test_an_edit_waits_and_both_texts_are_kept(fleet: Fleet, rita: Rita) -> None:
    rule = kept(fleet, RULE, Kind.RULE)
    assert rita.retype(rule, "edit", BETTER) is not None
    assert rita.retype(rule, "edit", BETTER) is None
    with pytest.raises(reviews.VerdictRefused, match="being checked"):
        rita.approve(rule)
    fleet.run()
    now = memory(fleet, rule)
    assert (now["status"], now["content"], now["hold_reasons"], now["revision"]) == ("pending", BETTER, ["edited"], 2)
    assert now["previous_hash"] == content_hash(RULE)
    assert fleet.rows("SELECT reasons FROM reviews WHERE closed_at IS NULL") == [{"reasons": ["edited"]}]
    payloads = fleet.rows("SELECT content FROM payloads JOIN ledger l ON l.id = entry_id WHERE action = 'memory_edit'")
    assert [row["content"] for row in payloads] == [{"before": RULE, "after": BETTER}]
    assert embedded(fleet) == set()
    rita.approve(rule)
    fleet.run()
    assert (memory(fleet, rule)["status"], embedded(fleet)) == ("active", {rule})


def test_of_two_edits_the_later_stands(fleet: Fleet, rita: Rita) -> None:
    rule = kept(fleet, RULE, Kind.RULE)
    for text in ("First wording of the rule.", "Second wording of the rule.", "Third wording of the rule."):
        rita.retype(rule, "edit", text)
    fleet.run()
    assert memory(fleet, rule)["content"] == "Third wording of the rule."


def test_a_redirect_is_approved_and_embedded(fleet: Fleet, rita: Rita) -> None:
    rule = kept(fleet, RULE, Kind.RULE)
    rita.retype(rule, "redirect", BETTER)
    fleet.run()
    assert (memory(fleet, rule)["status"], memory(fleet, rule)["content"]) == ("active", BETTER)
    assert embedded(fleet) == {rule}
    assert fleet.rows("SELECT decision, decided_by FROM reviews") == [{"decision": "redirect", "decided_by": "rita"}]


def test_a_correction_takes_the_place_of_what_it_corrects(fleet: Fleet, rita: Rita) -> None:
    old = kept(fleet, FACT)
    rita.retype(old, "correct", TRUER)
    fleet.run()
    (new,) = fleet.rows("SELECT * FROM memories WHERE content = %s", TRUER)
    was = memory(fleet, old)
    assert (was["status"], was["superseded_by"], new["status"]) == ("superseded", new["id"], "active")
    assert new["previous_hash"] == content_hash(FACT)
    assert was["valid_to"] is not None
    assert (new["author_kind"], new["author"]) == ("person", "rita")
    assert new["id"] in embedded(fleet)


def test_a_correction_stays_in_the_namespace_of_what_it_corrects(fleet: Fleet, rita: Rita) -> None:
    rule = kept(fleet, RULE, Kind.RULE)
    with fleet.database.as_role("operator") as conn:
        conn.execute("INSERT INTO namespaces SELECT id, 'deploys' FROM orgs")
    rita.approve(rule, "deploys")
    rita.retype(rule, "correct", TRUER)
    fleet.run()
    (new,) = fleet.rows("SELECT namespace FROM memories WHERE content = %s", TRUER)
    assert new["namespace"] == "deploys"


def test_a_correction_that_is_held_replaces_when_it_is_approved(fleet: Fleet, rita: Rita) -> None:
    old = kept(fleet, FACT)
    rita.retype(old, "correct", PHONE)
    fleet.run()
    (new,) = fleet.rows("SELECT * FROM memories WHERE content = %s", PHONE)
    assert (new["status"], new["hold_reasons"], new["replaces"]) == ("pending", ["class_found"], [old])
    assert memory(fleet, old)["status"] == "active"
    rita.approve(new["id"])
    fleet.run()
    assert (memory(fleet, old)["status"], memory(fleet, new["id"])["status"]) == ("superseded", "active")
    assert new["id"] in embedded(fleet)


@pytest.mark.parametrize("act", ["edit", "redirect"])
def test_a_text_the_gate_objects_to_stays_pending(fleet: Fleet, rita: Rita, act: Act) -> None:
    rule = kept(fleet, RULE, Kind.RULE)
    rita.retype(rule, act, PHONE)
    fleet.run()
    now = memory(fleet, rule)
    assert (now["status"], now["content"], now["classes"]) == ("pending", PHONE, ["phone"])
    assert "class_found" in now["hold_reasons"]


@pytest.mark.parametrize("act", ["edit", "redirect", "correct"])
def test_a_secret_a_person_typed_never_stands_in_the_database(fleet: Fleet, rita: Rita, act: Act) -> None:
    rule = kept(fleet, RULE, Kind.RULE)
    rita.retype(rule, act, f"Releases are signed with {KEY} since May.")
    assert find([KEY], in_postgres(fleet.database)) == {}
    fleet.run()
    rows = fleet.rows("SELECT status, classes FROM memories WHERE content LIKE %s", "%[REDACTED:secret]%")
    assert rows == [{"status": "pending", "classes": ["secret"]}]
    rita.approve(rule)
    assert find([KEY], in_postgres(fleet.database)) == {}


@pytest.mark.parametrize("decide", [Rita.approve, Rita.reject])
def test_a_text_that_comes_too_late_changes_nothing(
    fleet: Fleet, rita: Rita, decide: Callable[[Rita, UUID], str]
) -> None:
    rule = kept(fleet, RULE, Kind.RULE)
    decide(rita, rule)
    with pytest.raises(reviews.VerdictRefused, match="already_decided"):
        rita.retype(rule, "edit", BETTER)
    fleet.run()
    assert memory(fleet, rule)["content"] == RULE


@pytest.mark.parametrize("act", ["edit", "redirect", "correct"])
@pytest.mark.parametrize(
    ("said", "typed", "at_stake"),
    [
        (RULE, "Always ask the lawyers before a release.", True),
        ("Always ask the lawyers before a release.", RULE, False),
    ],
)
def test_what_a_person_typed_has_its_own_stakes(
    fleet: Fleet, rita: Rita, act: Act, said: str, typed: str, at_stake: bool
) -> None:
    before = kept(fleet, said, Kind.RULE)
    assert memory(fleet, before)["high_stakes"] is not at_stake
    rita.retype(before, act, typed)
    fleet.run("redaction")
    (now,) = fleet.rows("SELECT high_stakes FROM memories WHERE content = %s", typed)
    assert now == {"high_stakes": at_stake}
