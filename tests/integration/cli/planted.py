"""Somebody in every store there is, with everything switched on: what an erasure must reach."""

from __future__ import annotations

import json
import pickle
import zlib
from typing import Any

from redis import Redis

from db import orgs
from db.events import Org
from tests.fleet import Fleet, event
from tests.integration.cli.conftest import Cli
from tests.integration.db import rows
from tests.integration.workers.scripted import Echo

NAME = "Zebediah Quillfeather"
USER = "zq-4242-user"
MAIL = "zebediah.quillfeather@example.org"
PHONE = "+44 20 7946 0958"
VALUES = [NAME, USER, MAIL, PHONE, "quillfeather"]
OTHER = "The search service keeps its documents in Postgres."
ASKED = ("--subject", f"person:{NAME}", "--text", USER, "--text", MAIL, "--text", PHONE, "--text", "quillfeather")


def org_of(fleet: Fleet, name: str) -> Org:
    with fleet.database.as_role("operator") as conn:
        return orgs.get(conn, name)


def said(*texts: str, org: str, session: str, **more: Any) -> dict[str, Any]:
    return event(*texts, org=org, session=f"{org}-{session}", **{"user": USER, "participants": [NAME], **more})


def plant(cli: Cli, fleet: Fleet, org: str) -> None:
    """Memories in every status, a review's comment, payloads, a dropped candidate, an outcome, runs in every state, a
    rejected event, events on the stream, a foreign key of RQ's, a token.
    """
    fleet.install(extractor=Echo())
    fleet.ingest(
        said(f"{NAME} wants the invoices by the end of each month.", f"Ring {NAME} at {PHONE} on weekdays only.",
             f"Questions about the canteen go to {MAIL} on weekdays.", org=org, session="spoken"),
        said(f"{NAME} moved the office to the second floor in May.", f"{NAME} wrote the manual for the press.",
             f"{NAME} is the one who pays for the press.", org=org, session="decided"),
        event(OTHER, org=org, session=f"{org}-other"),
    )  # fmt: skip
    fleet.run()
    _decide(cli, fleet, org)
    _drop(fleet, org)
    cli.ok("outcome", "add", "--org", org, "--score", "0.1", "--comment", f"{NAME} was asked twice")
    _unfinished(cli, fleet, org)
    _in_redis(fleet, org)
    rows.token(fleet.database, org_of(fleet, org), "agent", user=USER)


def _decide(cli: Cli, fleet: Fleet, org: str) -> None:
    held = fleet.rows("SELECT m.id FROM memories m JOIN orgs o ON o.id = m.org_id WHERE o.name = %s"
                      " AND m.status = 'pending' ORDER BY m.content", org)  # fmt: skip
    cli.ok("review", "reject", held[0]["id"], "--org", org, "--reason", f"{NAME} asked us not to keep it")
    active = fleet.rows("SELECT m.id FROM memories m JOIN orgs o ON o.id = m.org_id WHERE o.name = %s"
                        " AND m.status = 'active' AND m.content ~ 'Quill' ORDER BY m.content", org)  # fmt: skip
    assert len(active) >= 3
    cli.ok("review", "forget", active[0]["id"], "--org", org)
    cli.ok("review", "correct", active[1]["id"], "--org", org, "--text", f"{NAME} moved to the third floor in June.",
           "--no-wait")  # fmt: skip
    fleet.run()


def _drop(fleet: Fleet, org: str) -> None:
    with rows.as_admin(fleet.database) as conn:
        conn.execute(
            "INSERT INTO drops (id, org_id, run_id, rule, confidence, threshold, kind, content, rationale, evidence,"
            " scope_kind, author_kind, author, importance, observed_at, lifetime_days, provenance, review_share,"
            " expires_at) SELECT uuidv7(), r.org_id, r.id, 'confidence_below', 0.1, 0.5, 'fact', %s, 'said', '[]',"
            " 'org', 'agent', 'coder', 2, now(), 9,"
            """ '{"provider": "x", "model": "x", "prompt_revision": "x", "rules_revision": "x"}', 10000,"""
            " now() + interval '9 d' FROM runs r JOIN orgs o ON o.id = r.org_id WHERE o.name = %s AND r.session = %s",
            (f"{NAME} had a coffee.", org, f"{org}-spoken"),
        )


def _unfinished(cli: Cli, fleet: Fleet, org: str) -> None:
    """Runs that wait, at each stage, and what could not become one."""
    fleet.ingest(said(f"{NAME} likes tea more than coffee.", org=org, session="extracted"))
    fleet.run("extraction")
    pending = next(row for row in cli.json("review", "list", "--org", org) if row["status"] == "pending")
    cli.ok("review", "edit", pending["memory_id"], "--org", org, "--text", f"Ring {NAME} in the morning.", "--no-wait")
    fleet.ingest(said(f"{NAME} will be back in July.", org=org, session="received", project=f"home of {NAME}"),
                 said(f"{NAME} is nobody's business.", org=org, session="dead"))  # fmt: skip
    with fleet.database.as_role("worker") as conn:
        conn.execute(
            "UPDATE runs SET state = 'dead_letter', died_in = state, due_at = NULL, error_code = 'internal',"
            " error_detail = %s WHERE session = %s",
            (f"cannot read what {NAME} said", f"{org}-dead"),
        )
    refused = fleet.ingest(said(f"{NAME} was refused.", org=org, session="refused", spaces=["nowhere"]))
    assert [item.reason for item in refused] == ["unknown_space"]


def _in_redis(fleet: Fleet, org: str) -> None:
    with Redis.from_url(fleet.valkey.url("admin")) as redis:
        waiting = said(f"{NAME} waits on the stream.", org=org, session="waiting")
        redis.xadd("afterword:sessions", {"event": json.dumps(waiting)})
        redis.hset(f"rq:job:{org}", mapping={"data": zlib.compress(pickle.dumps({"args": [NAME]}))})
