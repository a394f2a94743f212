"""Which new memories repeat, replace or stand beside an older one, as a table of pairs (old, new)."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from pipeline.consolidation.contribute import Add, MemoryView, Outdated, Repeat, Retire, contribute, phrases
from pipeline.memory import Scope, ScopeKind, Subject

STOP_WORDS = {"the", "in", "of", "to", "on", "at", "with", "by", "is", "was"}
DAY = datetime(2024, 5, 1, tzinfo=UTC)


def view(number: int, content: str, **changes: object) -> MemoryView:
    settings = {
        "id": UUID(int=number),
        "content": content,
        "kind": "fact",
        "scope": Scope(ScopeKind.ORG),
        "subject": None,
        "observed_at": DAY + timedelta(days=number),
    }
    return MemoryView(**(settings | changes))  # type: ignore[arg-type]


RETIRES = [
    ("Ana works at Initech", "Ana no longer works at Initech", "ended"),
    ("The API uses Postgres", "The API no longer uses Postgres.", "ended"),
    ("The API uses Postgres", "The API no longer uses Postgres but MySQL", "ended"),
    ("Ana eats meat", "Ana stopped eating meat", None),
    ("Ana is using Vim", "Ana stopped using Vim", "ended"),
    ("Billing uses Postgres", "Billing uses MySQL instead of Postgres", "named"),
    ("The project uses npm", "The project uses pnpm rather than npm", "named"),
    ("Ana lives in Boston", "Ana moved from Boston to Berlin", "named"),
    ("Search runs on Solr", "Search was migrated from Solr to OpenSearch last week", "named"),
    ("Billing uses Postgres", "We replaced Postgres with MySQL in billing", "named"),
    ("Billing uses Postgres", "In billing Postgres was replaced by MySQL", "named"),
    ("The default branch is master", "The default branch was changed from master to main", "named"),
    ("Staging runs in region A", "Staging moved to region B", "moved"),
    ("Staging runs in region A", "Staging has been moved to region B in May", "moved"),
    ("Staging runs in region A", "We moved staging to region B", "moved"),
    ("The API uses Postgres", "The API moved to MySQL", "moved"),
    ("The API uses Redis for caching", "The API switched to Valkey for caching", "moved"),
    ("The team uses Jira", "The team switched to Linear", "moved"),
    ("Ana lives in Boston.", "Ana moved to Berlin.", "moved"),
    ("The office is in Porto", "The office moved to Lisbon", "moved"),
    ("The request timeout is 30 s", "The request timeout is 60 s", "revalued"),
    ("The request timeout is 30 s", "The request timeout is now 60 s", "revalued"),
    ("The deploy region is eu-west-1", "The deploy region is us-east-1", "revalued"),
    ("Staging runs in region A", "Staging runs in region B", "revalued"),
    ("The owner of billing is Ana", "The owner of billing is Bruno", "revalued"),
    ("The project uses yarn for packages", "The project switched to pnpm for packages", "moved"),
    ("The checkout service is written in Python", "The checkout service was migrated from Python to Go", "named"),
    ("The user prefers tabs", "The user now prefers spaces instead of tabs", "named"),
    ("Logs are stored in S3", "Logs moved to GCS", "moved"),
    ("Releases are cut every two weeks", "Releases are no longer cut every two weeks", "ended"),
    ("The retry limit is 3", "The retry limit was changed to 5", "revalued"),
    # Right, and beyond what wording shows.
    ("Ana manages the billing team", "Bruno replaced Ana as manager of the billing team", None),
    ("The deadline is Friday", "The deadline is not Friday but Monday", None),
]

ADDS = [
    # Plans, questions and wishes have not happened.
    ("Staging runs in region A", "Staging will be moved to region B"),
    ("Staging runs in region A", "The team plans to move staging to region B"),
    ("The API uses Postgres", "Should the API use MySQL instead of Postgres?"),
    ("Ana lives in Boston", "Ana might have moved to Berlin"),
    ("Ana lives in Boston", "Ana wants to have moved to Berlin"),
    ("Staging will run in region A", "Staging moved to region B"),
    # Beside, not instead.
    ("The API uses Postgres", "The API also uses Redis"),
    ("The API uses Postgres", "The API uses Redis"),
    ("The team uses Slack", "The team uses Jira"),
    ("The API listens on port 8080", "The API listens on port 9090"),
    ("Ana likes pottery", "Ana likes painting"),
    ("Ana is a nurse", "Ana is now happy"),
    ("The agent runs on Linux", "The agent runs on macOS"),
    ("Reports are sent to Ana", "Reports are sent to Bruno"),
    ("The API uses Redis and Postgres", "The API moved to MySQL"),
    # About something else.
    ("Staging runs in region A", "Production moved to region B"),
    ("The staging database runs in region A", "Staging moved to region B"),
    ("The API uses Redis for caching", "The API moved to MySQL"),
    ("The API uses Redis for caching", "The API switched to Valkey for sessions"),
    ("The team uses Slack", "The team moved to Berlin"),
    ("Ana likes Boston", "Ana moved from Boston to Berlin"),
    ("Ana was born in Boston", "Ana moved from Boston to Berlin"),
    ("Ana works at Initech", "Bruno no longer works at Initech"),
    ("Ana works at Initech", "Ana no longer works at Globex"),
    ("The upload timeout is 30 s", "The request timeout is 60 s"),
    ("The request timeout is 30 s for uploads", "The request timeout is 60 s for downloads"),
    ("The owner of billing is Ana", "The owner of search is Bruno"),
    ("The deploy region is eu-west-1", "The deploy region is down"),
    ("Search uses Solr", "Postgres was replaced by MySQL"),
    ("The API uses Postgres", "Postgres was replaced by MySQL"),
    ("Ana lives in Lisbon", "Ana's sister moved to Berlin"),
    ("The project uses pytest", "The project uses ruff instead of flake8"),
    ("CI runs on Jenkins", "Deploys moved to GitHub Actions"),
    ("Orders of 2023 are stored in S3", "Orders of 2024 moved to GCS"),
    ("The owner is Ana", "The owner is Ana Silva"),
    # The old one already says no.
    ("The API does not use Postgres", "The API no longer uses Postgres"),
    # More than one sentence may say more than the cue does.
    ("Staging runs in region A", "Staging moved to region B. The old one stays for a month."),
    # Something was left behind by part of it.
    ("The API uses Postgres", "Half the API moved to MySQL"),
    ("Staging runs in region A", "Staging moved to region A"),
    ("Notes of a meeting with Ana on pricing and refunds and returns", "Ana no longer works at Initech"),
]

REPEATS = [
    ("The API uses Postgres", "the API uses Postgres."),
    ("The API uses Postgres", "The API uses Postgres"),
    ("A nightly backup runs at 02:00", "The nightly backup runs at 02:00"),
]


@pytest.mark.parametrize(("old", "new", "reason"), RETIRES)
def test_replaces(old: str, new: str, reason: str | None) -> None:
    expected = Add() if reason is None else Retire((UUID(int=1),), reason)
    assert contribute(view(2, new), [view(1, old)]) == expected


@pytest.mark.parametrize(("old", "new"), ADDS)
def test_stands_beside(old: str, new: str) -> None:
    assert contribute(view(2, new), [view(1, old)]) == Add()


@pytest.mark.parametrize(("old", "new"), REPEATS)
def test_repeats(old: str, new: str) -> None:
    found = contribute(view(2, new), [view(1, old)])
    assert isinstance(found, Repeat)
    assert found.of == UUID(int=1)


@pytest.mark.parametrize(("old", "new", "reason"), [row for row in RETIRES if row[2]])
@pytest.mark.parametrize("days", [0, -1])
def test_what_is_not_newer_retires_nothing(old: str, new: str, reason: str, days: int) -> None:
    later = view(1, old)
    found = contribute(view(2, new, observed_at=later.observed_at + timedelta(days=days)), [later])
    assert not isinstance(found, Retire)
    assert days < 0 or found == Add()


@pytest.mark.parametrize(("old", "new", "reason"), [row for row in RETIRES if row[2]])
def test_what_arrives_late_is_told_by_what_came_after_it(old: str, new: str, reason: str) -> None:
    assert contribute(view(1, old), [view(2, new)]) == Outdated(UUID(int=2), reason)


@pytest.mark.parametrize(("old", "new", "reason"), [row for row in RETIRES if row[2]])
def test_what_it_replaces_is_found_by_a_phrase_of_it(old: str, new: str, reason: str) -> None:
    """Some phrase's words all stand in the other text: that is what the look-up asks of the index."""
    for here, there in ((new, old), (old, new)):
        said = {word.casefold() for word in re.findall(r"\w+", there)}
        asked = [{word.casefold() for word in re.findall(r"\w+", phrase)} for phrase in phrases(here)]
        assert any(words and words - STOP_WORDS <= said for words in asked), (here, phrases(here))


