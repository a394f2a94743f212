"""From the stream into runs: one transaction a batch, duplicates harmless, conflicts and rejects kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from db.connect import Connection
from db.sql import query
from pipeline.org import OrgSettings


@dataclass(frozen=True, slots=True)
class Org:
    id: int
    name: str
    settings: OrgSettings
    spaces: frozenset[str]


@dataclass(frozen=True, slots=True)
class NewRun:
    """A run about to be inserted. `body` is the zstd transcript, None when the org keeps none."""

    id: UUID
    org_id: int
    kind: str
    event_key: str
    content_hash: bytes
    session: str
    agent: str
    project: str | None
    user_id: str | None
    event: dict[str, Any]
    ended_at: datetime
    turns: int
    first_own: int
    actor: str
    body: bytes | None
    masks: dict[str, Any]


def orgs(conn: Connection, *, names: Sequence[str] = (), ids: Sequence[int] = ()) -> list[Org]:
    """The orgs of these names or ids, with their settings; unknown ones are absent."""
    rows = conn.execute(query("events.orgs"), {"names": list(names), "ids": list(ids)})
    return [
        Org(row["id"], row["name"], OrgSettings.model_validate(row["settings"]), frozenset(row["spaces"]))
        for row in rows
    ]


def earlier(conn: Connection, sessions: Sequence[tuple[int, str]]) -> dict[tuple[int, str], list[tuple[int, bytes]]]:
    """(turns, content hash) of every earlier run of each (org, session)."""
    found: dict[tuple[int, str], list[tuple[int, bytes]]] = {}
    params = {"orgs": [org for org, _ in sessions], "sessions": [session for _, session in sessions]}
    for row in conn.execute(query("events.earlier"), params):
        found.setdefault((row["org_id"], row["session"]), []).append((row["turns"], row["content_hash"]))
    return found


def insert(conn: Connection, runs: Sequence[NewRun], *, transcript_days: int) -> set[UUID]:
    """Insert what is new, with transcripts and ledgered masks; returns the ids that became runs."""
    if not runs:
        return set()
    with conn.transaction():
        rows = conn.execute(query("events.insert"), {"rows": Jsonb([_row(run) for run in runs])})
        fresh = {row["id"] for row in rows}
        kept = [run for run in runs if run.id in fresh and run.body is not None]
        conn.execute(query("events.keep_transcripts"), {
            "ids": [run.id for run in kept], "orgs": [run.org_id for run in kept],
            "bodies": [run.body for run in kept], "turns": [run.turns for run in kept], "days": transcript_days,
        })  # fmt: skip
        masked = [
            {"org_id": run.org_id, "run_id": str(run.id), "detail": run.masks}
            for run in runs
            if run.id in fresh and run.masks
        ]
        if masked:
            conn.execute(query("events.record_masks"), {"rows": Jsonb(masked)})
    return fresh


def _row(run: NewRun) -> dict[str, Any]:
    return {
        "id": str(run.id), "org_id": run.org_id, "kind": run.kind, "event_key": run.event_key,
        "content_hash": run.content_hash.hex(), "session": run.session, "agent": run.agent, "project": run.project,
        "user_id": run.user_id, "event": run.event, "ended_at": run.ended_at.isoformat(), "turns": run.turns,
        "first_own": run.first_own, "actor": run.actor,
    }  # fmt: skip


def existing(conn: Connection, keys: Sequence[tuple[int, str]]) -> dict[tuple[int, str], tuple[UUID, bytes]]:
    """(run id, content hash) of the runs that already have these (org, event key)."""
    params = {"orgs": [org for org, _ in keys], "keys": [key for _, key in keys]}
    return {
        (row["org_id"], row["event_key"]): (row["id"], row["content_hash"])
        for row in conn.execute(query("events.existing"), params)
    }


def reject(
    conn: Connection,
    *,
    id: UUID,
    entry_id: str | None,
    reason: str,
    detail: str,
    body: bytes,
    deliveries: int,
    days: int,
) -> None:
    """Keep a scrubbed original with its reason. The same stream entry is kept once."""
    conn.execute(query("events.reject"), {
        "id": id, "entry_id": entry_id, "reason": reason, "detail": detail[:1_000], "body": body,
        "deliveries": deliveries, "days": days,
    })  # fmt: skip
