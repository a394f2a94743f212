"""Embedding's reads and writes: one table a stamp, so that vectors of two spaces cannot meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

import numpy as np
from pgvector import Vector
from psycopg import sql

from db import ledger
from db.connect import Connection
from db.sql import query
from pipeline.embedding.calibration import Calibration, Drawn, Side
from pipeline.embedding.port import Stamp, Vectors


@dataclass(frozen=True, slots=True)
class Unembedded:
    id: UUID
    org_id: int
    run_id: UUID
    content: str


def on_stamp(name: str, stamp: int) -> sql.Composed:
    """The query `embeddings.name` over the table of `stamp`."""
    return sql.SQL(query(f"embeddings.{name}")).format(table=sql.Identifier(f"embeddings_{stamp}"))


def stamp_id(conn: Connection, stamp: Stamp) -> int | None:
    """The number of a registered stamp, None when nobody registered it."""
    params = {"provider": stamp.provider, "model": stamp.model, "revision": stamp.revision,
              "dimension": stamp.dimension}  # fmt: skip
    row = conn.execute(query("stages.stamp"), params).fetchone()
    return None if row is None else int(row["id"])


def current_stamp(conn: Connection) -> tuple[int, Stamp] | None:
    """The stamp that recall searches, with its number."""
    row = conn.execute(query("stages.current_stamp")).fetchone()
    return None if row is None else (row["id"], Stamp(**{k: v for k, v in row.items() if k != "id"}))


def stamps(conn: Connection) -> list[int]:
    """The number of every registered stamp."""
    return [row["id"] for row in conn.execute(query("embeddings.stamps"))]


def missing(conn: Connection, stamp: int, runs: Sequence[UUID]) -> list[Unembedded]:
    rows = conn.execute(on_stamp("missing", stamp), {"ids": list(runs)})
    return [Unembedded(row["id"], row["org_id"], row["run_id"], row["content"]) for row in rows]


def insert(conn: Connection, stamp: int, memories: Sequence[UUID], vectors: Vectors) -> None:
    """Store one vector a memory; a memory no longer active gets none."""
    params: dict[str, Any] = {"ids": list(memories), "vectors": [Vector(row) for row in vectors], "stamp": stamp}
    conn.execute(on_stamp("insert", stamp), params)


def drawn(conn: Connection, stamp: int, *, seed: int, limit: int) -> tuple[list[Drawn], Vectors]:
    """At most `limit` memories of the largest orgs with their vectors, shape (n, dimension); as the worker."""
    found = conn.execute(on_stamp("drawn", stamp), {"seed": seed, "limit": limit}).fetchall()
    texts = [Drawn(row["org_id"], row["session"], row["content"]) for row in found]
    return texts, np.array([row["vector"].to_numpy() for row in found], dtype=np.float32)


def calibrate(conn: Connection, stamp: int, sides: Sequence[Calibration], *, actor: str) -> None:
    """What `sides` say counts from now on; an entry in the ledger, for all orgs."""
    with conn.transaction():
        for side in sides:
            conn.execute(query("embeddings.calibrate"), {"stamp": stamp, **asdict(side)})
        detail: dict[str, Any] = {
            side.side: {"pairs": side.pairs, "p99": side.p99, "p999": side.p999} for side in sides
        }
        ledger.record(
            conn, org_id=None, subject=("stamp", str(stamp)), actor=actor, action="stamp_calibrated", detail=detail
        )


def calibrated(conn: Connection, stamp: int) -> dict[Side, Calibration]:
    """What counts now, by side; empty where nobody calibrated."""
    rows = conn.execute(query("embeddings.calibrated"), {"stamp": stamp})
    return {row["side"]: Calibration(**row) for row in rows}