def test_all_that_it_replaces_is_proposed_together() -> None:
    known = [
        view(1, "The API uses Postgres"),
        view(2, "The API runs on Postgres"),
        view(3, "The API uses Redis for caching"),
    ]
    found = contribute(view(4, "The API moved to MySQL"), known)
    assert isinstance(found, Retire)
    assert set(found.old) == {UUID(int=1), UUID(int=2)}


NEAR = "The invoices get sent to the customer by mail at the end of a month"
NEARLY = "At the end of a month invoices get mailed to the customer"


@pytest.mark.parametrize(
    ("new", "cosine", "above", "counted"),
    [
        (NEARLY, 0.95, 0.9, True),
        (NEARLY, 0.95, None, False),  # not wanted, or not calibrated
        (NEARLY, 0.9, 0.9, False),
        (NEARLY, None, 0.9, False),  # found by words alone: no cosine is known
        (NEARLY.replace("month", "quarter of 2024"), 0.99, 0.9, False),
        (NEARLY.replace("get", "do not get"), 0.99, 0.9, False),
    ],
)
def test_near_duplicates_are_counted_where_that_is_wanted(
    new: str, cosine: float | None, above: float | None, counted: bool
) -> None:
    found = contribute(view(2, new), [view(1, NEAR, cosine=cosine)], cosine_above=above)
    assert isinstance(found, Repeat if counted else Add)


