"""Rows to test with: runs in any state, memories through the workers' own write, tokens, psql."""

from __future__ import annotations

import hashlib
import itertools
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
from psycopg import sql
from psycopg.rows import dict_row
from uuid_utils.compat import uuid7

from db import redaction, tokens
from db.connect import Connection, granted
from db.events import NewRun, Org
from db.redaction import NewMemory
from db.tokens import Bearer
from ops.embedded.binaries import postgres_binaries
from pipeline.memory import AuthorKind, HoldReason, MemoryDraft, Scope, ScopeKind, Subject, Tier
from pipeline.states import RunState
from tests.services import Database
from tests.waiting import wait_for

OBSERVED = datetime(2026, 3, 1, 12, tzinfo=UTC)
LINE = ["received", "extracted", "redacted", "embedded", "consolidated"]
STATES_DONE = ("consolidated", "skipped", "dead_letter")
_numbers = itertools.count()


EMPTIED = (
    "content = '', rationale = '', evidence = '[]', subject_type = NULL, subject_id = NULL, previous_hash = NULL, "
    "erased_at = now()"
)
"""What an UPDATE of memories must set for the row to count as erased."""


def fresh_org(database: Database, **settings: object) -> Org:
    """An org of its own for one case in a shared database."""
    return database.org(f"org-{next(_numbers)}", **settings)


def new_run(org: Org, **changes: Any) -> NewRun:
    """A session's run as ingest hands it in."""
    number = next(_numbers)
    run = NewRun(
        id=uuid7(), org_id=org.id, kind="session", event_key=f"event-{number}", content_hash=bytes(32),
        session=f"session-{number}", agent="agent-1", project=None, user_id=None, event={}, ended_at=OBSERVED,
        turns=3, first_own=0, actor="ingest", body=None, masks={},
    )  # fmt: skip
    return replace(run, **changes)


def insert_row(conn: psycopg.Connection[Any], org: Org, columns: Mapping[str, Any]) -> UUID:
    """One hand-written INSERT into runs."""
    run = new_run(org)
    row = {
        "id": run.id, "org_id": org.id, "kind": "session", "state": "received", "event_key": run.event_key,
        "content_hash": run.content_hash, "session": run.session, "agent": run.agent, "event": "{}",
        "ended_at": run.ended_at, **columns,
    }  # fmt: skip
    names = sql.SQL(", ").join(map(sql.Identifier, row))
    values = sql.SQL(", ").join([sql.Placeholder()] * len(row))
    conn.execute(sql.SQL("INSERT INTO runs ({}) VALUES ({})").format(names, values), list(row.values()))
    return UUID(str(row["id"]))


def insert_run(conn: psycopg.Connection[Any], org: Org, state: str = "received", **columns: Any) -> UUID:
    """A run brought to `state` by legal moves."""
    dying = {key: columns.pop(key) for key in ("died_in", "error_code", "replays") if key in columns}
    run = insert_row(conn, org, columns)
    for step in path_to(state, dying.get("died_in", "received"), columns.get("state", "received")):
        move(conn, run, step, **dying)
    return run


def path_to(state: str, died_in: str, entry: str = "received") -> list[str]:
    """The legal moves from `entry` to `state`."""
    target = died_in if state == "dead_letter" else state
    if state == "skipped":
        return ["skipped"]
    steps = LINE[LINE.index(entry) + 1 : LINE.index(target) + 1]
    return [*steps, "dead_letter"] if state == "dead_letter" else steps


def move(conn: psycopg.Connection[Any], run: UUID, state: str, **columns: Any) -> None:
    """A hand-written UPDATE that fills what the state's CHECKs ask for, so that only the move itself can be refused."""
    conn.execute(
        """
        UPDATE runs SET state = %(to)s, due_at = CASE WHEN %(done)s THEN NULL ELSE now() END, lease = NULL,
          skip_reason = CASE WHEN %(to)s = 'skipped' THEN 'empty' END,
          died_in = CASE WHEN %(to)s = 'dead_letter' THEN coalesce(died_in, state) END,
          error_code = coalesce(%(code)s, CASE WHEN %(to)s = 'dead_letter' THEN 'internal' END),
          replays = coalesce(%(replays)s, replays), replay_id = coalesce(%(replay_id)s, replay_id), state_at = now()
        WHERE id = %(id)s
        """,
        {"to": state, "done": state in STATES_DONE, "id": run, "code": columns.get("error_code"),
         "replays": columns.get("replays"), "replay_id": columns.get("replay_id")},
    )  # fmt: skip


