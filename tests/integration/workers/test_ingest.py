"""What comes in: a run, once however often it is sent, or refused with a reason."""

from __future__ import annotations

import base64
import itertools
import json
from typing import Any

import pytest
import zstandard

from pipeline.transcripts import deflate, inflate, unpack
from tests.fleet import Fleet, event
from workers.intake import Entry, ingest

SAID = "We decided to use Postgres for the search service because it has row locks."
_numbers = itertools.count()


def fresh(*said: str, **more: Any) -> dict[str, Any]:
    return event(*(said or (SAID,)), **{"session": f"s-{next(_numbers)}", **more})


def packed(transcript: Any) -> dict[str, Any]:
    body = transcript if isinstance(transcript, bytes) else json.dumps(transcript).encode()
    return fresh() | {"transcript": None, "transcript_zstd": base64.b64encode(deflate(body)).decode()}


def bomb() -> str:
    return base64.b64encode(zstandard.ZstdCompressor().compress(b"\0" * (64 << 20))).decode()


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (fresh(org="nobody"), "unknown_org"),
        (fresh(spaces=["attic"]), "unknown_space"),
        (b"{", "not_json"),
        (b"\xff\xfe", "not_json"),
        (b"", "not_json"),
        (b"[" * 100_000, "not_json"),
        (fresh(sessions="s"), "bad_event"),
        (fresh(ended_at="yesterday"), "bad_event"),
        (fresh(ended_at="2026-05-04T10:00:00"), "bad_event"),
        (fresh(ended_at="9999-12-31T23:59:59-23:00"), "bad_event"),
        (fresh(ended_at="0001-01-01T00:00:00+14:00"), "bad_event"),
        (
            fresh(transcript={"turns": [{"role": "user", "text": "x", "trust": "user", "at": "0001-01-01T00:00:00Z"}]}),
            "bad_transcript",
        ),
        (fresh(transcript=None), "bad_event"),
        (fresh(transcript_zstd="AA=="), "bad_event"),
        (fresh(transcript={"turns": [{"role": "poet", "text": "x", "trust": "user"}]}), "bad_transcript"),
        (packed(b"no json"), "bad_transcript"),
        (packed({"turns": 1}), "bad_transcript"),
        (fresh(transcript=None, transcript_zstd="!"), "bad_transcript"),
        (fresh(transcript=None, transcript_zstd=base64.b64encode(b"no zstd").decode()), "bad_transcript"),
        (fresh(transcript=None, transcript_zstd=bomb()), "too_large"),
        (fresh(transcript=None, transcript_url="https://example.com/t.json"), "url_not_allowed"),
    ],
    ids=itertools.count(),
)
def test_what_cannot_be_a_run_is_kept_with_its_reason(shared: Fleet, given: Any, reason: str) -> None:
    before = shared.rows("SELECT count(*) AS n FROM runs")[0]["n"]
    assert [item.reason for item in shared.ingest(given)] == [reason]
    assert shared.rows("SELECT count(*) AS n FROM runs")[0]["n"] == before
    kept = shared.rows("SELECT reason, detail, body FROM rejected_events ORDER BY id DESC LIMIT 1")[0]
    assert kept["reason"] == reason
    assert kept["detail"]
    assert inflate(kept["body"]) or given == b""


def test_an_event_over_the_limit_is_refused_unread(shared: Fleet) -> None:
    refused = shared.ingest(b'{"org":"' + b"x" * (25 << 20))
    assert [item.reason for item in refused] == ["too_large"]


def test_one_that_is_refused_leaves_the_rest_of_its_batch_alone(shared: Fleet) -> None:
    good = [fresh(), fresh()]
    assert [item.reason for item in shared.ingest(good[0], b"{", fresh(org="nobody"), good[1])] == [
        "not_json",
        "unknown_org",
    ]
    sessions = [item["session"] for item in good]
    assert len(shared.rows("SELECT id FROM runs WHERE session = ANY (%s)", sessions)) == 2


