"""Extraction's reads and writes: transcripts in, staged envelopes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from db.connect import Connection
from db.sql import query


def transcripts(conn: Connection, runs: Sequence[UUID]) -> dict[UUID, bytes]:
    """The zstd transcript of each run that still has one."""
    return {row["run_id"]: row["body"] for row in conn.execute(query("stages.transcripts"), {"ids": list(runs)})}


def stage_envelopes(conn: Connection, envelopes: Mapping[UUID, tuple[int, dict[str, Any]]]) -> None:
    """Stage (org, body) of each run; a second attempt replaces what the first staged."""
    rows = [{"run_id": str(run), "org_id": org, "body": body} for run, (org, body) in envelopes.items()]
    conn.execute(query("stages.stage_envelopes"), {"rows": Jsonb(rows)})