def open_replay(conn: psycopg.Connection[Any]) -> UUID:
    """A replay that was asked for and has not ended; as an operator."""
    row = conn.execute(
        "INSERT INTO replays (id, selector, actor, reason, rate_per_second, cap)"
        " VALUES (uuidv7(), '{}', 'op', 'test', 1, 1) RETURNING id"
    ).fetchone()
    assert row is not None
    return UUID(str(row["id"]))


def sampled(id: UUID, basis_points: int = 1_000) -> bool:
    """What the database's in_share says of this id."""
    return int.from_bytes(hashlib.sha256(id.bytes).digest()[:4]) % 10_000 < basis_points


def new_id(*, in_sample: bool = False) -> UUID:
    """An id of a memory that is audited, or of one that is not: so that no case has a review it did not ask for."""
    return next(id for id in iter(uuid7, None) if sampled(id) == in_sample)


def draft(org: Org, run: UUID, content: str, **changes: Any) -> MemoryDraft:
    """A clean, supported, org-wide fact."""
    plain = MemoryDraft(
        id=new_id(), run_id=run, org_id=org.id, tier=Tier.SEMANTIC, kind="fact", scope=Scope(ScopeKind.ORG),
        content=content, rationale="said in the session", evidence=[{"turn": 0, "quote": content}], classes=(),
        hold_reasons=(), subject=None, author_kind=AuthorKind.AGENT, author="agent-1", provenance={"model": "test"},
        high_stakes=False, importance=3, observed_at=OBSERVED, expires_at=datetime.now(UTC) + timedelta(days=90),
    )  # fmt: skip
    return replace(plain, **changes)


def insert_memory(conn: Connection, org: Org, content: str, *, run: UUID | None = None, **changes: Any) -> UUID:
    """An active memory through the redaction worker's write; pending with its review where it has hold reasons."""
    item = draft(org, run or insert_run(conn, org), content, **changes)
    review = uuid7() if item.held else None
    redaction.insert_memories(conn, [NewMemory(item, review, "redaction")])
    return item.id


def pending(conn: Connection, org: Org, content: str, **changes: Any) -> UUID:
    return insert_memory(conn, org, content, **{"hold_reasons": (HoldReason.UNDATED,)} | changes)


def about(person: str) -> Subject:
    return Subject("person", person)


def status(conn: Connection, memory: UUID) -> str:
    row = conn.execute("SELECT status FROM memories WHERE id = %s", (memory,)).fetchone()
    assert row is not None
    return str(row["status"])


def state(conn: Connection, run: UUID) -> RunState:
    row = conn.execute("SELECT state FROM runs WHERE id = %s", (run,)).fetchone()
    assert row is not None
    return RunState(row["state"])


def token(database: Database, org: Org, role: str = "reviewer", *, seconds: float = 3600, **bearer: Any) -> str:
    with database.as_role("operator") as conn:
        return tokens.mint(conn, org.id, Bearer(role, f"{role}-1", **bearer), lives_seconds=seconds)


@contextmanager
def door(database: Database, text: str, role: str = "reviewer") -> Iterator[Connection]:
    """A transaction of `role` that carries this token."""
    with database.as_role(role) as conn, granted(conn, text):
        yield conn


@contextmanager
def as_admin(database: Database) -> Iterator[Connection]:
    """The superuser, to look past every policy or to damage what no login could."""
    with psycopg.Connection[dict[str, Any]].connect(database.admin, autocommit=True, row_factory=dict_row) as conn:
        yield conn


def psql(database: Database, role: str, script: str) -> subprocess.CompletedProcess[str]:
    """What a person with that login's password gets from psql; stops at the first error."""
    program = postgres_binaries(database.server._home) / "psql"
    command = [program, "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", database.address(role)]
    return subprocess.run(command, input=script, capture_output=True, text=True, env=os.environ | {"PGOPTIONS": ""})


def wait_until_blocked(database: Database) -> None:
    """Until some statement in this database waits for another transaction's lock."""
    with as_admin(database) as conn:
        wait_for(lambda: conn.execute(
            "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        ).fetchone() is not None)  # fmt: skip