def test_the_same_event_is_one_run_and_the_same_key_with_other_content_a_conflict(shared: Fleet) -> None:
    first = fresh(event_id="e-1")
    assert shared.ingest(first, first) == []
    assert shared.ingest(first) == []
    conflicts = shared.ingest(first | {"transcript": event("Something else entirely was said.")["transcript"]})
    assert [item.reason for item in conflicts] == ["key_conflict"]
    assert len(shared.rows("SELECT id FROM runs WHERE event_key = 'e-1'")) == 1
    without_id = fresh()
    shared.ingest(without_id)
    shared.ingest(without_id)
    assert len(shared.rows("SELECT id FROM runs WHERE session = %s", without_id["session"])) == 1


@pytest.mark.parametrize("given", [json.dumps(fresh()).encode(), b"{crash"], ids=["taken", "refused"])
def test_an_entry_that_comes_again_after_a_crash_before_its_acknowledgement_counts_once(
    shared: Fleet, given: bytes
) -> None:
    count = "SELECT (SELECT count(*) FROM runs) + (SELECT count(*) FROM rejected_events) AS n"
    before = shared.rows(count)[0]["n"]
    entry = f"9999-{next(_numbers)}"
    ingest(shared.using, [Entry(entry, given)])
    ingest(shared.using, [Entry(entry, given, deliveries=2)])
    assert shared.rows(count)[0]["n"] == before + 1


def test_what_postgres_cannot_hold_is_made_visible(shared: Fleet) -> None:
    said = fresh(SAID + " \x00 \ud800 end", project="p\x00\udfff", object={"type": "order", "id": "\x00"})
    assert shared.ingest(json.dumps(said).encode()) == []
    row = shared.rows(
        "SELECT r.project, r.event, t.body FROM runs r JOIN transcripts t ON t.run_id = r.id WHERE session = %s",
        said["session"],
    )[0]
    assert row["project"] == "p␀�"
    assert row["event"]["object"]["id"] == "␀"
    assert unpack(row["body"]).turns[0].text == SAID + " ␀ � end"


def test_memory_that_was_injected_is_not_taken_in_again(shared: Fleet) -> None:
    said = fresh(f"<afterword-memory v=1>The API runs on port 8080.</afterword-memory>\n{SAID}")
    shared.ingest(said)
    body = shared.rows(
        "SELECT body FROM transcripts t JOIN runs r ON r.id = t.run_id WHERE session = %s", said["session"]
    )
    assert unpack(body[0]["body"]).turns[0].text == SAID


def test_an_org_with_extraction_off_keeps_no_transcript(shared: Fleet) -> None:
    shared.database.org("quiet", extraction=False)
    shared.ingest(fresh(org="quiet", session="quiet-1"))
    shared.run("extraction")
    row = shared.rows("SELECT id, state, skip_reason FROM runs WHERE session = 'quiet-1'")[0]
    assert (row["state"], row["skip_reason"]) == ("skipped", "extraction_off")
    assert shared.rows("SELECT run_id FROM transcripts WHERE run_id = %s", row["id"]) == []


def test_what_was_sent_while_extraction_was_off_can_be_sent_again(shared: Fleet) -> None:
    shared.database.org("late", extraction=False)
    said = fresh(org="late", session="late-1", event_id="late")
    grown = event(
        *(turn["text"] for turn in said["transcript"]["turns"]),
        "We decided to keep the cache for an hour.",
        org="late",
        session="late-1",
    )
    assert shared.ingest(said, said, grown) == []
    shared.database.org("late", extraction=True)
    assert shared.ingest(said, said, grown) == []
    shared.run("extraction")
    rows = shared.rows("SELECT state, turns, first_own FROM runs WHERE session = 'late-1' ORDER BY id")
    assert [row["state"] for row in rows] == ["skipped", "skipped", "extracted", "extracted"]
    assert [row["first_own"] for row in rows] == [0, 0, 0, rows[2]["turns"]]


def test_turns_an_earlier_run_covered_are_context(shared: Fleet) -> None:
    said = [f"This is sentence number {n} of the session." for n in range(5)]
    grown = [event(*said[:n], session="grows") for n in (2, 4, 5)]
    shared.ingest(grown[0])
    shared.ingest(grown[1], grown[2])
    shared.ingest(event("Nothing of before.", *said[1:], "And more.", session="grows"))
    rows = shared.rows("SELECT turns, first_own FROM runs WHERE session = 'grows' ORDER BY id")
    assert [(row["turns"], row["first_own"]) for row in rows] == [(2, 0), (4, 2), (5, 4), (6, 0)]
