"""What each login can reach, tried with psql and a password, and pinned: a new grant must be written here to pass."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from db.migrate import LOGINS, migrate
from tests.integration.db import rows
from tests.services import Database

CONTENT = {
    "memories": {"content", "rationale", "evidence", "lexemes", "subject_id"},
    "drops": {"content", "rationale", "evidence", "subject_id", "scope_value", "author"},
    "transcripts": {"body"},
    "envelopes": {"body"},
    "payloads": {"content", "key"},
}

CALLS = "INSERT, SELECT; UPDATE of answered_by, cost, input_tokens, latency_seconds, outcome, output_tokens, settled_at"
TABLES = {
    "afterword_agent": {"promptable": "SELECT"},
    "afterword_reviewer": {
        "ledger": "SELECT", "migrations": "SELECT", "recalls": "SELECT", "reviews": "SELECT",
        "memories": "SELECT of classes, created_at, erased_at, expires_at, high_stakes, hold_reasons, id, importance,"
        " kind, namespace, observed_at, occurrences, org_id, replaces, review_id, revision, run_id, scope_kind, status,"
        " status_at, superseded_by, tier",
        "runs": "SELECT of created_at, id, kind, memory_id, org_id, project, state, state_at",
    },
    "afterword_operator": {
        "calibrated": "SELECT", "calibrations": "SELECT",
        "drops": "MAINTAIN; SELECT of at, classes, confidence, erased_at, expires_at, id, kind, org_id, provenance,"
        " restored_at, restored_by, review_share, rule, run_id, sampled, threshold",
        "embeddings_1": "MAINTAIN", "envelopes": "MAINTAIN", "erasures": "SELECT", "held_rows": "SELECT",
        "legal_holds": "SELECT", "payloads": "MAINTAIN", "run_subjects": "MAINTAIN", "tokens": "MAINTAIN",
        "transcripts": "MAINTAIN",
        "ledger": "SELECT; INSERT of action, actor, detail, org_id, payload_hash, subject_id, subject_kind",
        "memories": "MAINTAIN; SELECT of classes, confidence, created_at, erased_at, expires_at, high_stakes,"
        " hold_reasons, id, importance, kind, namespace, observed_at, occurrences, org_id, provenance, replaces,"
        " review_id, revision, run_id, scope_kind, status, status_at, superseded_by, tier",
        "memory_moves": "SELECT", "migrations": "SELECT", "model_calls": CALLS,
        "namespaces": "INSERT, SELECT; UPDATE of agents, description, path, preamble, scope_kind, scope_value, title",
        "outcomes": "MAINTAIN", "pass_cursors": "SELECT",
        "occurrences": "SELECT",
        "org_search": "SELECT", "past_date": "SELECT", "retention_defaults": "SELECT",
        "orgs": "SELECT; INSERT of actor, name, reason, settings; UPDATE of actor, reason, settings",
        "reclassifications": "SELECT; INSERT of actor, confirmed_digest, dry_run, id, kind, org_id, plan_id,"
        " planned_by, rate_per_second, reason, since",
        "reclassified": "SELECT", "recalls": "SELECT",
        "rejected_events": "MAINTAIN, SELECT", "replayed_runs": "SELECT", "replays": "INSERT, SELECT",
        "reviews": "MAINTAIN; SELECT of cites, closed_at, decided_by, decision, drop_id, id, kind, memory_id,"
        " opened_at, org_id, reasons",
        "run_entries": "SELECT", "run_moves": "SELECT", "runs": "MAINTAIN, SELECT", "seals": "SELECT",
        "spaces": "INSERT, SELECT", "stamps": "SELECT",
    },
    "afterword_worker": {
        "calibrated": "SELECT", "calibrations": "INSERT, SELECT",
        "drops": "INSERT, SELECT; UPDATE of author, content, detectors, erased_at, evidence, rationale, scope_value,"
        " subject_id, subject_type",
        "embeddings_1": "DELETE, INSERT, SELECT; UPDATE of ann",
        "envelopes": "DELETE, INSERT, SELECT, UPDATE", "erasures": "SELECT", "held_rows": "INSERT, SELECT",
        "legal_holds": "SELECT", "run_subjects": "DELETE, INSERT, SELECT",
        "ledger": "SELECT; INSERT of action, actor, detail, org_id, payload_hash, subject_id, subject_kind",
        "memories": "INSERT, SELECT, UPDATE", "memory_moves": "SELECT", "migrations": "SELECT", "model_calls": CALLS,
        "namespaces": "SELECT", "outcomes": "SELECT", "pass_cursors": "INSERT, SELECT, UPDATE",
        "occurrences": "INSERT, SELECT", "org_search": "INSERT, SELECT, UPDATE", "orgs": "SELECT",
        "past_date": "SELECT", "retention_defaults": "SELECT",
        "payloads": "DELETE, INSERT, SELECT; UPDATE of detectors", "recalls": "SELECT",
        "reclassifications": "SELECT; UPDATE of after, counts, detectors, finished_at, looked_at, passes, plan_digest,"
        " status, store",
        "reclassified": "INSERT, SELECT", "rejected_events": "DELETE, INSERT, SELECT, UPDATE",
        "replayed_runs": "INSERT, SELECT", "replays": "SELECT, UPDATE", "reviews": "INSERT, SELECT, UPDATE",
        "run_entries": "SELECT", "run_moves": "SELECT", "runs": "INSERT, SELECT, UPDATE", "seals": "INSERT, SELECT",
        "spaces": "SELECT", "stamps": "SELECT; UPDATE of indexed", "transcripts": "DELETE, INSERT, SELECT, UPDATE",
    },
    "afterword_recall": {
        "calibrated": "SELECT", "calibrations": "SELECT", "runs": "SELECT of id, session",
        "embeddings_1": "SELECT", "memories": "SELECT", "namespaces": "SELECT", "org_search": "SELECT",
        "promptable": "owner", "recalls": "INSERT, SELECT; UPDATE of block_hash, excluded, rendered_at, shown",
        "stamps": "SELECT",
    },
    "afterword_eraser": {
        "drops": "UPDATE; SELECT of at, erased_at, expires_at, id, org_id, run_id, scope_kind",
        "embeddings_1": "DELETE, SELECT", "envelopes": "DELETE; SELECT of org_id, run_id",
        "erasures": "INSERT, SELECT, UPDATE",
        "held_rows": "INSERT, SELECT, UPDATE", "installation": "INSERT, SELECT, UPDATE",
        "ledger": "SELECT; INSERT of action, actor, detail, org_id, payload_hash, subject_id, subject_kind",
        "legal_holds": "INSERT, SELECT, UPDATE",
        "held_now": "owner", "past_date": "owner", "retention_defaults": "SELECT",
        "memories": "UPDATE; SELECT of author, created_at, erased_at, expires_at, id, kind, org_id, previous_hash,"
        " purge_after, replaces, run_id, scope_kind, status, status_at, superseded_by",
        "orgs": "SELECT", "outcomes": "DELETE; SELECT of at, expires_at, id, memory_id, org_id; UPDATE of comment,"
        " expires_at", "payloads": "DELETE; SELECT of entry_id, org_id",
        "recalls": "DELETE; SELECT of at, hits, id, org_id", "rejected_events": "DELETE; SELECT of id, purge_after",
        "reviews": "UPDATE; SELECT of closed_at, decision, drop_id, id, kind, memory_id, org_id; INSERT of id, kind,"
        " memory_id, org_id, reasons", "run_subjects": "DELETE, SELECT",
        "runs": "SELECT, UPDATE", "stamps": "SELECT", "tokens": "DELETE; SELECT of expires_at, id, org_id, user_id",
        "transcripts": "DELETE; SELECT of org_id, purge_after, run_id; UPDATE of purge_after",
    },
    "afterword_verdict": {
        "drops": "SELECT; UPDATE of restored_at, restored_by", "embeddings_1": "SELECT", "envelopes": "INSERT",
        "ledger": "INSERT of action, actor, detail, org_id, payload_hash, subject_id, subject_kind",
        "memories": "SELECT, UPDATE", "namespaces": "SELECT",
        "occurrences": "SELECT; UPDATE of undone_at, undone_by", "orgs": "SELECT",
        "outcomes": "INSERT", "retention_defaults": "SELECT",
        "reviews": "SELECT, UPDATE; INSERT of id, kind, memory_id, org_id, reasons", "runs": "INSERT, SELECT",
        "stamps": "SELECT",
    },
}  # fmt: skip

FUNCTIONS = {
    "afterword_agent": {
        "current_grant", "digest_items", "digest_rendered", "lose_outcome", "recall", "recall_rendered",
        "record_outcome", "remember_preference", "revoke_preference", "run_told", "use_grant",
    },
    "afterword_reviewer": {
        "approve", "confirm_drop", "current_grant", "forget", "lose_outcome", "near_rules", "record_answer",
        "record_feedback", "record_outcome", "record_rules", "rehome", "reject", "restore_drop", "standing_rules",
        "restore_repeat", "retype", "run_told", "use_grant",
        "view_drop", "view_memory",
    },
    "afterword_operator": {
        "budget_day",
        "budget_left",
        "current_grant",
        "drop_stamp",
        "erase",
        "erase_outcomes",
        "finish_erasure",
        "knows_key",
        "mark_erasure",
        "mint_token",
        "open_missing_runs",
        "note_erased",
        "place_hold",
        "purge_due",
        "record_answer",
        "release_hold",
        "retention_days",
        "revoke_token",
        "rotate_token",
        "stamp_gap",
        "switch_stamp",
        "token_users",
        "tokens_made",
        "run_told",
        "use_grant",
    },
    "afterword_worker": {
        "budget_day", "budget_left", "current_grant", "knows_key", "plan_digest", "purge_due", "record_candidates",
        "refused_before", "retention_days",
    },
    "PUBLIC": {"any_lexeme", "in_share", "is_personal", "ledger_hash", "org_words", "turn_number"},
}  # fmt: skip

GRANTS = """
  WITH acl AS (
    SELECT c.relname AS object, c.relowner, NULL::text AS column, a.grantee, a.privilege_type AS privilege
    FROM pg_class c, aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) a
    WHERE c.relnamespace = 'afterword'::regnamespace AND c.relkind IN ('r', 'v', 'm', 'p', 'f')
    UNION ALL
    SELECT c.relname, c.relowner, t.attname, a.grantee, a.privilege_type
    FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid, aclexplode(t.attacl) a
    WHERE c.relnamespace = 'afterword'::regnamespace
  )
  SELECT object, coalesce(g.rolname, 'PUBLIC') AS role, privilege, "column", acl.grantee = acl.relowner AS owns
  FROM acl LEFT JOIN pg_roles g ON g.oid = acl.grantee
  WHERE g.rolname IS DISTINCT FROM 'afterword_owner'"""


def _worded(found: list[dict[str, Any]]) -> str:
    if any(row["owns"] for row in found):
        return "owner"
    whole = ", ".join(sorted({row["privilege"] for row in found if row["column"] is None}))
    of: dict[str, list[str]] = {}
    for row in found:
        if row["column"] is not None:
            of.setdefault(row["privilege"], []).append(row["column"])
    order = sorted(of, key=["SELECT", "INSERT", "UPDATE"].index)
    columns = [f"{privilege} of {', '.join(sorted(of[privilege]))}" for privilege in order]
    return "; ".join(filter(None, [whole, *columns]))


def test_every_grant_on_a_table_is_on_this_page(database: Database) -> None:
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    with rows.as_admin(database) as conn:
        for row in conn.execute(GRANTS):
            found.setdefault(row["role"], {}).setdefault(row["object"], []).append(row)
    assert {role: {name: _worded(acl) for name, acl in by.items()} for role, by in found.items()} == TABLES


def test_every_function_a_login_may_call_is_on_this_page(database: Database) -> None:
    with rows.as_admin(database) as conn:
        found = conn.execute(
            """
            SELECT coalesce(g.rolname, 'PUBLIC') AS role, array_agg(DISTINCT p.proname::text) AS functions
            FROM pg_proc p CROSS JOIN aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
            LEFT JOIN pg_roles g ON g.oid = a.grantee
            WHERE p.pronamespace = 'afterword'::regnamespace
              AND (g.rolname IS NULL OR g.rolcanlogin) GROUP BY 1
            """
        ).fetchall()
    assert {row["role"]: set(row["functions"]) for row in found} == FUNCTIONS


def test_every_function_that_lends_its_owners_rights_fixes_its_search_path(database: Database) -> None:
    with rows.as_admin(database) as conn:
        found = conn.execute(
            """
            SELECT p.proname FROM pg_proc p WHERE p.pronamespace = 'afterword'::regnamespace AND p.prosecdef
            AND NOT coalesce(p.proconfig::text LIKE '%search_path=afterword%, pg_temp%', false)
            """
        ).fetchall()
    assert found == []


def test_who_can_read_a_memorys_content(database: Database) -> None:
    """LOW rows stand un-redacted: the workers who write them, and the owners of recall and of the verdicts."""
    with rows.as_admin(database) as conn:
        found = conn.execute(
            """
            SELECT r.rolname, r.rolcanlogin FROM pg_roles r WHERE NOT r.rolsuper AND r.rolname NOT LIKE 'pg\\_%'
            AND has_column_privilege(r.oid, 'afterword.memories', 'content', 'SELECT')
            """
        ).fetchall()
        policies = conn.execute("SELECT unnest(roles)::text AS role FROM pg_policies WHERE tablename = 'memories'")
        seen = {row["role"] for row in policies}
    able = {row["rolname"]: row["rolcanlogin"] for row in found}
    assert able == {
        "afterword_owner": False, "afterword_recall": False, "afterword_verdict": False, "afterword_worker": True,
    }  # fmt: skip
    assert "afterword_owner" not in seen  # its rows are hidden from it by the forced policy
    with rows.as_admin(database) as conn:
        conn.execute("SET ROLE afterword_owner")
        assert conn.execute("SELECT count(*) AS n FROM memories").fetchone() == {"n": 0}


@pytest.mark.parametrize("login", ["reviewer", "operator"])
@pytest.mark.parametrize(
    ("table", "column"), [(table, column) for table in CONTENT for column in sorted(CONTENT[table])]
)
def test_reviewers_and_operators_cannot_read_content(shared: Database, login: str, table: str, column: str) -> None:
    done = rows.psql(shared, login, f"SELECT {column} FROM {table}")
    assert f"permission denied for table {table}" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    "subject", ["run", "memory", "drop", "payload", "token", "org", "subject", "store", "reclassification"]
)
def test_an_operator_does_not_write_what_became_of_a_run_or_memory(shared: Database, subject: str) -> None:
    entry = "INSERT INTO ledger (subject_kind, subject_id, actor, action) VALUES ('{}', 'x', 'ana', 'memory_active')"
    assert rows.psql(shared, "operator", entry.format("repair")).returncode == 0
    done = rows.psql(shared, "operator", entry.format(subject))
    assert "violates row-level security" in done.stderr


VERBS = [
    "SELECT * FROM {}", "INSERT INTO {} DEFAULT VALUES", "DELETE FROM {}", "TRUNCATE {}", "COPY {} TO STDOUT",
    "BEGIN; LOCK TABLE {}; ROLLBACK", "CREATE INDEX ON {} ((1))", "DROP TABLE {}",
]  # fmt: skip


@pytest.mark.parametrize("verb", VERBS)
def test_an_agent_reaches_no_table(shared: Database, verb: str) -> None:
    with rows.as_admin(shared) as conn:
        found = conn.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'afterword'::regnamespace AND relkind = 'r'"
        )
        tables = [row["relname"] for row in found]
    assert "memories" in tables
    assert "embeddings_1" in tables
    done = rows.psql(shared, "agent", "\\set ON_ERROR_STOP off\n" + "\n".join(f"{verb.format(t)};" for t in tables))
    assert set(done.stdout.split()) <= {"BEGIN", "ROLLBACK"}
    refused = [line for line in done.stderr.splitlines() if "ERROR" in line]
    assert len(refused) == len(tables)
    assert all("permission denied" in line or "must be owner" in line for line in refused)


@pytest.mark.parametrize("attempt", [
    "SET ROLE afterword_owner", "SET ROLE afterword_recall", "SET ROLE afterword_worker",
    "SET SESSION AUTHORIZATION afterword_worker", "SET session_replication_role = replica", "SET row_security = off;"
    " SELECT * FROM memories", "CREATE TABLE afterword.x ()", "CREATE TABLE public.x ()",
    "CREATE FUNCTION public.f() RETURNS int LANGUAGE sql AS 'SELECT 1'", "SELECT pg_read_file('/etc/passwd')",
    "COPY (SELECT 1) TO PROGRAM 'id'", "SELECT * FROM pg_authid", "ALTER FUNCTION recall_rendered(uuid, bytea, uuid[])"
    " OWNER TO afterword_agent", "CREATE EXTENSION dblink", "SELECT granted_memory(uuidv7())",
    "SELECT mint_token('\\x00', 1, 'agent', 'x', '1 day')", "SELECT register_stamp('a', 'b', 'c', 3)",
    "SELECT * FROM tokens",
])  # fmt: skip
def test_an_agent_does_not_become_more(shared: Database, attempt: str) -> None:
    done = rows.psql(shared, "agent", attempt)
    assert done.returncode != 0
    refusals = ("permission denied", "must be owner", "would be affected by row-level security")
    assert any(words in done.stderr for words in refusals), done.stderr


def test_statistics_hold_no_content(database: Database) -> None:
    """ANALYZE keeps samples of a column's values where others could read them; content columns keep none."""
    org = database.org("acme")
    with database.as_role("worker") as conn:
        for number in range(300):
            rows.insert_memory(
                conn, org, f"Zanzibar {number % 5}", rationale="Zanzibar", subject=rows.about("Zanzibar")
            )
    with rows.as_admin(database) as admin:
        admin.execute("ANALYZE")
        found = admin.execute(
            "SELECT tablename, attname FROM pg_stats WHERE schemaname = 'afterword'"
            " AND (most_common_vals::text ILIKE '%zanzibar%' OR histogram_bounds::text ILIKE '%zanzibar%'"
            "   OR most_common_elems::text ILIKE '%zanzibar%')"
        ).fetchall()
    assert found == []


