"""Two orgs with the same content, through the real pipeline: ids alone tell what is whose."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from hypothesis import strategies as st

from db import ledger, recall, reviews, tokens
from db.connect import Connection, granted
from db.events import Org
from db.recall import Question
from db.reviews import Placement
from db.tokens import Bearer
from pipeline.candidate import Candidate, Envelope, Evidence, Kind
from pipeline.extraction.port import ExtractionJob, ExtractionOutcome, Proposal
from pipeline.outcome import Bury, Done, ErrorCode
from tests.fleet import Fleet, WordVectors, event
from tests.integration.db.test_drops import dropped
from tests.integration.isolation.catalog import ids_in, rows_of
from tests.integration.workers.scripted import PROVENANCE

UNREADABLE = "What is said here no model can read."
WAITS = "Ring +44 20 7946 0958 before the archive is moved."
RULE = "Always run the integration tests before a release."
SENTENCES = (
    "The search service stores its documents in Postgres!",
    "The search service stores its documents in Postgres.",
    "The request timeout of the gateway is 30 seconds.",
    "The request timeout of the gateway is 60 seconds.",
    "Ring +44 20 7946 0958 before a release of the search service.",
    "The key of the staging bucket is AKIAQ3EGRT7VNO5K2JXW.",
    RULE,
    UNREADABLE,
)
ACTS = ("approve", "reject", "forget", "edit", "redirect", "correct")
_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class Told:
    """One session as it is told to both orgs."""

    said: tuple[str, ...]
    session: str
    user: str
    agent: str
    project: str | None
    event_id: str | None

    def event(self, org: Org, day: int) -> dict[str, Any]:
        at = f"2026-05-{day + 1:02}T10:00:00+00:00"
        turns = [{"role": "user", "text": text, "trust": "user", "at": at} for text in self.said]
        named = {"user": self.user, "agent": self.agent, "project": self.project, "event_id": self.event_id}
        return event(org=org.name, session=self.session, transcript={"turns": turns}, ended_at=at, **named)


_told = st.builds(
    Told,
    said=st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=3, unique_by=lambda text: text[:-1]).map(tuple),
    session=st.sampled_from(["s-1", "s-2", "s-3"]),
    user=st.sampled_from(["u-1", "u-2"]),
    agent=st.sampled_from(["a-1", "a-2"]),
    project=st.sampled_from([None, "p-1"]),
    event_id=st.sampled_from([None, "e-1", "e-2"]),
)
ALL_OF_IT = Told(SENTENCES[1:-1], "s-0", "u-1", "a-1", "p-1", "e-0")
LATER = Told((RULE, "The archive of the gateway is kept on tape.", WAITS), "s-late", "u-1", "a-1", "p-1", "e-late")
DIES = Told((UNREADABLE,), "s-dead", "u-1", "a-1", None, None)


@dataclass(frozen=True, slots=True)
class Story:
    """What happens to both: sessions, and a person's acts on the inbox as it is then."""

    sessions: tuple[Told, ...]
    acts: tuple[str, ...]


stories = st.builds(
    lambda sessions, acts: Story((ALL_OF_IT, *sessions, DIES), acts),
    st.lists(_told, min_size=1, max_size=4),
    st.lists(st.sampled_from(ACTS), min_size=2, max_size=4).map(tuple),
)


class Reading:
    """Proposes each turn as it stands; dies of one sentence."""

    provider = "echo"

    def extract_many(self, batch: Sequence[ExtractionJob]) -> Iterator[tuple[UUID, ExtractionOutcome]]:
        for job in batch:
            said = list(enumerate(job.transcript.turns))[job.first_own :]
            if any(turn.text == UNREADABLE for _, turn in said):
                yield job.run_id, Bury(ErrorCode.MALFORMED_ENVELOPE, "no envelope")
            else:
                found = tuple(
                    Candidate(content=turn.text, kind=Kind.RULE if turn.text == RULE else Kind.FACT,
                              rationale="Said in the session.", evidence=(Evidence(turn=number, quote=turn.text),))
                    for number, turn in said
                )  # fmt: skip
                yield job.run_id, Done(Proposal(Envelope(candidates=found), PROVENANCE))


