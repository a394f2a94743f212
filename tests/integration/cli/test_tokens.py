"""Tokens from the command line: shown once, kept as a hash, confined as they say, replaced and taken back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from db import recall, tokens
from db.connect import Connection, granted
from db.doors import NoGrant
from db.recall import Question
from pipeline.memory import Tier
from pipeline.redaction.scrub import scrub
from tests.fleet import Fleet
from tests.integration.cli.conftest import Cli
from tests.integration.db import rows

AGENT = ("tokens", "create", "--org", "acme", "--role", "agent", "--agent", "coder")


def _opens(fleet: Fleet, text: str, role: str = "agent") -> tokens.Grant | None:
    with fleet.database.as_role(role) as conn, granted(conn, text):
        try:
            return tokens.use(conn)
        except NoGrant:
            return None


def _listed(cli: Cli, id_: str) -> dict[str, Any]:
    (found,) = [row for row in cli.json("tokens", "list", "--org", "acme") if row["id"] == id_]
    return dict(found)


def test_a_token_is_shown_once_and_kept_as_a_hash(cli: Cli, fleet: Fleet) -> None:
    said = cli.ok(*AGENT)
    text = said.out.strip()
    assert text.startswith("aw_agent_")
    assert len(text.removeprefix("aw_agent_")) == 43
    with rows.as_admin(fleet.database) as conn:
        assert text not in str(conn.execute("SELECT * FROM tokens, ledger").fetchall())
    assert text not in cli.ok("tokens", "list").out + cli.ok("tokens", "list", "--json").out
    assert text not in scrub(f"my token is {text} for now").text


@pytest.mark.parametrize(("access", "tiers"), [
    ([], []), (["--access", "semantic=read"], ["semantic"]),
    (["--access", "procedural=read,episodic=none"], ["procedural"]),
    (["--access", "semantic=read", "--agent-role", "validator"], []),
])  # fmt: skip
def test_a_tier_that_is_not_named_is_not_given(cli: Cli, fleet: Fleet, access: list[str], tiers: list[str]) -> None:
    org = fleet.database.org("other")
    with fleet.database.as_role("worker") as conn:
        for tier, kind in ((Tier.SEMANTIC, "fact"), (Tier.PROCEDURAL, "rule"), (Tier.EPISODIC, "turn")):
            rows.insert_memory(conn, org, f"shipping as a {tier}", tier=tier, kind=kind)
    made = cli.json("tokens", "create", "--org", "other", "--role", "agent", "--agent", "coder", *access)
    with fleet.database.as_role("agent") as conn, granted(conn, made["token"]):
        assert tokens.use(conn).tiers == tiers
        found = recall.recall(conn, Question("shipping", max_hits=50))
        assert {hit.tier for hit in found.hits} == set(tiers)


def test_a_validator_is_told_why_it_is_given_nothing(cli: Cli, fleet: Fleet) -> None:
    said = cli.ok(*AGENT, "--access", "semantic=read", "--agent-role", "validator")
    assert "a validator judges what other agents did" in said.err
    assert "no tier is named" in cli.ok(*AGENT).err


def test_the_table_itself_gives_a_validator_nothing(fleet: Fleet) -> None:
    with rows.as_admin(fleet.database) as conn, pytest.raises(psycopg.errors.CheckViolation, match="validator"):
        conn.execute(
            "INSERT INTO afterword.tokens (id, hash, org_id, role, actor, agent_role, tiers, expires_at)"
            " VALUES (uuidv7(), sha256('x'), 1, 'agent', 'x', 'validator', '{semantic}', now() + '1 day')"
        )


def test_a_token_ends_when_it_is_revoked(cli: Cli, fleet: Fleet) -> None:
    made = cli.json(*AGENT, "--project", "api", "--user", "u-1")
    grant = _opens(fleet, made["token"])
    assert grant is not None
    assert (grant.org, grant.agent, grant.project, grant.user_id) == ("acme", "coder", "api", "u-1")
    assert _listed(cli, made["id"])["is"] == "alive"
    assert cli.ok("tokens", "revoke", made["id"]).out == "revoked\n"
    assert _opens(fleet, made["token"]) is None
    assert cli.ok("tokens", "revoke", made["id"]).out == "already revoked\n"
    assert _listed(cli, made["id"])["is"] == "revoked"
    assert [e["action"] for e in cli.json("ledger", "show", made["id"])] == ["token_minted", "token_revoked"]
    assert {e["actor"] for e in cli.json("ledger", "show", made["id"])} == {"operator-of-the-day"}


def test_both_open_during_the_overlap_and_the_new_one_after_it(cli: Cli, fleet: Fleet) -> None:
    old = cli.json(*AGENT, "--access", "semantic=read", "--expires", "30d")
    new = cli.json("tokens", "rotate", old["id"], "--overlap", "1h")
    first, second = _opens(fleet, old["token"]), _opens(fleet, new["token"])
    assert first is not None
    assert second is not None
    assert (second.agent, second.tiers) == (first.agent, first.tiers) == ("coder", ["semantic"])
    assert first.expires_at < datetime.now(UTC) + timedelta(hours=1, minutes=1)
    assert second.expires_at > datetime.now(UTC) + timedelta(days=29)
    assert _listed(cli, old["id"])["is"] == "replaced"
    assert f"replaced by {new['id']}" in cli.refused("tokens", "rotate", old["id"])
    last = cli.json("tokens", "rotate", new["id"], "--overlap", "0s")
    assert _opens(fleet, new["token"]) is None
    assert _opens(fleet, last["token"]) is not None
    assert "opens nothing any more" in cli.refused("tokens", "rotate", new["id"])


def test_use_is_noted_once_a_minute(cli: Cli, fleet: Fleet) -> None:
    made = cli.json(*AGENT)
    assert _listed(cli, made["id"])["last_used_at"] is None
    _opens(fleet, made["token"])
    noted = _listed(cli, made["id"])["last_used_at"]
    assert noted is not None
    _opens(fleet, made["token"])
    assert _listed(cli, made["id"])["last_used_at"] == noted
    with rows.as_admin(fleet.database) as conn:
        conn.execute("UPDATE afterword.tokens SET last_used_at = now() - interval '2 minutes'")
    _opens(fleet, made["token"])
    assert _listed(cli, made["id"])["last_used_at"] > noted


@pytest.mark.parametrize("words", [
    ("--role", "boss", "--name", "x"), ("--role", "reviewer"),
    ("--role", "agent", "--agent", "a", "--access", "dreams=read"),
    ("--role", "agent", "--agent", "a", "--access", "semantic=write"),
    ("--role", "reviewer", "--name", "x", "--access", "semantic=read"),
    ("--role", "agent", "--agent", "a", "--expires", "2020-01-01"),
])  # fmt: skip
def test_what_no_token_may_be_is_misuse(cli: Cli, fleet: Fleet, words: tuple[str, ...]) -> None:
    cli.misused("tokens", "create", "--org", "acme", *words)


def test_an_unknown_id_is_refused(cli: Cli, fleet: Fleet) -> None:
    unknown = "0192f3a4-77aa-7000-8000-3f0d1c2b4a59"
    assert "no such token" in cli.refused("tokens", "revoke", unknown)
    assert "no token has the id" in cli.refused("tokens", "rotate", unknown)


@pytest.mark.parametrize("call", [
    "SELECT * FROM tokens_made(NULL)", "SELECT revoke_token(uuidv7(), 'x')",
    "SELECT rotate_token(uuidv7(), sha256('x'), '1 hour', 'x')",
])  # fmt: skip
@pytest.mark.parametrize("role", ["agent", "reviewer", "worker"])
def test_only_operators_manage_tokens(fleet: Fleet, role: str, call: str) -> None:
    def attempt(conn: Connection) -> None:
        conn.execute(call)  # type: ignore[call-overload]

    with fleet.database.as_role(role) as conn, pytest.raises(psycopg.errors.InsufficientPrivilege):
        attempt(conn)
