"""The bare set-wise SQL of the same rows: what Postgres alone needs to write them.

The rows a fleet left behind are written again into an empty database, into the same tables with the same triggers, so
that the same ledger entries come into being: a batch of runs at a time through the same states, one transaction a
state as in the pipeline, on two connections. No stream, no claim or lease, no staged envelope, nothing parsed or
looked for; every parameter is made before the clock starts.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from psycopg import sql
from psycopg.types.json import Jsonb

from db.connect import Connection, connect
from tests.benchmarks.fleet_side import Timed, cpu
from tests.benchmarks.site import Site
from tests.services import Database
from workers.context import Limits

CONNECTIONS = 2
STATES = ("received", "extracted", "redacted", "embedded", "consolidated")
ACTORS = ("ingest", "extraction", "redaction", "embedding", "consolidation")
WRITES = {"received": ("runs", "transcripts"), "redacted": ("memories",), "embedded": ("embeddings_1",)}
_KEYS = {"runs": "id", "transcripts": "run_id", "memories": "run_id"}
_MOVE = sql.SQL(
    "UPDATE runs SET state = %(to)s, actor = %(actor)s, state_at = now(), "
    "due_at = CASE WHEN %(to)s <> 'consolidated' THEN now() END WHERE id = ANY (%(ids)s) AND state = %(from)s"
)
_SENT = sql.SQL("SELECT id FROM runs WHERE event_key NOT LIKE 'stored-%' ORDER BY created_at, id")
_MASKED = sql.SQL(
    "SELECT org_id, subject_kind, subject_id, actor, action, detail FROM ledger "
    "WHERE action = 'scrubbed' AND subject_id = ANY (%s::text[])"
)
_RECORD = sql.SQL(
    "INSERT INTO ledger (org_id, subject_kind, subject_id, actor, action, detail) "
    "SELECT org_id, subject_kind, subject_id, actor, action, detail "
    "FROM jsonb_to_recordset(%(rows)s) AS x(org_id integer, subject_kind text, subject_id text, actor text, "
    "action text, detail jsonb)"
)

Statement = tuple[sql.SQL | sql.Composed, dict[str, Any]]


@dataclass(frozen=True)
class Batch:
    """The transactions that take a batch of runs through every state."""

    transactions: list[list[Statement]]


def collect(database: Database) -> list[Batch]:
    """What a fleet wrote, as batches of statements. Every memory must have been added, none held or repeated.

    Audits are opened by trigger, here as there.
    """
    with connect(database.admin) as conn:
        others = conn.execute(
            "SELECT (SELECT count(*) FROM reviews WHERE kind <> 'audit') + (SELECT count(*) FROM occurrences) AS n"
        )
        assert others.fetchall() == [{"n": 0}]
        inserts = {table: _insert(conn, table) for tables in WRITES.values() for table in tables}
        ids = [row["id"] for row in conn.execute(_SENT)]
        size = Limits().batch_size
        return [_batch(conn, inserts, ids[at : at + size]) for at in range(0, len(ids), size)]


def _insert(conn: Connection, table: str) -> sql.Composed:
    columns = conn.execute(
        "SELECT column_name FROM information_schema.columns WHERE table_schema = 'afterword' AND table_name = %s "
        "AND is_generated = 'NEVER' ORDER BY ordinal_position",
        (table,),
    )
    names = sql.SQL(", ").join(sql.Identifier(row["column_name"]) for row in columns)
    return sql.SQL(
        "INSERT INTO {table} ({names}) SELECT {names} FROM jsonb_populate_recordset(NULL::{table}, %(rows)s)"
    ).format(table=sql.Identifier(table), names=names)


def _batch(conn: Connection, inserts: dict[str, sql.Composed], ids: Sequence[Any]) -> Batch:
    def written(state: str) -> Iterator[Statement]:
        for table in WRITES.get(state, ()):
            yield inserts[table], {"rows": Jsonb(_rows(conn, table, ids))}

    moves = [
        (_MOVE, {"ids": list(ids), "from": before, "to": after, "actor": actor})
        for (before, after), actor in zip(pairwise(STATES), ACTORS[1:], strict=True)
    ]
    masked = conn.execute(_MASKED, ([str(run) for run in ids],)).fetchall()
    scrubbed: list[Statement] = [(_RECORD, {"rows": Jsonb(masked)})] if masked else []
    return Batch([[*written("received"), *scrubbed], *([move, *written(move[1]["to"])] for move in moves)])


def _rows(conn: Connection, table: str, ids: Sequence[Any]) -> list[dict[str, Any]]:
    mine = (
        sql.SQL("memory_id IN (SELECT id FROM memories WHERE run_id = ANY (%s))")
        if table not in _KEYS
        else sql.SQL("{} = ANY (%s)").format(sql.Identifier(_KEYS[table]))
    )
    found = conn.execute(
        sql.SQL("SELECT row_to_json(t) AS r FROM {} t WHERE {}").format(sql.Identifier(table), mine), [list(ids)]
    )
    rows = [row["r"] for row in found]
    if table == "runs":
        for row in rows:
            row.update(state="received", actor="ingest", due_at=row["created_at"])
    return rows


def run_bare(site: Site, database: Database, batches: Sequence[Batch]) -> Timed:
    """Both connections open before the clock starts."""
    runs = sum(len(batch.transactions[1][0][1]["ids"]) for batch in batches)
    connections = [connect(database.address("worker")) for _ in range(CONNECTIONS)]
    shares = [batches[number::CONNECTIONS] for number in range(CONNECTIONS)]
    failed: list[BaseException] = []
    threads = [
        threading.Thread(target=_write, args=(conn, share, failed))
        for conn, share in zip(connections, shares, strict=True)
    ]
    before = cpu(site, {})
    started = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - started
    after = cpu(site, {})
    for conn in connections:
        conn.close()
    if failed:
        raise failed[0]
    return Timed(runs, seconds, {name: after[name] - before[name] for name in after})


def _write(conn: Connection, batches: Sequence[Batch], failed: list[BaseException]) -> None:
    try:
        for batch in batches:
            for statements in batch.transactions:
                with conn.transaction():
                    for statement, params in statements:
                        conn.execute(statement, params)
    except BaseException as error:
        failed.append(error)
