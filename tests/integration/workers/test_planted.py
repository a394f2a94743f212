"""After work that goes well, and work that fails in every way there is, nothing sensitive stands where it may not."""

from __future__ import annotations

import io
import itertools
import json
import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from uuid import UUID

import psycopg
import pytest
import structlog
from redis import Redis
from rq import Queue, SimpleWorker
from rq.serializers import JSONSerializer

from db import replays, reviews, tokens
from db.connect import granted
from db.reviews import Placement
from pipeline.candidate import Candidate, Envelope, Evidence, Kind
from pipeline.errors import EventError, MalformedEnvelope, ModelUnavailable
from pipeline.extraction.envelope import parse
from pipeline.extraction.port import ExtractionJob, ExtractionOutcome, Proposal
from pipeline.intake import RejectReason
from pipeline.outcome import Bury, Done, ErrorCode
from pipeline.redaction.classes import CLASSES
from pipeline.redaction.detectors import ALL
from pipeline.redaction.span import Span
from tests.fleet import Fleet, WordVectors, event
from tests.integration.workers.planted import HIGH, LOW, PROVEN, SENTENCES, TOLD, Seen, all_of, logged
from tests.integration.workers.scripted import PROVENANCE
from workers import replay
from workers.bell import Bell, BellQueue, ring
from workers.fleet import BellWorker
from workers.keys import queue_name

PLAIN = "The search service stores its documents in Postgres."
_numbers = itertools.count()


@pytest.fixture(params=[True, False], ids=["json", "text"])
def logs(request: pytest.FixtureRequest) -> Iterator[io.StringIO]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    with logged(as_json=request.param) as stream:
        yield stream
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)


def sent(*said: str, **more: Any) -> dict[str, Any]:
    return event(*(said or SENTENCES), **{"session": f"s-{next(_numbers)}", **more})


class Telling:
    """Proposes each sentence with everything said in its rationale and evidence, about whoever is named."""

    provider = "echo"

    def __init__(self, kind: Kind = Kind.FACT) -> None:
        self._kind = kind

    def extract_many(self, batch: Sequence[ExtractionJob]) -> Iterator[tuple[UUID, ExtractionOutcome]]:
        for job in batch:
            said = enumerate(turn.text for turn in job.transcript.turns)
            found = tuple(self._candidate(number, text, HINTS[number % len(HINTS)]) for number, text in said)
            yield job.run_id, Done(Proposal(Envelope(candidates=found), PROVENANCE))

    def _candidate(self, number: int, text: str, hint: str) -> Candidate:
        told = {} if text == PLAIN else {"rationale": f"Said: {TOLD}"[:1_000], "subject_hint": hint}
        named = {"rationale": "Said in the session.", "evidence": (Evidence(turn=number, quote=text[:500]),), **told}
        return Candidate(content=text, kind=self._kind, **named)


HINTS = (HIGH["email"][0], LOW["person"][0], PROVEN["cc"][0], f"Ana {PROVEN['iban'][0]}", LOW["phone"][0])


def test_a_value_of_every_class_is_planted() -> None:
    assert {row.name for row in CLASSES if row.required} == {*PROVEN, *HIGH, *LOW}


@pytest.mark.parametrize("turns", [False, True])
def test_work_that_goes_well(fleet: Fleet, logs: io.StringIO, turns: bool) -> None:
    fleet.database.org("acme", turns=turns)
    fleet.install(extractor=Telling())
    assert fleet.ingest(sent(), sent(kind="proposal"), sent(kind="note")) == []
    fleet.run()
    seen = Seen(fleet, logs.getvalue())
    assert seen.misplaced() == {}
    # Else there would be nothing to find: what was said was stored, and waits.
    assert "transcripts.body" in seen.places(HIGH["email"][0])
    assert {"memories.content", "memories.evidence"} <= seen.places(LOW["phone"][0])
    assert seen.places("[REDACTED:email]") >= {"memories.content", "memories.evidence"}


def test_between_extraction_and_redaction_a_candidate_holds_nothing_high(fleet: Fleet, logs: io.StringIO) -> None:
    fleet.database.org("acme", turns=True)
    fleet.install(extractor=Telling())
    fleet.ingest(sent())
    fleet.run("extraction")
    seen = Seen(fleet, logs.getvalue())
    assert seen.misplaced() == {}
    assert "envelopes.body" in seen.places(LOW["phone"][0])


