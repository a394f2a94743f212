"""No proven secret reaches Postgres, whichever way it came; what was refused becomes a run after a fix."""

from __future__ import annotations

import base64
import itertools
import json
from typing import Any

from db import replays
from pipeline.transcripts import deflate
from tests.fleet import Fleet, event
from tests.scanning import find, in_postgres
from tests.waiting import wait_for
from workers import replay

SAID = "We decided to use Postgres for the search service because it has row locks."
_numbers = itertools.count()
AWS = "AKIA" + "Q7VZX3MT4LKNP2WB"
PEM = (
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n"
    "-----END PRIVATE KEY-----"
)
CARD = "4111 1111 1111 1111"
IBAN = "DE89 3704 0044 0532 0130 00"
SSN = "536-90-4399"
PLANTED = {
    "secret": [AWS, "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp"],
    "cc": [CARD],
    "iban": [IBAN],
    "ssn": [SSN],
}
TOLD = f"My AWS key is {AWS}. The card {CARD} was charged; pay to {IBAN}. Her SSN is {SSN}.\n{PEM}\n"


def fresh(**more: Any) -> dict[str, Any]:
    return event(SAID, **{"session": f"s-{next(_numbers)}", **more})


def zipped(transcript: Any) -> dict[str, Any]:
    return {"transcript": None, "transcript_zstd": base64.b64encode(deflate(json.dumps(transcript).encode())).decode()}


def test_no_proven_secret_reaches_postgres(fleet: Fleet) -> None:
    fleet.database.org("acme")
    tool = {"role": "tool", "text": TOLD, "tool": f"curl {AWS}", "trust": "untrusted"}
    turns = [*event(TOLD, SAID)["transcript"]["turns"], tool]
    transcript = {"turns": turns}
    names = {"project": f"key {AWS}", "workflow": f"card {CARD}", "participants": [f"IBAN {IBAN}"],
             "object": {"type": "person", "id": f"SSN {SSN}"}, "event_id": AWS}  # fmt: skip
    refused = fleet.ingest(
        fresh(transcript=transcript, **names),
        fresh(transcript=transcript, **names, org="nobody"),
        fresh(**zipped(transcript), org=f"key {AWS}"),
        fresh(**zipped(transcript), spaces=[f"card {CARD}"]),
        fresh(**zipped(transcript)),
        fresh(**{f"card {CARD}": 1, "ssn": SSN}),
        json.dumps(fresh(transcript=transcript)).encode()[:-1],
        json.dumps({"card": 4111111111111111, "note": TOLD}).encode(),
        fresh(transcript={"turns": [{"role": "user", "text": "x", "trust": "user", "4111111111111111": 1}]}),
        json.dumps({"note": "KEY"}).replace("KEY", "".join(f"\\u{ord(sign):04x}" for sign in AWS)).encode()[:-1],
    )
    assert [item.reason for item in refused] == [
        "bad_event", "not_json", "bad_event", "bad_transcript", "not_json", "unknown_org", "unknown_org",
        "unknown_space",
    ]  # fmt: skip
    fleet.run()
    places = list(in_postgres(fleet.database))
    assert {"transcripts.body", "rejected_events.body"} <= find(["[REDACTED:secret]"], places).keys()
    values = [text for texts in PLANTED.values() for text in texts]
    assert find([*values, "4111111111111111", "\\u0041\\u004b"], places) == {}
    scrubbed = fleet.rows("SELECT detail FROM ledger WHERE action = 'scrubbed' ORDER BY id")
    assert len(scrubbed) == 2
    for entry in scrubbed:
        assert set(entry["detail"]["classes"]) == set(PLANTED)
    at = scrubbed[0]["detail"]["at"]
    assert f"secret@0:{TOLD.index(AWS)}" in at
    assert "secret@tool.2:5" in at
    assert "secret@project:4" in at


def _replay_rejected(fleet: Fleet, reason: str, *, rate: float = 100) -> None:
    with fleet.database.as_role("operator") as conn:
        replays.request(
            conn, replays.Selector(rejected=reason), actor="olga", reason="fixed", rate=rate, cap=100, force=False
        )


def _step_until_finished(fleet: Fleet) -> None:
    def finished() -> bool:
        replay.step(fleet.using)
        return not fleet.rows("SELECT FROM replays WHERE finished_at IS NULL")

    wait_for(finished)


def test_refused_events_become_runs_once_their_org_is_there(fleet: Fleet) -> None:
    plain = fresh(org="later", event_id="e")
    packed = fresh(org="later", **zipped(event(TOLD)["transcript"]))
    assert len(fleet.ingest(plain, fresh(org="never"), packed)) == 3
    fleet.database.org("later")
    _replay_rejected(fleet, "unknown_org", rate=2)
    _step_until_finished(fleet)
    sessions = {row["session"] for row in fleet.rows("SELECT session FROM runs")}
    assert sessions == {plain["session"], packed["session"]}
    left = fleet.rows("SELECT reason, tried_at FROM rejected_events WHERE replayed_at IS NULL")
    assert [row["reason"] for row in left] == ["unknown_org"]
    assert left[0]["tried_at"] is not None
    assert fleet.rows("SELECT rearmed, refused, status FROM replays") == [
        {"rearmed": 2, "refused": 1, "status": "finished"}
    ]
    assert fleet.ingest(plain) == []
    assert len(fleet.rows("SELECT id FROM runs")) == 2
