"""Whom runs name: written at redaction in its own commit, with what erasures and holds say about those runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from db.connect import Connection
from db.sql import query
from pipeline.errors import SettingError
from pipeline.subjects import Keyring, Name, key_check


@dataclass(frozen=True, slots=True)
class Covering:
    """An erasure, or a legal hold, that may concern a run: somebody by keyed hash, and what is sought in texts."""

    run_id: UUID
    id: UUID
    hash: bytes
    needles: list[dict[str, Any]]
    holds: bool


def check_key(conn: Connection, key: bytes) -> None:
    """Raises SettingError where this database was made with another key: nobody in it could be found again."""
    row = conn.execute(query("subjects.knows_key"), {"check": key_check(key)}).fetchone()
    if row is None or not row["known"]:
        raise SettingError(
            "AFTERWORD_INSTALLATION_KEY is not the key this database was filled under: no subject would be found in "
            "it. Set the old key again; it is kept in AFTERWORD_HOME/secrets/installation_key, or in your secrets."
        )


def covering(conn: Connection, orgs: Iterable[int], runs: Sequence[UUID]) -> list[Covering]:
    """What may concern these runs. Inside the transaction that commits them: a mark made meanwhile is waited for."""
    conn.execute(query("subjects.await_erasures"), {"orgs": sorted(set(orgs))})
    return [Covering(**row) for row in conn.execute(query("subjects.covering"), {"runs": list(runs)})]


def record(conn: Connection, names: Iterable[tuple[Keyring, UUID, UUID | None, Iterable[Name]]]) -> None:
    """(org's keys, run, memory or None, whom it names); the same name again changes nothing."""
    rows = {
        (keyring.org_id, keyring.name(name).hex(), str(run), memory and str(memory))
        for keyring, run, memory, named in names
        for name in named
    }
    if rows:
        columns = ("org_id", "hash", "run_id", "memory_id")
        as_json = [dict(zip(columns, row, strict=True)) for row in sorted(rows, key=str)]
        conn.execute(query("subjects.record"), {"rows": Jsonb(as_json)})


def hold(conn: Connection, found: Iterable[tuple[int, Covering]]) -> None:
    """These runs are under these holds from now on."""
    rows = [{"hold_id": str(c.id), "org_id": org, "run_id": str(c.run_id)} for org, c in found]
    if rows:
        conn.execute(query("subjects.hold"), {"rows": Jsonb(rows)})


def erase_run(conn: Connection, keyring: Keyring, run: UUID) -> None:
    """A run that came after an erasure that covers it keeps nothing of what was sent."""
    row = conn.execute(query("subjects.event_key"), {"run": run}).fetchone()
    assert row is not None
    conn.execute(query("subjects.drop_transcript"), {"run": run})
    conn.execute(query("subjects.erase_run"), {"run": run, "event_key": keyring.event(row["event_key"])})


def erased_events(conn: Connection, named: Sequence[tuple[Keyring, Name]]) -> dict[tuple[int, bytes], list[Any]]:
    """(org, hash) of those who were forgotten -> when; of the names that events give. Inside the transaction that takes
    the events in: a mark made meanwhile is waited for.
    """
    conn.execute(query("subjects.await_erasures"), {"orgs": sorted({keyring.org_id for keyring, _ in named})})
    hashes = [(keyring.org_id, keyring.name(name)) for keyring, name in named]
    params = {"orgs": [org for org, _ in hashes], "hashes": [hash.hex() for _, hash in hashes]}
    found: dict[tuple[int, bytes], list[Any]] = {}
    for row in conn.execute(query("subjects.covering_events"), params):
        found.setdefault((row["org_id"], row["hash"]), []).append(row["at"])
    return found