class Failing:
    """Fails in the way it is told, with everything said in its message."""

    provider = "echo"

    def __init__(self, fail: Callable[[], ExtractionOutcome]) -> None:
        self._fail = fail

    def extract_many(self, batch: Sequence[ExtractionJob]) -> Iterator[tuple[UUID, ExtractionOutcome]]:
        for job in batch:
            yield job.run_id, self._fail()


class Refused(Exception):
    """As a library raises it: with what it was given."""


def _raises() -> ExtractionOutcome:
    try:
        raise ValueError(f"in turn 3: {TOLD}")
    except ValueError as error:
        error.add_note(TOLD)
        raise Refused(f"could not read {TOLD!r}", {"text": TOLD}) from error


def _malformed() -> ExtractionOutcome:
    proposed = {"candidates": [{"content": TOLD, "kind": TOLD, "rationale": [TOLD], TOLD: TOLD, "status": "active"}]}
    try:
        parse(json.dumps(proposed))
    except MalformedEnvelope as error:
        return Bury(ErrorCode.MALFORMED_ENVELOPE, str(error))
    raise AssertionError("it is malformed")


def _says_too_much() -> ExtractionOutcome:
    """An adapter that breaks the rule that a detail holds no content."""
    return Bury(ErrorCode.MODEL_REFUSED, f"the endpoint answered: {TOLD}")


@pytest.mark.parametrize("fail", [_raises, _malformed, _says_too_much])
def test_extraction_that_fails_and_its_replay(
    fleet: Fleet, logs: io.StringIO, fail: Callable[[], ExtractionOutcome]
) -> None:
    fleet.database.org("acme")
    fleet.install(extractor=Failing(fail), attempts_max=1)
    fleet.ingest(sent(), sent())
    fleet.run()
    assert {row["state"] for row in fleet.rows("SELECT state FROM runs")} == {"dead_letter"}
    with fleet.database.as_role("operator") as conn:
        replays.request(conn, replays.Selector(code="internal"), actor="olga", reason="again", rate=100, cap=9,
                        force=False)  # fmt: skip
    replay.step(fleet.using)
    fleet.run()
    seen = Seen(fleet, logs.getvalue())
    assert "transcripts.body" in seen.places(HIGH["email"][0])
    wrong = seen.misplaced()
    if fail is _says_too_much:  # LOW flags and is never replaced, so that only the adapter's own rule keeps it out
        assert wrong.pop("runs.error_detail") <= all_of(LOW)
    assert wrong == {}


@pytest.mark.parametrize("refuses", ["memories", "reviews", "envelopes"])
def test_rows_that_postgres_refuses_with_their_values(fleet: Fleet, logs: io.StringIO, refuses: str) -> None:
    """A CHECK's message says: Failing row contains (...)."""
    fleet.database.org("acme")
    fleet.install(extractor=Telling(), attempts_max=1)
    with psycopg.connect(fleet.database.admin, autocommit=True) as conn:
        conn.execute(f"ALTER TABLE afterword.{refuses} ADD CONSTRAINT never CHECK (false) NOT VALID")
    fleet.ingest(sent())
    fleet.run()
    dead = fleet.rows("SELECT error_code, error_detail FROM runs WHERE state = 'dead_letter'")
    assert dead == [{"error_code": "data_refused", "error_detail": "23514 never"}]
    assert Seen(fleet, logs.getvalue()).misplaced() == {}


class Blunt:
    """A detector that raises with the text it was given."""

    name = "blunt"
    classes = frozenset({"person"})

    def detect(self, text: str) -> Sequence[Span]:
        raise ValueError(f"cannot read {text!r}")


class DeafVectors(WordVectors):
    def passages(self, texts: Sequence[str]) -> Any:
        raise ModelUnavailable("the endpoint is away") from RuntimeError(f"POST {texts!r}")


class BluntVectors(WordVectors):
    def passages(self, texts: Sequence[str]) -> Any:
        raise RuntimeError(f"POST {texts!r} {TOLD}")


@pytest.mark.parametrize(
    "ports",
    [{"detectors": (*ALL, Blunt())}, {"embedder": DeafVectors}, {"embedder": BluntVectors}],
    ids=["detector", "embedder away", "embedder raises"],
)
def test_later_stages_that_fail(fleet: Fleet, logs: io.StringIO, ports: dict[str, Any]) -> None:
    fleet.database.org("acme", waived_classes={})
    fleet.install(extractor=Telling(), attempts_max=1, **ports)
    fleet.ingest(sent(PLAIN, *SENTENCES))
    fleet.run()
    assert [row["state"] for row in fleet.rows("SELECT state FROM runs")] == ["dead_letter"]
    assert Seen(fleet, logs.getvalue()).misplaced() == {}


