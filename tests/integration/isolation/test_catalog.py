"""No table with rows of orgs is without forced row-level security, and no door's policy reaches past its grant."""

from __future__ import annotations

import pytest

from db.migrate import LOGINS, register_stamp
from pipeline.embedding.port import Stamp
from tests.integration.db import rows
from tests.integration.isolation import catalog
from tests.integration.isolation.surface import COMMANDS, FUNCTIONS, INSTALLATION, PURE
from tests.services import Database
from tests.unit.house.sources import commands

WITHOUT_CONTENT = {
    "memory_moves": "the state machine", "run_moves": "the state machine", "run_entries": "the state machine",
    "migrations": "file names and checksums", "stamps": "names of models", "seals": "hashes and counts",
    "orgs": "the list of tenants itself", "replays": "requests of operators, who see all orgs",
    "replayed_runs": "ids and error codes", "retention_defaults": "days by class",
    "calibrations": "figures of a model",
}  # fmt: skip


@pytest.mark.parametrize("dimension", [8, 2_500, 5_000])
def test_every_table_with_rows_of_orgs_has_forced_row_level_security(database: Database, dimension: int) -> None:
    """Tables that are made later, too: one for each embedding space."""
    made = f"embeddings_{register_stamp(database.admin, Stamp('test', 'later', '1', dimension))}"
    found = {table["name"]: table for table in catalog.tables(database)}
    assert made in found
    assert {name for name, table in found.items() if not table["forced"]} == set(WITHOUT_CONTENT)
    assert [name for name in WITHOUT_CONTENT if "org_id" in found[name]["columns"]] == []


def test_a_policy_of_a_door_follows_its_grant_and_lets_it_write_nothing(database: Database) -> None:
    with rows.as_admin(database) as conn:
        found = conn.execute(
            "SELECT tablename, cmd, qual FROM pg_policies WHERE schemaname = 'afterword'"
            " AND roles && '{public,afterword_agent,afterword_reviewer}'::name[]"
        ).fetchall()
    assert found
    for policy in found:
        assert policy["cmd"] == "SELECT", policy
        assert "org_id" in policy["qual"], policy
        assert "current_grant()" in policy["qual"], policy


def test_only_workers_and_operators_log_in_and_see_all_orgs(database: Database) -> None:
    with rows.as_admin(database) as conn:
        found = conn.execute(
            "SELECT DISTINCT r.rolname::text AS role FROM pg_policies p JOIN pg_roles r ON r.rolname = ANY (p.roles)"
            " WHERE p.schemaname = 'afterword' AND p.qual = 'true' AND r.rolcanlogin"
        ).fetchall()
    assert {row["role"] for row in found} == {"afterword_worker", "afterword_operator"}


@pytest.mark.parametrize("door", catalog.DOORS)
def test_every_function_a_door_may_call_is_tried(database: Database, door: str) -> None:
    assert catalog.callable_by(database, door) == set(FUNCTIONS[door]) | PURE


def test_no_login_reaches_a_relation_that_no_org_stands_in(database: Database) -> None:
    """Views included: what a door may read has the org's id, or only ids that its own view narrows."""
    for door in catalog.DOORS:
        for relation, columns in catalog.readable(database, door).items():
            assert "org_id" in columns or relation in {"promptable", "migrations"}, (door, relation)
    assert set(LOGINS) == {*catalog.DOORS, "operator", "worker"}


def test_every_command_is_tried_or_is_the_installations() -> None:
    """A new command is written into `surface.py`: how an org would reach another by it, or why it is of no org."""
    known = commands()
    assert sorted(set(known) ^ (set(COMMANDS) | set(INSTALLATION))) == []
    assert [name for name in INSTALLATION if "--org" in known[name]] == []