@pytest.mark.parametrize(
    "apart",
    [
        {"kind": "preference"},
        {"scope": Scope(ScopeKind.USER, "u-1")},
        {"subject": Subject("person", "ana silva")},
    ],
)
@pytest.mark.parametrize("new", ["The API uses Postgres", "The API moved to MySQL"])
def test_another_kind_scope_or_subject_is_apart(new: str, apart: dict[str, object]) -> None:
    assert contribute(view(2, new), [view(1, "The API uses Postgres", **apart)]) == Add()


def test_a_repeat_is_counted_before_a_replacement_is_proposed() -> None:
    neighbours = [view(1, "Staging runs in region A"), view(2, "Staging moved to region B")]
    found = contribute(view(3, "Staging moved to region B."), neighbours)
    assert isinstance(found, Repeat)
    assert found.of == UUID(int=2)


def test_the_exact_repeat_wins_and_order_does_not_matter() -> None:
    neighbours = [view(1, "The API uses Postgres."), view(2, "the api uses postgres")]
    for order in (neighbours, neighbours[::-1]):
        found = contribute(view(3, "The API uses Postgres"), order)
        assert isinstance(found, Repeat)
        assert found.of == UUID(int=2)


def test_a_memory_is_not_its_own_neighbour() -> None:
    itself = view(1, "The API uses Postgres")
    assert contribute(itself, [itself]) == Add()


def test_nothing_known_is_an_add() -> None:
    assert contribute(view(1, "The API uses Postgres"), []) == Add()