def test_a_drain_that_fails(fleet: Fleet, logs: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    """RQ keeps a failed job with its traceback."""

    def fail(*_: Any) -> None:
        raise psycopg.OperationalError(f"server closed the connection: {TOLD}")

    monkeypatch.setattr("workers.bell.drain", fail)
    with Redis.from_url(fleet.valkey.url("admin")) as redis:
        ring(redis, "extraction", past_marker=True)
        queue: Queue = BellQueue(queue_name("extraction"), connection=redis, serializer=JSONSerializer, job_class=Bell)
        worker: SimpleWorker = BellWorker([queue], connection=redis, job_class=Bell, queue_class=BellQueue,
                                          serializer=JSONSerializer)  # fmt: skip
        worker.work(burst=True, logging_level="DEBUG")
        assert queue.failed_job_registry.count == 1
    assert "drain_failed" in logs.getvalue()
    assert Seen(fleet, logs.getvalue()).misplaced() == {}


def _away(url: str) -> bytes:
    raise EventError(RejectReason.URL_UNAVAILABLE, f"no answer from {url}: {TOLD}")


def test_events_that_are_refused_and_tried_again(fleet: Fleet, logs: io.StringIO) -> None:
    fleet.database.org("acme")
    turn = {"role": "user", "text": TOLD, "trust": "user"}
    refused = fleet.ingest(
        sent(org="nobody", project=TOLD[:200]),
        sent(org="acme", spaces=[SENTENCES[2], SENTENCES[7], SENTENCES[8]]),
        sent(org=SENTENCES[7], spaces=[TOLD]),
        json.dumps(sent()).encode()[:-1],
        json.dumps({TOLD: TOLD, "card": 4111111111111111}).encode(),
        sent(**{SENTENCES[7]: 1}),
        sent(transcript={"turns": [{**turn, SENTENCES[8]: SENTENCES[10]}]}),
        sent(transcript={"turns": [{**turn, "trust": TOLD}]}),
        sent(ended_at=TOLD),
        sent(event_id="e-1"),
        sent("The archive is kept on tape.", event_id="e-1"),
        TOLD.encode(),
    )
    assert len(refused) == 11
    fleet.install(fetch=_away)
    url = {"transcript": None, "transcript_url": f"https://files.example/{HIGH['email'][0]}"}
    assert [item.reason for item in fleet.ingest(sent(**url))] == ["url_unavailable"]
    with fleet.database.as_role("operator") as conn:
        for reason in ("unknown_org", "url_unavailable", "bad_event"):
            replays.request(conn, replays.Selector(rejected=reason), actor="olga", reason="again", rate=100, cap=9,
                            force=False)  # fmt: skip
    for _ in range(6):
        replay.step(fleet.using)
    assert Seen(fleet, logs.getvalue()).misplaced() == {}


@pytest.mark.parametrize("act", ["edit", "redirect", "correct", "approve", "reject"])
def test_what_a_person_types(fleet: Fleet, logs: io.StringIO, act: str) -> None:
    org = fleet.database.org("acme")
    fleet.install(extractor=Telling(Kind.RULE))
    fleet.ingest(sent("Always run the integration tests before a release."))
    fleet.run()
    (memory,) = [row["id"] for row in fleet.rows("SELECT id FROM memories")]
    with fleet.database.as_role("operator") as conn:
        token = tokens.mint(conn, org.id, tokens.Bearer("reviewer", "rita"), lives_seconds=60)
    with fleet.database.as_role("reviewer") as conn, granted(conn, token):
        if act == "approve":
            reviews.approve(conn, memory, comment=TOLD, placement=Placement(subject_type="user", subject_id="u-1"))
        elif act == "reject":
            reviews.reject(conn, memory, comment=TOLD)
        else:
            reviews.retype(conn, memory, act, TOLD, comment=TOLD)  # type: ignore[arg-type]
    before = Seen(fleet, logs.getvalue()).misplaced()
    fleet.run()
    after = Seen(fleet, logs.getvalue()).misplaced()
    for found in (before, after):
        # A reviewer's comment is the reviewer's own note: LOW may stand in it, for reviewers of that org alone.
        assert {place: values for place, values in found.items()
                if place != "reviews.comment" or values - all_of(LOW)} == {}  # fmt: skip
