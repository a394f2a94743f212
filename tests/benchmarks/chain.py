"""The same work as a plain RQ chain: four jobs a run, each alone, in one transaction of the same rows.

What a user of RQ writes first: functions, `queue.enqueue` with its defaults, SimpleWorkers (RQ's faster worker, without
a fork a job). Each job does its stage with the shipped domain code and statements for its one run, on a connection of
its own process, then enqueues the next. It has no leases, no fairness, and what it holds is lost with Redis. The first
job takes the event along, so that no ingest stands before it and the transcript is not read back.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from redis import Redis
from rq import Queue, SimpleWorker
from uuid_utils.compat import uuid7

from db import events, extraction
from db.connect import Connection, connect
from db.events import NewRun, Org
from db.runs import Claimed
from pipeline.extraction.port import ExtractionJob
from pipeline.extraction.staging import stage_proposal
from pipeline.intake import Arrival, receive
from pipeline.outcome import Done
from pipeline.redaction.detectors import ALL
from pipeline.session import run_metadata
from pipeline.states import RunKind, RunState
from pipeline.transcripts import pack
from tests.benchmarks.recording import RecordedEmbedder, RecordedExtractor
from tests.fleet import KEY
from workers.consolidation import Consolidation
from workers.context import Context, Resources
from workers.embedding import Embedding
from workers.redaction import Redaction
from workers.stage import Stage

QUEUE = "chain"
TRANSCRIPT_DAYS = 30
_MOVE = """UPDATE runs SET state = %(to)s, due_at = CASE WHEN %(to)s <> 'consolidated' THEN now() END,
  actor = %(actor)s, state_at = now() WHERE id = %(id)s AND state = %(from)s"""
_RUN = """SELECT id, org_id, kind, session, agent, project, user_id, event, ended_at, first_own, memory_id, attempts,
  lease_losses, actor FROM runs WHERE id = %(id)s"""


class OnePool:
    """One connection, handed out without asking."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        yield self._conn


class Process(Resources):
    """What this worker process holds, in the shape the stages ask for."""

    pool = cast(Any, None)
    redis = cast(Any, None)
    queue: Queue


def extract(event: bytes) -> None:
    arrival = receive(event)
    with _at.pool.connection() as conn, conn.transaction():
        org = events.orgs(conn, names=[arrival.event.org])[0]
        run = _new_run(org, arrival)
        events.insert(conn, [run], transcript_days=TRANSCRIPT_DAYS)
        job = ExtractionJob(run.id, arrival.transcript)
        ((_, proposed),) = _at.extractor.extract_many([job])
        assert isinstance(proposed, Done)
        body = stage_proposal(job, proposed.output, agent=run.agent, user=run.user_id, ended_at=run.ended_at)
        _move(conn, run.id, RunState.RECEIVED, RunState.EXTRACTED, "extraction")
        extraction.stage_envelopes(conn, {run.id: (org.id, body)})
    _at.queue.enqueue(redact, run.id)


def redact(run: UUID) -> None:
    _do(Redaction(), run)
    _at.queue.enqueue(embed, run)


def embed(run: UUID) -> None:
    _do(Embedding(), run)
    _at.queue.enqueue(consolidate, run)


def consolidate(run: UUID) -> None:
    _do(Consolidation(), run)


def _new_run(org: Org, arrival: Arrival) -> NewRun:
    event = arrival.event
    return NewRun(
        id=uuid7(), org_id=org.id, kind=event.kind, event_key=arrival.key, content_hash=arrival.content_hash,
        session=event.session, agent=event.agent, project=event.project, user_id=event.user,
        event=run_metadata(event) | {"kept": True}, ended_at=event.ended_at, turns=len(arrival.transcript.turns),
        first_own=0, actor="ingest", body=pack(arrival.transcript), masks=arrival.mask_detail(),
    )  # fmt: skip


def _do(stage: Stage[Any], run: UUID) -> None:
    with _at.pool.connection() as conn:
        row = conn.execute(_RUN, {"id": run}).fetchone()
        assert row is not None
        claimed = Claimed(**{**row, "kind": RunKind(row["kind"])})
        ((_, outcome),) = next(stage.work(_at, [claimed]))
        assert isinstance(outcome, Done), outcome
        with conn.transaction():
            _move(conn, run, stage.takes, stage.gives, stage.name)
            stage.write(conn, [(claimed, outcome.output)])


def _move(conn: Connection, run: UUID, taken: RunState, given: RunState, actor: str) -> None:
    done = conn.execute(_MOVE, {"id": run, "from": taken, "to": given, "actor": actor})
    assert done.rowcount == 1


_at: Process


def work(database: str, redis_url: str, recording: Path) -> None:
    """Take jobs until asked to stop."""
    global _at
    embedder = RecordedEmbedder(recording)
    redis = Redis.from_url(redis_url)
    _at = Process(Context(database, redis_url, RecordedExtractor, lambda: embedder, ALL, KEY), os.getpid())
    with connect(database) as conn:
        _at.__dict__.update(pool=OnePool(conn), queue=Queue(QUEUE, connection=redis))
        SimpleWorker([_at.queue], connection=redis).work(logging_level="WARNING")