@dataclass(frozen=True)
class Twin:
    """One of the two, with every sort of token it has."""

    fleet: Fleet
    org: Org
    tokens: dict[str, str]

    @property
    def rows(self) -> dict[str, list[dict[str, Any]]]:
        return rows_of(self.fleet.database, self.org.id)

    @property
    def markers(self) -> set[str]:
        """What would give it away: its name, and every id that stands in its rows."""
        return ids_in(self.rows) | {self.org.name}

    @contextmanager
    def door(self, name: str) -> Iterator[Connection]:
        role = name.partition(" ")[0]
        with self.fleet.database.as_role(role) as conn, granted(conn, self.tokens[name]):
            yield conn

    def ids(self, table: str, where: str = "true") -> list[UUID]:
        return [row["id"] for row in self.fleet.rows(
            f"SELECT id FROM {table} WHERE org_id = %s AND {where} ORDER BY id", self.org.id)]  # fmt: skip


def twins(fleet: Fleet) -> tuple[Twin, Twin]:
    number = next(_numbers)
    return _twin(fleet, f"twin-{number}-a"), _twin(fleet, f"twin-{number}-b")


def _twin(fleet: Fleet, name: str) -> Twin:
    org = fleet.database.org(name)
    bearers = {
        "agent": Bearer("agent", "rita"),
        "agent of a user": Bearer("agent", "rita", agent="a-1", user="u-1", project="p-1"),
        "reviewer": Bearer("reviewer", "rita"),
        "reviewer of a project": Bearer("reviewer", "rita", project="p-1"),
    }
    with fleet.database.as_role("operator") as conn:
        made = {key: tokens.mint(conn, org.id, bearer, lives_seconds=3600) for key, bearer in bearers.items()}
    return Twin(fleet, org, made)


def live(story: Story, *pair: Twin) -> None:
    """Both hear the same at the same time, in the same batches, and their people do the same.

    A session at a time: which of two alike in one batch came first is for no one to say.
    """
    fleet = pair[0].fleet
    for day, told in enumerate(story.sessions):
        fleet.ingest(*(told.event(twin.org, day) for twin in pair))
        fleet.run()
    for act in story.acts:
        for twin in pair:
            _decide(twin, act)
        fleet.run()
    fleet.ingest(*(LATER.event(twin.org, len(story.sessions)) for twin in pair))
    fleet.run()
    for twin in pair:
        _ask(twin)
        _drop_one(twin)
    fleet.ingest(*(event("x", org=twin.org.name, spaces=["nowhere"]) for twin in pair))


def _decide(twin: Twin, act: str) -> None:
    """The oldest thing that waits, decided."""
    with twin.door("reviewer") as conn:
        waiting = [row["memory_id"] for row in reviews.inbox(conn) if row["status"] == "pending"]
        if not waiting:
            return
        memory = min(waiting)
        match act:
            case "approve":
                reviews.approve(conn, memory, comment="yes", placement=Placement(subject_type="user", subject_id="u-1"))
            case "reject":
                reviews.reject(conn, memory, comment="no")
            case "forget":
                reviews.forget(conn, memory, comment=None)
            case "edit" | "redirect" | "correct":
                reviews.view(conn, memory)
                reviews.retype(conn, memory, act, "The archive is kept on tape.", comment=None)


def _ask(twin: Twin) -> None:
    """A recall by words and vector, of what is and of what was; a decision with a payload."""
    text = SENTENCES[0]
    for question in (Question(text, WordVectors().query(text), 1), Question("zzz", max_hits=50)):
        with twin.door("agent of a user") as conn:
            found = recall.recall(conn, question)
            recall.rendered(conn, found.recall_id, bytes(32), [hit.memory_id for hit in found.hits])
    with twin.fleet.database.as_role("worker") as conn:
        ledger.record(conn, org_id=twin.org.id, subject=("note", "n-1"), actor="rita", action="noted",
                      payload={"said": text})  # fmt: skip


def _drop_one(twin: Twin) -> None:
    run = twin.ids("runs")[0]
    with twin.fleet.database.as_role("worker") as conn:
        dropped(conn, twin.org, run=run, in_sample=True)
