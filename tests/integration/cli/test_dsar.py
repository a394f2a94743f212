"""A person's rights: the scanner sees them in every store before, and nowhere after, whatever happened on the way."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from uuid_utils.compat import uuid7

from db import runs
from ops.embedded.postgres import EmbeddedPostgres
from tests.fleet import Fleet, event
from tests.integration.cli.conftest import Cli
from tests.integration.cli.planted import ASKED, NAME, OTHER, PHONE, USER, VALUES, org_of, plant, said
from tests.integration.db import rows
from tests.integration.workers.scripted import Echo, Silent
from tests.scanning import find, in_logs, in_postgres, in_redis
from workers import housekeeping
from workers.fleet import STAGES
from workers.stage import Batch

FORGET = ("dsar", "forget", "--org", "acme", *ASKED, "--reason", "request 2026-114")
STORES = {"memories", "embeddings", "reviews", "drops", "outcomes", "payloads", "transcripts", "envelopes", "runs",
          "rejected_events", "tokens", "stream", "redis_keys"}  # fmt: skip


@pytest.fixture
def register(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "witness"
    monkeypatch.setenv("AFTERWORD_WITNESS_DIR", str(folder))
    return folder


def seen(fleet: Fleet, *logs: str) -> dict[str, set[str]]:
    with Redis.from_url(fleet.valkey.url("admin")) as redis:
        places = [*in_postgres(fleet.database), *in_redis(redis), *(p for text in logs for p in in_logs(text))]
    return find(VALUES, places)


def stores_of(places: dict[str, set[str]]) -> set[str]:
    named = {"redis afterword:sessions": "stream", "redis rq:*": "redis_keys"}
    return {named.get(place, place.partition(".")[0]) for place in places}


def test_the_scan_hits_every_store_before_and_none_after(
    cli: Cli, fleet: Fleet, register: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(cli, fleet, "acme")
    with rows.as_admin(fleet.database) as conn:
        conn.execute("ANALYZE")
    assert stores_of(seen(fleet)) == STORES - {"embeddings"}
    held = cli.json("dsar", "held", "--org", "acme", *ASKED)
    assert held["stores"].keys() == STORES
    dry = cli.json(*FORGET, "--dry-run")
    assert dry["stores"] == held["stores"]
    assert stores_of(seen(fleet)) == STORES - {"embeddings"}
    receipt = cli.json(*FORGET, "--yes")
    assert receipt["stores"].keys() == STORES | {"run_subjects"}
    assert receipt["kept"] == []
    assert receipt["append_only_file_rewritten"] is True
    with rows.as_admin(fleet.database) as conn:
        conn.execute("ANALYZE")
    fleet.run()
    assert seen(fleet, caplog.text, *(file.read_text() for file in register.iterdir())) == {}
    assert cli.json("dsar", "held", "--org", "acme", *ASKED)["stores"] == {}
    monkeypatch.delenv("AFTERWORD_WITNESS_DIR")
    cli.ok("ledger", "verify")
    assert fleet.rows("SELECT status FROM memories WHERE content = %s", OTHER) == [{"status": "active"}]
    assert fleet.rows("SELECT state, count(*) AS n FROM runs WHERE due_at IS NOT NULL GROUP BY 1") == []


def test_what_somebody_said_and_what_was_said_of_them_is_erased(cli: Cli, fleet: Fleet, register: Path) -> None:
    cli.ok("org", "set", "acme", "--turns", "--reason", "they ask about last week")
    fleet.install(extractor=Silent())
    fleet.ingest(said("I will be back from the fair in July.", f"{NAME} is my name.", org="acme", session="own"),
                 event(f"Did {NAME} call about the press?", OTHER, org="acme", session="other", user="u2"))  # fmt: skip
    fleet.run()
    assert len(fleet.rows("SELECT id FROM memories WHERE kind = 'turn'")) == 4
    cli.ok(*FORGET, "--yes")
    assert seen(fleet) == {}
    left = fleet.rows("SELECT content FROM memories WHERE erased_at IS NULL")
    assert left == [{"content": OTHER}]


def test_another_org_is_left_as_it_was(cli: Cli, fleet: Fleet, register: Path) -> None:
    fleet.database.org("globex")
    plant(cli, fleet, "acme")
    plant(cli, fleet, "globex")
    theirs = of_org(fleet, "globex")
    assert theirs["memories"]
    assert theirs["transcripts"]
    cli.ok(*FORGET, "--yes")
    assert of_org(fleet, "globex") == theirs
    globex = cli.json("dsar", "held", "--org", "globex", *ASKED)["stores"]
    assert globex.keys() == STORES - {"redis_keys"}  # a key of RQ's is no org's
    (refused,) = fleet.rows("SELECT detail FROM rejected_events")
    assert "globex" in refused["detail"]


def of_org(fleet: Fleet, name: str) -> dict[str, list[str]]:
    """Every row of an org, by table; what the ledger gained by being asked is left out."""
    org = org_of(fleet, name)
    with rows.as_admin(fleet.database) as conn:
        tables = conn.execute(
            "SELECT table_name AS t FROM information_schema.columns WHERE table_schema = 'afterword'"
            " AND column_name = 'org_id' AND table_name NOT IN ('ledger', 'tokens', 'promptable', 'org_search')"
        ).fetchall()
        return {
            row["t"]: sorted(
                str(found) for found in conn.execute(f"SELECT * FROM afterword.{row['t']} WHERE org_id = %s", (org.id,))
            )
            for row in tables
        }


def test_what_ended_before_the_erasure_does_not_come_back_whenever_it_arrives(
    cli: Cli, fleet: Fleet, register: Path
) -> None:
    """Sent again, resumed, or late; by the user's id, by a name in the text alone, or by the event's own key."""
    plant(cli, fleet, "acme")
    again = said(f"{NAME} wants the invoices by the end of each month.", org="acme", session="again", event_id="e-1")
    fleet.ingest(again)
    fleet.run()
    cli.ok(*FORGET, "--yes")
    cli.ok("dsar", "forget", "--org", "acme", "--subject", f"user:{USER}", "--reason", "request 2026-115", "--yes")
    late = event(f"In May it was {NAME} who paid for the press.", org="acme", session="late", user="u1")
    refused = said("I prefer tea.", org="acme", session="refused again", spaces=["nowhere"])
    assert fleet.ingest(again, said("I prefer tea.", org="acme", session="of the user"), late, refused) == []
    fleet.run()
    assert seen(fleet) == {}
    sessions = fleet.rows("SELECT session, state, erased_at IS NOT NULL AS gone FROM runs WHERE created_at > %s",
                          fleet.rows("SELECT max(at) AS at FROM erasures")[0]["at"])  # fmt: skip
    assert [(row["state"], row["gone"]) for row in sessions] == [("consolidated", True)]
    noted = fleet.rows("SELECT action FROM ledger WHERE action = 'event_erased'")
    assert len(noted) >= 1


def test_what_is_said_after_the_erasure_is_new(cli: Cli, fleet: Fleet, register: Path) -> None:
    cli.ok(*FORGET, "--yes")
    soon = datetime.now(UTC) + timedelta(seconds=5)
    fleet.install(extractor=Echo())
    fleet.ingest(event(f"{NAME} is a new customer.", org="acme", session="new", ended_at=soon.isoformat()))
    with rows.as_admin(fleet.database) as conn:  # as if it came then
        conn.execute("ALTER TABLE runs DISABLE TRIGGER USER")
        conn.execute("UPDATE runs SET created_at = ended_at")
        conn.execute("ALTER TABLE runs ENABLE TRIGGER USER")
    fleet.run()
    assert fleet.rows("SELECT content FROM memories") == [{"content": f"{NAME} is a new customer."}]


def test_runs_in_the_hands_of_workers_are_taken_from_them(cli: Cli, fleet: Fleet, register: Path) -> None:
    """Claimed at every stage when the erasure comes; each worker then commits what it has."""
    fleet.install(extractor=Echo())
    for stages in ((), ("extraction",), ("extraction", "redaction"), ("extraction", "redaction", "embedding")):
        fleet.ingest(said(f"{NAME} said so {len(stages)} times.", org="acme", session=f"at {len(stages)}"))
        if stages:
            fleet.run(*stages)
        fleet.rows("UPDATE runs SET due_at = now() + interval '1 hour' WHERE session = %s RETURNING id",
                   f"acme-at {len(stages)}")  # fmt: skip
    fleet.rows("UPDATE runs SET due_at = now() WHERE due_at IS NOT NULL RETURNING id")
    held = [_claimed(fleet, stage) for stage in STAGES.values()]
    assert [len(batch) for _, batch in held] == [1, 1, 1, 1]
    worked = [(batch, list(batch._work())) for batch, _ in held]
    cli.ok(*FORGET, "--yes")
    for batch, groups in worked:
        for group in groups:
            batch.commit(group)
    fleet.run()
    assert seen(fleet) == {}
    assert fleet.rows("SELECT DISTINCT erased_at IS NOT NULL AS gone FROM runs") == [{"gone": True}]
    assert fleet.rows("SELECT memory_id FROM embeddings_1") == []
    assert fleet.rows("SELECT id FROM runs WHERE due_at IS NOT NULL") == []


def _claimed(fleet: Fleet, stage: Any) -> tuple[Batch[Any], list[Any]]:
    lease = uuid7()
    with fleet.using.pool.connection() as conn:
        claimed = runs.claim(conn, stage.takes, lease, batch=10, lease_seconds=60)
    return Batch(fleet.using, stage, lease, claimed), claimed


def test_an_erasure_that_was_killed_is_taken_up_by_the_next(cli: Cli, fleet: Fleet, register: Path) -> None:
    """Killed at each step of it, by the kernel; then once in full: one receipt for all."""
    plant(cli, fleet, "acme")
    for step, call in (("db.erasure.mark", 1), ("workers.forgetting.forget", 1), ("db.erasure.find", 2),
                       ("db.erasure.erase", 1), ("workers.forgetting.rewrite", 1), ("db.erasure.vacuum", 1),
                       ("db.erasure.finish", 1)):  # fmt: skip
        assert _killed_at(step, call) == -signal.SIGKILL, step
    receipt = cli.json(*FORGET, "--yes")
    assert receipt["stores"].keys() == (STORES | {"run_subjects"}) - {"stream", "redis_keys"}
    assert seen(fleet, *(file.read_text() for file in register.iterdir())) == {}
    assert fleet.rows("SELECT count(*) AS n FROM erasures") == [{"n": 1}]


def _killed_at(step: str, call: int) -> int:
    """The command in a process of its own, killed the moment it has made that call."""
    module, _, name = step.rpartition(".")
    program = f"""
