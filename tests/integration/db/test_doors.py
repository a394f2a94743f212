"""What a grant shows at each door, tried with tokens that are good, bad, or made for another one."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from db import recall
from db.connect import Connection, granted
from db.doors import NoGrant
from db.events import Org
from db.recall import Question
from pipeline.memory import AuthorKind, HoldReason, Scope, ScopeKind, Tier
from tests.integration.db import rows
from tests.services import Database

SCOPES = {
    "org": Scope(ScopeKind.ORG), "user": Scope(ScopeKind.USER, "u-1"), "agent": Scope(ScopeKind.AGENT, "a-1"),
    "project": Scope(ScopeKind.PROJECT, "p-1"), "workflow": Scope(ScopeKind.WORKFLOW, "w-1"),
    "object": Scope(ScopeKind.OBJECT, "o-1"),
}  # fmt: skip


def _filled(database: Database) -> Org:
    """An org with one memory a scope, the same in each; and what no agent is ever shown."""
    org = rows.fresh_org(database)
    with database.as_role("worker") as conn:
        for name, scope in SCOPES.items():
            rows.insert_memory(conn, org, f"shipping of {name}", scope=scope)
        rows.insert_memory(conn, org, "shipping as it was said", tier=Tier.EPISODIC, kind="turn")
        rows.pending(conn, org, "shipping that waits")
        rows.insert_memory(conn, org, "shipping that expired", expires_at=rows.OBSERVED)
        for change in ("status = 'tombstoned'", rows.EMPTIED):
            gone = rows.insert_memory(conn, org, f"shipping with {change}")
            conn.execute(f"UPDATE memories SET {change} WHERE id = %s", (gone,))
    return org


def _shown(conn: Connection) -> tuple[set[str], set[str]]:
    view = {row["content"] for row in conn.execute("SELECT content FROM promptable")}
    found = recall.recall(conn, Question("shipping", max_hits=50))
    return view, {hit.content for hit in found.hits}


BEARERS: list[tuple[dict[str, Any], set[str]]] = [
    ({}, {"org"}),
    ({"user": "u-1"}, {"org", "user"}),
    ({"user": "u-2"}, {"org"}),
    ({"agent": "a-1"}, {"org", "agent"}),
    ({"project": "p-1"}, {"org", "project"}),
    ({"project": "p-11"}, {"org"}),
    ({"workflow": "w-1"}, {"org", "workflow"}),
    ({"user": "a-1", "agent": "u-1", "project": "w-1", "workflow": "p-1"}, {"org"}),
    ({"user": "u-1", "agent": "a-1", "project": "p-1", "workflow": "w-1"}, set(SCOPES) - {"object"}),
]


@pytest.mark.parametrize(("bearer", "scopes"), BEARERS)
def test_a_grant_shows_its_scopes_and_no_others(shared: Database, bearer: dict[str, Any], scopes: set[str]) -> None:
    org, other = _filled(shared), _filled(shared)
    wanted = {f"shipping of {name}" for name in scopes}
    for each in (org, other):
        token = rows.token(shared, each, "agent", tiers=("semantic",), **bearer)
        with rows.door(shared, token, "agent") as conn:
            assert _shown(conn) == (wanted, wanted)


@pytest.mark.parametrize(("tiers", "count"), [((), 0), (("procedural",), 0), (("episodic",), 1), (("semantic",), 1)])
def test_a_tier_not_granted_shows_nothing(shared: Database, tiers: tuple[str, ...], count: int) -> None:
    org = _filled(shared)
    with rows.door(shared, rows.token(shared, org, "agent", tiers=tiers), "agent") as conn:
        view, found = _shown(conn)
    assert len(view) == count
    assert view == found


def test_two_orgs_with_the_same_texts_see_their_own_rows(shared: Database) -> None:
    orgs = [_filled(shared), _filled(shared)]
    seen: list[set[UUID]] = []
    for org in orgs:
        with rows.door(shared, rows.token(shared, org, "agent"), "agent") as conn:
            seen.append({hit.memory_id for hit in recall.recall(conn, Question("shipping", max_hits=50)).hits})
            assert seen[-1] == {row["id"] for row in conn.execute("SELECT id FROM promptable")}
        with shared.as_role("worker") as conn:
            owners = conn.execute(
                "SELECT DISTINCT org_id FROM memories WHERE id = ANY (%s)", (list(seen[-1]),)
            ).fetchall()
        assert owners == [{"org_id": org.id}]
    assert seen[0].isdisjoint(seen[1])


def _not_granted(database: Database, org: Org, case: str) -> str:
    match case:
        case "reviewer" | "operator":
            return rows.token(database, org, case)
        case "expired":
            return rows.token(database, org, "agent", seconds=-1)
        case "revoked":
            token = rows.token(database, org, "agent")
            with rows.as_admin(database) as conn:
                conn.execute("UPDATE tokens SET revoked_at = now() WHERE hash = sha256(%s)", (token.encode(),))
            return token
        case "hash":
            token = rows.token(database, org, "agent")
            with rows.as_admin(database) as conn:
                row = conn.execute("SELECT encode(hash, 'hex') AS hash FROM tokens WHERE hash = sha256(%s)",
                                   (token.encode(),)).fetchone()  # fmt: skip
            assert row is not None
            return str(row["hash"])
        case _:
            return case


@pytest.mark.parametrize("case", ["reviewer", "operator", "expired", "revoked", "hash", "", "made-up", "' OR true --"])
def test_what_is_no_agents_token_shows_nothing(shared: Database, case: str) -> None:
    org = _filled(shared)
    with shared.as_role("agent") as conn, granted(conn, _not_granted(shared, org, case)):
        assert conn.execute("SELECT * FROM promptable").fetchall() == []
        with pytest.raises(NoGrant), conn.transaction():
            recall.recall(conn, Question("shipping"))
    with shared.as_role("agent") as conn, pytest.raises(NoGrant):
        recall.recall(conn, Question("shipping"))


@pytest.mark.parametrize("role", ["agent", "operator"])
def test_a_token_made_for_another_door_gives_reviewers_nothing(shared: Database, role: str) -> None:
    org = _filled(shared)
    with rows.door(shared, rows.token(shared, org, role), "reviewer") as conn:
        for table in ("reviews", "ledger"):
            assert conn.execute(f"SELECT count(*) AS n FROM {table}").fetchone() == {"n": 0}
        assert conn.execute("SELECT count(id) AS n FROM memories").fetchone() == {"n": 0}
        assert conn.execute("SELECT count(id) AS n FROM runs").fetchone() == {"n": 0}


def test_a_reviewer_sees_the_rows_of_its_org_alone(shared: Database) -> None:
    org, other = _filled(shared), _filled(shared)
    with rows.door(shared, rows.token(shared, org), "reviewer") as conn:
        for statement in ("SELECT DISTINCT org_id FROM reviews", "SELECT DISTINCT org_id FROM ledger",
                          "SELECT DISTINCT org_id FROM memories", "SELECT DISTINCT org_id FROM runs"):  # fmt: skip
            assert [row["org_id"] for row in conn.execute(statement)] == [org.id], statement
    assert other.id != org.id


@pytest.mark.parametrize("setting", ["afterword.org", "afterword.org_id", "afterword.user_id", "afterword.role",
                                     "afterword.actor", "afterword.tiers"])  # fmt: skip
def test_no_other_variable_shows_anything(shared: Database, setting: str) -> None:
    org = _filled(shared)
    done = rows.psql(shared, "agent", f"SET {setting} = '{org.id}'; SELECT count(*) FROM promptable;")
    assert done.stdout.split() == ["SET", "0"]


def test_a_valid_token_set_by_hand_shows_its_grant_and_no_more(shared: Database) -> None:
    """From psql, with other variables beside it: the token alone decides."""
    org, other = _filled(shared), _filled(shared)
    token = rows.token(shared, org, "agent", tiers=("semantic",))
    done = rows.psql(
        shared,
        "agent",
        f"SET afterword.org = '{other.id}'; SET afterword.user_id = 'u-1'; SET afterword.token = '{token}';"
        " SELECT content FROM promptable; SELECT content FROM recall('shipping', max_hits => 50);"
        " SELECT r.org_id FROM current_grant() r;",
    )
    assert done.stdout.splitlines()[3:] == ["shipping of org", "shipping of org", str(org.id)]


def test_a_function_that_leaks_its_argument_sees_only_what_is_granted(shared: Database) -> None:
    """A predicate of the caller's own, cheap enough to be run first, were it not for the view's barrier."""
    org, _ = _filled(shared), _filled(shared)
    token = rows.token(shared, org, "agent", tiers=("semantic",))
    done = rows.psql(
        shared,
        "agent",
        "CREATE FUNCTION pg_temp.leak(t text) RETURNS boolean COST 0.0001 LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE NOTICE 'leaked: %', t; RETURN true; END $$;"
        f"SET afterword.token = '{token}'; SELECT count(*) FROM promptable WHERE pg_temp.leak(content);",
    )
    leaked = [line for line in done.stderr.splitlines() if "leaked:" in line]
    assert [line.split("leaked: ")[1] for line in leaked] == ["shipping of org"]


def test_shadowing_what_recall_uses_changes_nothing(shared: Database) -> None:
    """Temporary objects with the names of its tables and functions, and a search path that puts them first."""
    org = _filled(shared)
    token = rows.token(shared, org, "agent", tiers=("semantic",))
    done = rows.psql(
        shared,
        "agent",
        "CREATE TEMP TABLE memories (id uuid, content text); CREATE TEMP TABLE tokens (org_id int);"
        "CREATE TEMP TABLE recalls (id uuid); CREATE TEMP TABLE org_search (org_id int);"
        "CREATE FUNCTION pg_temp.words_asked(t text) RETURNS text[] LANGUAGE sql AS 'SELECT NULL::text[]';"
        "CREATE FUNCTION pg_temp.current_grant() RETURNS afterword.tokens LANGUAGE sql"
        " AS 'SELECT NULL::afterword.tokens';"
        f"SET search_path = pg_temp, afterword, public; SET afterword.token = '{token}';"
        "SELECT mode, content FROM afterword.recall('shipping');",
    )
    assert done.stdout.splitlines()[-1] == "lexical|shipping of org", done.stderr


def test_a_held_memory_is_seen_by_view_memory_alone(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        memory = rows.pending(conn, org, "call +351 912 345 678", hold_reasons=(HoldReason.CLASS_FOUND,),
                              classes=("phone",), author_kind=AuthorKind.PERSON)  # fmt: skip
    token = rows.token(shared, org)
    done = rows.psql(
        shared, "reviewer", f"SET afterword.token = '{token}'; SELECT content FROM view_memory('{memory}')"
    )
    assert done.stdout.splitlines()[1:] == ["call +351 912 345 678"]
    with shared.as_role("worker") as conn:
        looks = conn.execute("SELECT actor FROM ledger WHERE action = 'memory_viewed' AND subject_id = %s",
                             (str(memory),)).fetchall()  # fmt: skip
    assert looks == [{"actor": "reviewer-1"}]