def test_passwords_are_needed(shared: Database) -> None:
    for login in LOGINS:
        wrong = shared.server.url(shared.name, f"afterword_{login}", "wrong")
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(wrong)


def test_an_orgs_settings_change_on_record_whoever_writes_them(shared: Database) -> None:
    org = rows.fresh_org(shared)
    change = f"UPDATE orgs SET settings = settings || '{{\"extraction\": false}}', actor = 'op' WHERE id = {org.id}"
    assert rows.psql(shared, "operator", change).returncode == 0
    with shared.as_role("operator") as conn:
        entry = conn.execute("SELECT actor, detail -> 'changed' AS changed FROM ledger WHERE org_id = %s"
                             " ORDER BY id DESC LIMIT 1", (org.id,))  # fmt: skip
        assert entry.fetchone() == {"actor": "op", "changed": {"extraction": [True, False]}}


@pytest.mark.parametrize("setting", ['{"bogus": 1}', '{"languages": []}'])
def test_a_setting_that_no_reader_takes_is_refused(shared: Database, setting: str) -> None:
    org = rows.fresh_org(shared)
    change = f"UPDATE orgs SET settings = settings || '{setting}' WHERE id = {org.id}"
    said = rows.psql(shared, "operator", change)
    assert "violates check constraint" in said.stderr


def test_no_login_fills_the_disk_with_what_nobody_owns(database: Database) -> None:
    migrate(database.admin, {})  # a clone has its template's rows, but not its privileges
    for role in LOGINS:
        for statement in ("SELECT lo_create(0)", "CREATE TEMP TABLE t (x int)"):
            assert "permission denied" in rows.psql(database, role, statement).stderr, (role, statement)
