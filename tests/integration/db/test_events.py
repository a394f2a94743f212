"""Into runs and out of date: idempotent inserts, kept rejects, gauges, settings of an org."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import replace

import pytest
from psycopg import errors

from db import events, housekeeping, orgs
from db.connect import Connection
from pipeline.org import OrgSettings
from tests.integration.db import rows
from tests.integration.db.rows import new_run, uuid7
from tests.services import Database


def test_the_same_event_becomes_one_run(shared: Database) -> None:
    """In one batch, in a second one, and under another id; the transcript and the masks of the first alone are kept."""
    org = rows.fresh_org(shared)
    run = new_run(org, body=b"zstd", masks={"secret": [[0, 3, 9]]})
    twin = replace(run, id=uuid7())
    with shared.as_role("worker") as conn:
        assert events.insert(conn, [run, twin], transcript_days=30) == {run.id}
        assert events.insert(conn, [twin], transcript_days=30) == set()
        assert events.insert(conn, [], transcript_days=30) == set()
        kept = conn.execute("SELECT run_id, body FROM transcripts WHERE org_id = %s", (org.id,)).fetchall()
        masks = conn.execute("SELECT subject_id, detail FROM ledger WHERE org_id = %s AND action = 'scrubbed'",
                             (org.id,)).fetchall()  # fmt: skip
    assert kept == [{"run_id": run.id, "body": b"zstd"}]
    assert masks == [{"subject_id": str(run.id), "detail": {"secret": [[0, 3, 9]]}}]


def test_one_key_in_two_orgs_is_two_runs(shared: Database) -> None:
    one, other = rows.fresh_org(shared), rows.fresh_org(shared)
    runs = [new_run(org, event_key="event-of-both") for org in (one, other)]
    with shared.as_role("worker") as conn:
        assert events.insert(conn, runs, transcript_days=30) == {run.id for run in runs}


def test_a_key_with_other_content_is_told_from_a_repeat(shared: Database) -> None:
    org = rows.fresh_org(shared)
    run = new_run(org, content_hash=b"\x01" * 32)
    other = replace(run, id=uuid7(), content_hash=b"\x02" * 32)
    with shared.as_role("worker") as conn:
        events.insert(conn, [run], transcript_days=30)
        assert events.insert(conn, [other], transcript_days=30) == set()
        found = events.existing(conn, [(org.id, run.event_key), (org.id, "never sent")])
    assert found == {(org.id, run.event_key): (run.id, run.content_hash)}


def test_two_batches_with_the_same_keys_in_opposite_order_both_end(database: Database) -> None:
    """Taken in the order given, each would wait for the other's key."""
    org = database.org("acme")
    batch = [new_run(org, event_key=f"key-{number:04d}") for number in range(300)]
    fresh: list[int] = []
    failed: list[BaseException] = []

    def insert(order: list[events.NewRun]) -> None:
        try:
            with database.as_role("worker") as conn:
                fresh.append(len(events.insert(conn, [replace(run, id=uuid7()) for run in order], transcript_days=30)))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=insert, args=(order,)) for order in (batch, batch[::-1]) * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failed == []
    assert sum(fresh) == 300


def test_a_batch_that_fails_leaves_nothing(shared: Database) -> None:
    org = rows.fresh_org(shared)
    good, bad = new_run(org, body=b"zstd"), new_run(org, first_own=-1)
    with shared.as_role("worker") as conn:
        with pytest.raises(errors.CheckViolation):
            events.insert(conn, [good, bad], transcript_days=30)
        assert events.existing(conn, [(org.id, good.event_key)]) == {}


def test_earlier_runs_of_a_session_are_its_orgs_own(shared: Database) -> None:
    org, other = rows.fresh_org(shared), rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        runs = [new_run(org, session="s", turns=3), new_run(org, session="s", turns=7), new_run(other, session="s")]
        events.insert(conn, [*runs, new_run(org, session="s", kind="note")], transcript_days=30)
        found = events.earlier(conn, [(org.id, "s"), (org.id, "unknown")])
    assert {key: sorted(turns for turns, _ in covered) for key, covered in found.items()} == {(org.id, "s"): [3, 7]}


