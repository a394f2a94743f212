"""Housekeeping: seals that verify, purges on their date, gauges that equal the database, one housekeeper at a time."""

from __future__ import annotations

import json
import threading
from pathlib import Path

from prometheus_client import Gauge

from db import housekeeping as store
from db import ledger
from pipeline.candidate import Kind
from tests.fleet import Fleet, event
from tests.integration.workers.scripted import Echo
from tests.waiting import wait_for
from workers import housekeeping, metrics
from workers.bell import stopping

FACT = "The search service stores its documents in Postgres."


def value(gauge: Gauge, *labels: str) -> float:
    return float((gauge.labels(*labels) if labels else gauge)._value.get())


def shown(gauge: Gauge) -> dict[tuple[str, ...], float]:
    """What a gauge shows, zeros left out."""
    found = {labels: child._value.get() for labels, child in gauge._metrics.items()}
    return {labels: number for labels, number in found.items() if number}


def populated(fleet: Fleet) -> None:
    """Runs in four states, memories in two."""
    fleet.database.org("acme")
    fleet.install(extractor=Echo(), attempts_max=1)
    fleet.ingest(event(FACT, session="a"))
    fleet.run()
    fleet.install(extractor=Echo(Kind.RULE))
    fleet.ingest(event("Always run the integration tests before a release.", session="b"))
    fleet.run("extraction", "redaction")
    fleet.ingest(event(FACT, session="c"))
    fleet.rows("DELETE FROM transcripts USING runs r WHERE r.id = run_id AND session = 'c' RETURNING run_id")
    fleet.run("extraction")
    fleet.install(extractor=Echo())
    fleet.ingest(event(FACT, session="d"))


def test_seals_verify_and_a_witness_outside_the_database_has_them_too(fleet: Fleet, tmp_path: Path) -> None:
    populated(fleet)
    fleet.install(witness=str(tmp_path / "witness"))
    with fleet.using.pool.connection() as conn:
        housekeeping.seal(fleet.using, conn)
        housekeeping.seal(fleet.using, conn)
        fleet.ingest(event(FACT, session="e"))
        wait_for(lambda: housekeeping.seal(fleet.using, conn) or ledger.unsealed(conn) == 0)
    lines = [json.loads(line) for line in (tmp_path / "witness/seals.jsonl").read_text().splitlines()]
    seals = fleet.rows("SELECT below::text::bigint AS below, total, encode(hash, 'hex') AS hash FROM seals ORDER BY id")
    assert [{key: line[key] for key in ("below", "total", "hash")} for line in lines] == seals
    assert len(seals) == 2
    with fleet.database.as_role("operator") as conn:
        verdict = ledger.verify(conn)
    assert verdict.entries == verdict.sealed == seals[-1]["total"]


def test_a_duty_that_fails_keeps_no_other_from_its_turn(fleet: Fleet, tmp_path: Path) -> None:
    populated(fleet)
    (tmp_path / "witness").write_text("a file where a folder should be")
    fleet.install(witness=str(tmp_path / "witness"))
    fleet.rows("UPDATE transcripts SET purge_after = now() - interval '1 s' RETURNING run_id")
    with fleet.using.pool.connection() as conn:
        assert not housekeeping.slow_round(fleet.using, conn)
    assert fleet.rows("SELECT run_id FROM transcripts") == []


def test_a_witness_catches_up_with_the_seals_it_missed(fleet: Fleet, tmp_path: Path) -> None:
    folder = tmp_path / "witness"
    for number in range(3):
        populated(fleet)
        fleet.install(witness=str(folder) if number == 2 else None)
        with fleet.using.pool.connection() as conn:
            housekeeping.seal(fleet.using, conn)
    with fleet.using.pool.connection() as conn:
        housekeeping.seal(fleet.using, conn)
        written = [json.loads(line)["below"] for line in (folder / "seals.jsonl").read_text().splitlines()]
        assert written == [seal.below for seal in ledger.seals(conn)]
    assert len(written) >= 2


def test_what_is_past_its_date_is_purged_and_what_is_not_stays(fleet: Fleet) -> None:
    populated(fleet)
    fleet.ingest(b"{", b"[")
    kept = fleet.rows("SELECT count(*) AS n FROM transcripts")[0]["n"]
    fleet.rows("UPDATE transcripts SET purge_after = now() - interval '1 s' "
               "WHERE run_id IN (SELECT id FROM runs WHERE session IN ('a', 'd')) RETURNING run_id")  # fmt: skip
    fleet.rows("UPDATE rejected_events SET purge_after = now() - interval '1 s' "
               "WHERE id = (SELECT id FROM rejected_events LIMIT 1) RETURNING id")  # fmt: skip
    with fleet.using.pool.connection() as conn:
        housekeeping.purge(conn)
    assert fleet.rows("SELECT count(*) AS n FROM transcripts")[0]["n"] == kept - 2
    assert len(fleet.rows("SELECT id FROM rejected_events")) == 1
    fleet.run("extraction")
    assert fleet.rows("SELECT error_code FROM runs WHERE session = 'd'") == [{"error_code": "transcript_unreadable"}]


def test_gauges_equal_the_database_also_when_a_label_has_no_row_any_more(fleet: Fleet) -> None:
    populated(fleet)
    for _ in range(2):
        with fleet.using.pool.connection() as conn:
            housekeeping.count(fleet.using, conn)
        for gauge, sql in (
            (metrics.RUNS, "SELECT state AS l, count(*) AS n FROM runs GROUP BY 1"),
            (metrics.MEMORIES, "SELECT status AS l, count(*) AS n FROM memories GROUP BY 1"),
            (
                metrics.DEAD_LETTERS,
                "SELECT error_code AS l, count(*) AS n FROM runs WHERE state = 'dead_letter' GROUP BY 1",
            ),
        ):
            assert shown(gauge) == {(row["l"],): row["n"] for row in fleet.rows(sql)}
        open_reviews = fleet.rows("SELECT kind, count(*) AS n FROM reviews WHERE closed_at IS NULL GROUP BY 1")
        assert shown(metrics.OPEN_REVIEWS) == {(row["kind"], "day"): row["n"] for row in open_reviews}
        assert shown(metrics.OPEN_REVIEWS)["hold", "day"] == 1
        assert value(metrics.UNSEALED) == fleet.rows("SELECT count(*) AS n FROM ledger")[0]["n"]
        fleet.run()
    assert value(metrics.RUNS, "received") == 0
    assert value(metrics.OLDEST_DUE, "extraction") == 0
    fleet.ingest(event(FACT, session="late"))
    fleet.rows("UPDATE runs SET due_at = now() - interval '90 s' WHERE session = 'late' RETURNING id")
    with fleet.using.pool.connection() as conn:
        housekeeping.count(fleet.using, conn)
    assert 90 <= value(metrics.OLDEST_DUE, "extraction") < 120


def test_a_second_housekeeper_waits_until_the_first_is_gone(fleet: Fleet) -> None:
    metrics.HOUSEKEEPING_SUCCESS.set(0)
    with fleet.database.as_role("worker") as first:
        assert store.is_only_one(first)
        thread = threading.Thread(target=housekeeping.run)
        thread.start()
        try:
            stopping.wait(1.5)
            assert value(metrics.HOUSEKEEPING_SUCCESS) == 0
            first.close()
            wait_for(lambda: value(metrics.HOUSEKEEPING_SUCCESS) > 0)
        finally:
            stopping.set()
            thread.join()