import importlib, os, signal, sys
module = importlib.import_module({module!r})
real, left = getattr(module, {name!r}), [{call}]
def then_killed(*args, **more):
    answer = real(*args, **more)
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return answer
setattr(module, {name!r}, then_killed)
sys.argv = ["afterword", *{[*FORGET, "--yes"]!r}]
from ops.cli import main
main()
"""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, check=False).returncode


def test_two_erasures_at_once_are_one(cli: Cli, fleet: Fleet, register: Path) -> None:
    plant(cli, fleet, "acme")
    command = [sys.executable, "-m", "ops.cli", *FORGET, "--yes", "--json"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    said_ = [process.communicate() for process in both]
    assert [process.returncode for process in both] == [0, 0], said_
    receipts = [json.loads(out) for out, _ in said_]
    assert len(fleet.rows("SELECT id FROM erasures")) == len({item["erasure"] for item in receipts})
    assert seen(fleet) == {}


def test_a_legal_hold_outranks_erasure_and_retention_visibly(cli: Cli, fleet: Fleet, register: Path) -> None:
    plant(cli, fleet, "acme")
    cli.ok("dsar", "hold", "--org", "acme", *ASKED, "--reason", "case 12 O 4/26")
    before = of_org(fleet, "acme")
    refused = cli("dsar", "forget", "--org", "acme", *ASKED, "--reason", "request 2026-114", "--yes")
    assert refused.code == 1
    assert "case 12 O 4/26" in refused.err
    fleet.rows("UPDATE transcripts SET purge_after = now() - interval '1 day' RETURNING run_id")
    with fleet.using.pool.connection() as conn:
        housekeeping.purge(conn)
    kept = [row["session"] for row in fleet.rows("SELECT session FROM transcripts t JOIN runs r ON r.id = t.run_id")]
    assert "acme-spoken" in kept
    assert "acme-other" not in kept
    assert of_org(fleet, "acme")["memories"] == before["memories"]
    (shown,) = cli.json("dsar", "holds")
    assert shown["rows"] > 5
    cli.ok("dsar", "unhold", "--org", "acme", "--subject", f"person:{NAME}", "--reason", "case closed")
    cli.ok(*FORGET, "--yes")
    assert seen(fleet) == {}


def test_what_another_s_hold_covers_is_kept_and_the_receipt_says_so(cli: Cli, fleet: Fleet, register: Path) -> None:
    fleet.install(extractor=Echo())
    fleet.ingest(event(f"{NAME} and Yolanda Brightwater share an office.", session="both", user="u1"),
                 event(f"{NAME} has a parking space.", session="alone", user="u1"))  # fmt: skip
    fleet.run()
    cli.ok("dsar", "hold", "--org", "acme", "--subject", "person:Yolanda Brightwater", "--reason", "case 9")
    done = cli("dsar", "forget", "--org", "acme", *ASKED, "--reason", "request", "--yes", "--json")
    assert done.code == 1
    (kept,) = done.json["kept"]
    assert (kept["why"], kept["runs"], kept["memories"]) == ("case 9", 1, 1)
    contents = {row["content"] for row in fleet.rows("SELECT content FROM memories")}
    assert contents == {"", f"{NAME} and Yolanda Brightwater share an office."}
    later = event("Yolanda Brightwater was here in March too.", session="later", user="u1")
    fleet.ingest(later)
    fleet.run()
    assert len(fleet.rows("SELECT row_id FROM held_rows")) == 2


@pytest.mark.parametrize("reason", [f"{NAME} asked", f"for {NAME.upper()}", "quillfeather"])
def test_a_reason_that_names_whom_it_is_about_is_refused(cli: Cli, fleet: Fleet, reason: str) -> None:
    named = ("--org", "acme", *ASKED, "--reason", reason)
    for command in (("forget", "--yes"), ("hold",), ("export", "--output", "answer.json")):
        assert "must not name" in cli.misused("dsar", command[0], *named, *command[1:])


def test_nothing_is_erased_unasked(cli: Cli, fleet: Fleet, register: Path) -> None:
    plant(cli, fleet, "acme")
    before = of_org(fleet, "acme")
    assert "--dry-run" in cli.misused(*FORGET)
    assert of_org(fleet, "acme") == before


def test_another_key_finds_nobody_and_says_so(cli: Cli, fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.ok("dsar", "held", "--org", "acme", *ASKED)
    monkeypatch.setenv("AFTERWORD_INSTALLATION_KEY", "another")
    assert "AFTERWORD_INSTALLATION_KEY is not the key" in cli.refused("dsar", "held", "--org", "acme", *ASKED)


def test_an_export_holds_their_own_and_masks_others(cli: Cli, fleet: Fleet, tmp_path: Path) -> None:
    fleet.install(extractor=Echo())
    fleet.ingest(
        said(f"{NAME} rings at {PHONE}, and the warehouse at +44 20 7946 0111.", org="acme", session="one"),
        event("The warehouse is closed.", f"{NAME} has the key.", session="two", user="u1"),
    )
    fleet.run()
    asked = ("dsar", "export", "--org", "acme", *ASKED, "--reason", "2026-113", "--output", tmp_path / "out.json")
    assert "no healthy detector covers the class person" in cli.refused(*asked)
    cli.ok(*asked, "--other-names-unmasked")
    text = (tmp_path / "out.json").read_text()
    assert (tmp_path / "out.json").stat().st_mode & 0o777 == 0o600
    document = json.loads(text)
    assert NAME in text
    assert PHONE in text
    assert "0111" not in text
    assert "The warehouse is closed." not in text
    assert {len(item["turns"]) for item in document["sessions"]} == {1}
    (entry,) = fleet.rows("SELECT actor, detail FROM ledger WHERE action = 'subject_exported'")
    assert entry["actor"] == "operator-of-the-day"
    assert entry["detail"]["stores"]["memories"] == len(document["memories"])
    assert "is there already" in cli.refused(*asked, "--other-names-unmasked")


def test_tables_that_are_written_anew_hold_no_old_bytes(
    cli: Cli, fleet: Fleet, register: Path, postgres: EmbeddedPostgres
) -> None:
    """WAL aside, which ages out; Redis' file is written anew in any case."""
    plant(cli, fleet, "acme")
    assert raw(postgres._data / "base", fleet)
    assert raw(fleet.valkey._data, fleet)
    assert cli.json(*FORGET, "--yes", "--rewrite")["rewritten"] is True
    assert raw(postgres._data / "base", fleet) == []
    assert raw(fleet.valkey._data, fleet) == []


def raw(folder: Path, fleet: Fleet) -> list[str]:
    """Files with the name in plain bytes."""
    with rows.as_admin(fleet.database) as conn:
        conn.execute("CHECKPOINT")
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [str(path) for path in files if b"quillfeather" in path.read_bytes().lower()]
