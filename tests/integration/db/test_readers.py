"""Who can read what was said: every way there is, by table, view and function, found in the catalogue and pinned here.

A LOW text that waits stands verbatim in `memories`. Two owners without a login read it for functions that show it to
nobody but a granted reviewer, on record; the workers who wrote it read it; nobody else.
"""

from __future__ import annotations

import re

import pytest

from pipeline.retention import REGISTRY
from tests.integration.db import rows
from tests.services import Database

NAMES = {column for item in REGISTRY for column in item.columns}
"""What content is called, wherever it is handed out."""

SAID = {"content", "rationale", "evidence", "lexemes", "body", "comment", "event", "detail", "error_detail"}
"""Of these, the columns that hold words of a session or about one."""

TABLES = {
    "afterword_eraser": {"runs": {"error_detail", "event"}},
    "afterword_operator": {
        "rejected_events": {"body", "detail"},  # shown with their spans masked: test_masked.py
        "runs": {"error_detail", "event"},
    },
    "afterword_recall": {"memories": {"content", "evidence", "lexemes", "rationale"}},
    "afterword_reviewer": {"reviews": {"comment"}},
    "afterword_verdict": {
        "drops": {"content", "evidence", "rationale"},
        "memories": {"content", "evidence", "lexemes", "rationale"},
        "reviews": {"comment"},
        "runs": {"error_detail", "event"},
    },
    "afterword_worker": {
        "drops": {"content", "evidence", "rationale"},
        "envelopes": {"body"},
        "memories": {"content", "evidence", "lexemes", "rationale"},
        "outcomes": {"comment"},
        "payloads": {"content"},
        "rejected_events": {"body", "detail"},
        "reviews": {"comment"},
        "runs": {"error_detail", "event"},
        "transcripts": {"body"},
    },
}
VIEWS = {
    "afterword_agent": {"promptable"}, "afterword_recall": {"promptable"},  # active, and of the grant alone
}  # fmt: skip
FUNCTIONS = {
    "afterword_agent": {"digest_items", "recall", "run_told"},  # as promptable; of runs the bearer's own, and counts
    "afterword_reviewer": {"near_rules", "run_told", "view_drop", "view_memory"},  # of the grant's org and project
    "afterword_operator": {"run_told"},
}

COLUMNS = """
  SELECT c.relname, c.relkind = 'v' AS is_view, a.attname, r.rolname
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped, pg_roles r
  WHERE c.relnamespace = 'afterword'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
    AND r.rolname LIKE 'afterword\\_%' AND r.rolname <> 'afterword_owner'
    AND has_column_privilege(r.oid, c.oid, a.attname, 'SELECT')"""
RETURNED = """
  SELECT p.proname, pg_get_function_result(p.oid) AS result, r.rolname, t.typrelid <> 0 AS is_row
  FROM pg_proc p JOIN pg_type t ON t.oid = p.prorettype, pg_roles r
  WHERE p.pronamespace = 'afterword'::regnamespace AND r.rolcanlogin AND r.rolname LIKE 'afterword\\_%'
    AND has_function_privilege(r.oid, p.oid, 'EXECUTE')"""


def _holds_content(relation: str, column: str) -> bool:
    table = re.sub(r"^embeddings_\d+$", "embeddings", relation)
    return any(item.table == table and column in item.columns for item in REGISTRY) and column in SAID


def test_the_columns_of_content_each_role_can_read(database: Database) -> None:
    found: dict[str, dict[str, set[str]]] = {}
    with rows.as_admin(database) as conn:
        for row in conn.execute(COLUMNS):
            if _holds_content(row["relname"], row["attname"]):
                found.setdefault(row["rolname"], {}).setdefault(row["relname"], set()).add(row["attname"])
    assert found == TABLES


def test_the_views_by_which_content_is_read(database: Database) -> None:
    found: dict[str, set[str]] = {}
    with rows.as_admin(database) as conn:
        for row in conn.execute(COLUMNS):
            if row["is_view"] and row["attname"] in NAMES:
                found.setdefault(row["rolname"], set()).add(row["relname"])
    assert found == VIEWS


def test_the_functions_by_which_content_is_read(database: Database) -> None:
    """Those that a login may call and that return a column called as content is, or a row of a table with content."""
    tables = {item.table for item in REGISTRY} - {"tokens"}
    found: dict[str, set[str]] = {}
    with rows.as_admin(database) as conn:
        for row in conn.execute(RETURNED):
            words = set(re.findall(r"\w+", row["result"]))
            if words & SAID or words & tables:
                found.setdefault(row["rolname"], set()).add(row["proname"])
    assert found == FUNCTIONS


def test_a_new_way_to_content_is_seen(database: Database) -> None:
    """A grant, a view and a function nobody wrote down here: each is found."""
    with rows.as_admin(database) as conn:
        conn.execute("GRANT SELECT (rationale) ON afterword.memories TO afterword_operator")
        conn.execute("CREATE VIEW afterword.everything AS SELECT content FROM afterword.memories")
        conn.execute("GRANT SELECT ON afterword.everything TO afterword_reviewer")
        conn.execute(
            "CREATE FUNCTION afterword.peek() RETURNS afterword.memories LANGUAGE sql"
            " AS 'SELECT NULL::afterword.memories'"
        )
    for test in (test_the_columns_of_content_each_role_can_read, test_the_views_by_which_content_is_read,
                 test_the_functions_by_which_content_is_read):  # fmt: skip
        with pytest.raises(AssertionError):
            test(database)


@pytest.mark.parametrize("status", ["pending", "rejected", "tombstoned"])
def test_what_waits_or_was_kept_out_leaves_by_a_granted_reviewer_alone(shared: Database, status: str) -> None:
    """A phone number that stands verbatim, sought by every login by every way that it has."""
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        memory = rows.pending(conn, org, "call +351 912 345 678", classes=("phone",), subject=rows.about("ana"),
                              run=rows.insert_run(conn, org, project="search"))  # fmt: skip
        if status != "pending":
            with conn.transaction():
                conn.execute("UPDATE reviews SET closed_at = now(), decision = 'reject', decided_by = 'x'"
                             " WHERE memory_id = %s", (memory,))  # fmt: skip
                conn.execute("UPDATE memories SET status = %s, review_id = NULL WHERE id = %s", (status, memory))
    ways = ["SELECT content FROM memories", "SELECT * FROM promptable", "SELECT content FROM recall('call')",
            f"SELECT content FROM view_memory('{memory}')", f"SELECT content FROM granted_memory('{memory}')",
            "SELECT content FROM payloads"]  # fmt: skip
    seen = set()
    for login, grant in (("agent", {}), ("operator", {}), ("reviewer", {}), ("reviewer", {"project": "search"}),
                         ("reviewer", {"project": "billing"})):  # fmt: skip
        token = rows.token(shared, org, login, **grant)
        for way in ways:
            done = rows.psql(shared, login, f"SET afterword.token = '{token}'; {way}")
            if "912 345 678" in done.stdout:
                seen.add((login, grant.get("project"), way.split("(")[0].split()[-1]))
    assert seen == {("reviewer", None, "view_memory"), ("reviewer", "search", "view_memory")}
    with shared.as_role("worker") as conn:
        looks = conn.execute("SELECT count(*) AS n FROM ledger WHERE action = 'memory_viewed' AND subject_id = %s",
                             (str(memory),)).fetchone()  # fmt: skip
    assert looks == {"n": 2}
