"""Repair: each thing that can stand crooked is found, put right once, and found well the next time."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from redis import Redis

from tests.fleet import Fleet, event
from tests.integration.cli.conftest import Cli
from tests.integration.cli.test_review import FACT, RULE, bells

WELL = {
    "stuck leases": "well",
    "silent bells": "well",
    "missing embeddings": "well",
    "approvals without a run": "well",
    "rejected for unknown_org, which exists now": "well",
    "rejected for unknown_space, which exists now": "well",
    "pending without an open review": "well",
}


def fates(document: list[dict[str, Any]]) -> dict[str, str]:
    return {finding["what"]: finding["fate"] for finding in document}


def crooked(cli: Cli, *options: str) -> dict[str, tuple[int, str]]:
    """What is not well: (how many, fate)."""
    found = cli.json("repair", *options)
    return {finding["what"]: (finding["found"], finding["fate"]) for finding in found if finding["fate"] != "well"}


def force(fleet: Fleet, sql: str) -> None:
    """As a superuser with triggers and keys off: what only a circumvented database can come to."""
    with psycopg.connect(fleet.database.admin, options="-c search_path=afterword,public") as conn:
        conn.execute("SET session_replication_role = replica")
        conn.execute(sql.encode())


def test_where_all_is_well_nothing_is_done(cli: Cli, fleet: Fleet) -> None:
    fleet.ingest(event(FACT, RULE))
    fleet.run()
    assert fates(cli.json("repair")) == WELL
    assert "what\tfound\tfate\tdetail" in cli.ok("repair", "--dry-run").out
    assert "holds nothing about" in cli.refused("ledger", "show", "repair")


def test_a_lost_worker_and_a_silent_bell(cli: Cli, fleet: Fleet) -> None:
    fleet.ingest(event(FACT))
    with Redis.from_url(fleet.valkey.url("admin")) as redis:
        redis.flushall()
    fleet.rows("UPDATE runs SET lease = gen_random_uuid(), due_at = now() - interval '1 minute' RETURNING id")
    expected = {"stuck leases": (1, "heals"), "silent bells": (1, "would mend")}
    assert crooked(cli, "--dry-run") == expected
    assert bells(fleet, "extraction") == 0
    assert crooked(cli) == expected | {"silent bells": (1, "mended")}
    assert bells(fleet, "extraction") == 1
    fleet.run()
    assert fates(cli.json("repair")) == WELL
    (entry,) = cli.json("ledger", "show", "repair")
    assert (entry["actor"], entry["detail"]) == ("operator-of-the-day", {"silent bells": 1})


def test_a_redis_that_does_not_answer_is_broken(cli: Cli, fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet.ingest(event(FACT))
    fleet.rows("UPDATE runs SET due_at = now() - interval '1 minute' RETURNING id")
    monkeypatch.setattr("ops.access.connect_redis", lambda url: Redis.from_url("unix:///nowhere.sock"))
    said = cli("repair")
    assert said.code == 1
    assert "Redis does not answer; not rung: extraction" in said.out


def test_a_missing_vector_gets_its_run(cli: Cli, fleet: Fleet) -> None:
    fleet.ingest(event(FACT))
    fleet.run()
    fleet.rows("DELETE FROM embeddings_1 RETURNING memory_id")
    for _ in range(2):
        assert crooked(cli, "--dry-run") == {"missing embeddings": (1, "would mend")}
    assert crooked(cli) == {"missing embeddings": (1, "mended")}
    assert crooked(cli) == {}, "its run is on its way"
    fleet.run()
    assert fleet.rows("SELECT count(*) AS n FROM embeddings_1") == [{"n": 1}]


def test_where_nothing_embeds_no_run_is_opened_again_and_again(
    cli: Cli, fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet.ingest(event(FACT))
    fleet.run()
    fleet.rows("DELETE FROM embeddings_1 RETURNING memory_id")
    monkeypatch.setenv("AFTERWORD_EMBEDDER", "none")
    assert crooked(cli) == {}
    assert "AFTERWORD_EMBEDDER is none" in cli.ok("repair").out
    assert fleet.rows("SELECT kind FROM runs") == [{"kind": "session"}]


def test_an_approval_without_a_run_gets_one(cli: Cli, fleet: Fleet) -> None:
    fleet.ingest(event(RULE))
    fleet.run()
    (review,) = cli.json("review", "list", "--org", "acme")
    cli.ok("review", "approve", review["memory_id"], "--org", "acme")
    force(fleet, "DELETE FROM runs WHERE kind = 'verdict'")
    assert crooked(cli, "--dry-run")["approvals without a run"] == (1, "would mend")
    assert crooked(cli)["approvals without a run"] == (1, "mended")
    fleet.run()
    assert fates(cli.json("repair")) == WELL
    assert fleet.rows("SELECT count(*) AS n FROM embeddings_1") == [{"n": 1}]


def test_rejects_whose_name_exists_by_now_are_tried_again_once(cli: Cli, fleet: Fleet) -> None:
    fleet.ingest(
        event(FACT, org="later"), event(FACT, org="never"), event(FACT, session="s2", spaces=["attic"]), b"{no json"
    )
    assert crooked(cli) == {}
    fleet.database.org("later")
    cli.ok("org", "set", "acme", "--space", "attic:semantic", "--reason", "there is one now")
    org, space = (f"rejected for unknown_{kind}, which exists now" for kind in ("org", "space"))
    assert crooked(cli, "--dry-run") == {org: (1, "would mend"), space: (1, "would mend")}
    assert cli.json("replay", "list") == []
    assert crooked(cli) == {org: (1, "mended"), space: (1, "mended")}
    assert crooked(cli) == {org: (1, "heals"), space: (1, "heals")}
    assert len(cli.json("replay", "list")) == 2


def test_a_pending_memory_without_its_review_is_broken(cli: Cli, fleet: Fleet) -> None:
    fleet.ingest(event(RULE))
    fleet.run()
    force(fleet, "UPDATE reviews SET closed_at = now(), decision = 'voided', decided_by = 'nobody'")
    said = cli("repair", "--json")
    assert said.code == 1
    assert fates(said.json) == WELL | {"pending without an open review": "broken"}
