"""What people answered about samples of the gate's own decisions: for thresholds, for reports, for the gauges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from db import ledger
from db.connect import Connection
from db.sql import query
from pipeline.dropping import SAMPLE_DAYS_MAX, Record
from pipeline.extraction.stamp import rules_revision

Rows = list[dict[str, Any]]


def record(conn: Connection, stamp: str, threshold: float, prompt_revision: str) -> Record:
    """What this threshold can show for itself under today's prompt and rules."""
    provider, _, model = stamp.partition("/")
    by = {"provider": provider, "model": model, "prompt_revision": prompt_revision, "rules_revision": rules_revision()}
    params = {"threshold": threshold, "by": Jsonb(by), "days": SAMPLE_DAYS_MAX}
    row = conn.execute(query("samples.record"), params).fetchone()
    assert row is not None
    return Record(stamp, threshold, prompt_revision, **row)


def note_loaded(conn: Connection, records: Sequence[Record], *, actor: str) -> None:
    """An entry in the ledger for each threshold that was not loaded like this before."""
    for item in records:
        detail = {"threshold": item.threshold, "prompt": item.prompt_revision, "rules": rules_revision()}
        last = conn.execute(query("samples.last_loaded"), {"stamp": item.stamp}).fetchone()
        if last is None or {key: last["detail"].get(key) for key in detail} != detail:
            shown = {key: value for key, value in asdict(item).items() if type(value) is int}
            ledger.record(conn, org_id=None, subject=("threshold", item.stamp), actor=actor, action="threshold_loaded",
                          detail=detail | shown)  # fmt: skip


def drops(conn: Connection, *, org: str | None, only_open: bool, limit: int) -> Rows:
    """Latest first, without what they say. `review`: open, its answer, or None for one that was not sampled."""
    return list(conn.execute(query("samples.drops"), {"org": org, "open": only_open, "limit": limit}))


def precision(conn: Connection, *, org: str | None, since: datetime | None) -> Rows:
    """stamp, prompt_revision, rules_revision, and how many audits said right, wrong, or nothing yet."""
    return list(conn.execute(query("samples.precision"), {"org": org, "since": since}))


def trend(conn: Connection, *, org: str | None, since: datetime | None) -> Rows:
    """stamp, week (its Monday), and how many held candidates were decided, approved, changed, refused."""
    return list(conn.execute(query("samples.trend"), {"org": org, "since": since}))


def calibration(conn: Connection, *, org: str | None, since: datetime | None) -> Rows:
    """stamp, tenth (0 to 9) of stated confidence, how many were judged, the mean stated, how many were right."""
    return list(conn.execute(query("samples.calibration"), {"org": org, "since": since}))