def _reject(conn: Connection, entry: str | None, days: int = 14) -> None:
    events.reject(conn, id=uuid7(), entry_id=entry, reason="unparseable", detail="x" * 2_000, body=b"scrubbed",
                  deliveries=1, days=days)  # fmt: skip


def test_a_stream_entry_is_rejected_once(database: Database) -> None:
    with database.as_role("worker") as conn:
        for entry in ("1-1", "1-1", "1-2", None, None):
            _reject(conn, entry)
        found = conn.execute("SELECT count(*) AS n, max(length(detail)) AS longest FROM rejected_events").fetchone()
    assert found == {"n": 4, "longest": 1_000}


def test_gauges_count_what_stands(database: Database) -> None:
    org = database.org("acme")
    with database.as_role("worker") as conn:
        rows.insert_run(conn, org)
        conn.execute("UPDATE runs SET due_at = now() - interval '90 seconds'")
        rows.insert_run(conn, org, "dead_letter", died_in="redacted", error_code="model_refused")
        done = rows.insert_run(conn, org, "consolidated")
        rows.pending(conn, org, "a", run=done)
        rows.insert_memory(conn, org, "b", run=done)
        seen = housekeeping.gauges(conn)
        entries = conn.execute("SELECT count(*) AS n FROM ledger").fetchone()
    assert seen.runs == {"received": 1, "dead_letter": 1, "consolidated": 1}
    assert seen.dead_letters == {"model_refused": 1}
    assert seen.open_reviews == {("hold", "day"): 1}
    assert seen.memories == {"pending": 1, "active": 1}
    assert seen.oldest_due_seconds == {"received": pytest.approx(90, abs=5)}
    assert {"n": seen.unsealed} == entries


def test_one_housekeeper_at_a_time(database: Database) -> None:
    with database.as_role("worker") as first, database.as_role("worker") as second:
        assert housekeeping.is_only_one(first)
        assert not housekeeping.is_only_one(second)
        first.close()
        rows.wait_for(lambda: housekeeping.is_only_one(second))


CHANGE = """
import sys
from db import orgs
from db.connect import connect
with connect(sys.argv[1]) as conn:
    org = orgs.get(conn, sys.argv[2])
    settings = org.settings.model_copy(update={"extraction": not org.settings.extraction})
    sys.exit(0 if orgs.change(conn, org, settings, actor="test", reason="test") else 1)
"""


@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_settings_written_by_one_process_are_changed_by_another(shared: Database, seed: str) -> None:
    """Sets iterate differently under each hash seed; that is no change by somebody else."""
    org = rows.fresh_org(shared, required_classes=OrgSettings().required_classes)
    command = [sys.executable, "-c", CHANGE, shared.address("operator"), org.name]
    assert subprocess.run(command, env=os.environ | {"PYTHONHASHSEED": seed}).returncode == 0
    with shared.as_role("operator") as conn:
        assert orgs.get(conn, org.name).settings.extraction is False
        detail = conn.execute(
            "SELECT detail FROM ledger WHERE org_id = %s ORDER BY id DESC LIMIT 1", (org.id,)
        ).fetchone()
    assert detail == {"detail": {"changed": {"extraction": [True, False]}, "reason": "test"}}


def test_settings_changed_meanwhile_are_not_overwritten(shared: Database) -> None:
    org = rows.fresh_org(shared)
    waived = org.settings.model_copy(update={"waived_classes": {"person": "ana"}})
    with shared.as_role("operator") as conn:
        assert orgs.change(conn, org, waived, actor="a", reason="r")
        off = org.settings.model_copy(update={"extraction": False})
        assert not orgs.change(conn, org, off, actor="b", reason="r")
        assert orgs.get(conn, org.name).settings == waived
        assert not orgs.create(conn, org.name, actor="b")
