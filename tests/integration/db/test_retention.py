"""What is past its date, and what keeps it: dates that only come nearer, holds, one purge for whoever asks."""

from __future__ import annotations

import re
import threading
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from db import orgs, retention
from db.connect import Connection
from db.events import Org
from pipeline.errors import AfterwordError
from pipeline.org import OrgSettings
from pipeline.retention import BY_ORG, DAYS_MAX, DAYS_MIN, GRACE, REGISTRY, default_days
from tests.integration.db import rows
from tests.integration.db.test_drops import dropped
from tests.services import Database

PAST = datetime.now(UTC) - timedelta(days=1)
GONE = PAST - GRACE


def _find(conn: Connection, org: Org) -> dict[str, int]:
    return {item.store: item.due for item in retention.due(conn, org) if item.due}


def _fill(conn: Connection, org: Org, count: int = 2) -> None:
    """`count` rows past their date in every store that a worker writes, and one beside them that is not."""
    for number in range(count + 1):
        until, at = (PAST, GONE) if number < count else (PAST + timedelta(days=9), PAST + timedelta(days=9))
        rows.insert_memory(conn, org, f"expired {number}", expires_at=at, subject=rows.about("Ana"))
        rule = rows.insert_memory(conn, org, f"rule {number}", kind="rule", expires_at=until)
        assert rows.status(conn, rule) == "active"
        forgotten = rows.insert_memory(conn, org, f"forgotten {number}")
        conn.execute("UPDATE memories SET status = 'tombstoned', purge_after = %s WHERE id = %s", (until, forgotten))
        run = rows.insert_run(conn, org)
        conn.execute("INSERT INTO transcripts VALUES (%s, %s, 'x', 1, %s)", (run, org.id, until))


FILLED = {"expired": 2, "renewals": 2, "forgotten": 2, "transcripts": 2}


def _purge(conn: Connection, org: Org | None = None, **more: Any) -> Counter[str]:
    done: Counter[str] = Counter()
    while batch := retention.purge_batch(conn, actor="ana", org=org, **more):
        for (store, _), count in batch.items():
            done[store] += count
    return done


def test_the_registry_and_the_database_agree(shared: Database) -> None:
    with shared.as_role("operator") as conn:
        found = {row["name"]: row for row in conn.execute("SELECT * FROM retention_defaults").fetchall()}
    assert {name: row["days"] for name, row in found.items()} == {
        item.name: default_days(item.name) for item in REGISTRY if item.name in found
    }
    assert {item.name for item in REGISTRY if item.keeps is not None} == set(found)
    assert {name for name, row in found.items() if row["by_org"]} == set(BY_ORG)


@pytest.mark.parametrize("role", ["worker", "operator"])
def test_what_is_found_is_what_is_purged_and_no_more(shared: Database, role: str) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        _fill(conn, org)
    with shared.as_role(role) as conn:
        assert _find(conn, org) == FILLED
        assert _purge(conn, org, max_rows=1) == FILLED
        assert _find(conn, org) == {}
        assert _purge(conn, org) == {}
    with shared.as_role("worker") as conn:
        left = conn.execute("SELECT content FROM memories WHERE org_id = %s AND content <> ''", (org.id,)).fetchall()
        kept = conn.execute("SELECT count(*) AS n FROM transcripts WHERE org_id = %s", (org.id,)).fetchone()
    assert sorted(row["content"] for row in left) == ["expired 2", "forgotten 2", "rule 0", "rule 1", "rule 2"]
    assert kept == {"n": 1}


def test_a_purged_memory_leaves_nothing_of_what_it_said(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        memory = rows.insert_memory(
            conn, org, "Zanzibar", rationale="Zanzibar", evidence=[{"quote": "Zanzibar"}], expires_at=GONE,
            subject=rows.about("Zanzibar"), author="Zanzibar", classes=("person",),
        )  # fmt: skip
        conn.execute("INSERT INTO embeddings_1 VALUES (%s, %s, '[1,1,1,1,1,1,1,1]')", (memory, org.id))
        entry = conn.execute(
            "INSERT INTO ledger (org_id, subject_kind, subject_id, actor, action) VALUES (%s, 'memory', %s, 'x', 'y')"
            " RETURNING id", (org.id, str(memory)),
        ).fetchone()  # fmt: skip
        assert entry is not None
        conn.execute("INSERT INTO payloads VALUES (%s, %s, %s, '{\"before\": \"Zanzibar\"}')",
                     (org.id, entry["id"], bytes(32)))  # fmt: skip
        assert _purge(conn, org) == {"expired": 1}
        row = conn.execute("SELECT * FROM memories WHERE id = %s", (memory,)).fetchone()
        assert "zanzibar" not in str(row).casefold()
        for table in ("embeddings_1", "payloads"):
            assert conn.execute(f"SELECT FROM {table} WHERE org_id = %s", (org.id,)).fetchall() == [], table
        entries = conn.execute(
            "SELECT action, detail FROM ledger WHERE org_id = %s AND actor = 'ana' ORDER BY id", (org.id,)
        ).fetchall()
    assert [(row["action"], row["detail"].get("reason"), row["detail"].get("rows")) for row in entries] == [
        ("purged", None, 1), ("memory_erased", "expired", None),
    ]  # fmt: skip


def test_a_purged_drop_leaves_nothing_of_what_it_said(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        gone = dropped(conn, org, in_sample=True, rationale="Zanzibar", subject=rows.about("Zanzibar"))
        stays = dropped(conn, org)
        with rows.as_admin(shared) as admin:
            admin.execute("UPDATE reviews SET comment = 'Zanzibar' WHERE drop_id = %s", (gone,))
        with rows.as_admin(shared) as admin:
            admin.execute("UPDATE drops SET expires_at = %s WHERE id = %s", (PAST, gone))
        assert _purge(conn, org) == {"drops": 1}
        found = conn.execute("SELECT d.*, r.* FROM drops d LEFT JOIN reviews r ON r.drop_id = d.id WHERE d.org_id = %s",
                             (org.id,)).fetchall()  # fmt: skip
    assert {row["run_id"]: row["content"] for row in found if row["erased_at"] is None} != {}
    assert "zanzibar" not in str(found).casefold()
    assert stays != gone


def _hold(database: Database, org: Org, run: UUID) -> UUID:
    with rows.as_admin(database) as conn:
        hold = conn.execute(
            "INSERT INTO legal_holds (id, org_id, hash, needles, actor, reason)"
            " VALUES (uuidv7(), %s, substring(sha256(uuid_send(uuidv7())) FOR 16), '[]', 'ana', 'a court')"
            " RETURNING id",
            (org.id,),
        ).fetchone()  # fmt: skip
        assert hold is not None
        conn.execute("INSERT INTO held_rows VALUES (%s, %s, 'runs', %s)", (hold["id"], org.id, run))
    return UUID(str(hold["id"]))


def test_a_legal_hold_outranks_the_purge_is_seen_and_blocks_no_other(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        held = rows.insert_memory(conn, org, "evidence", expires_at=GONE - timedelta(days=9))
        rows.insert_memory(conn, org, "no evidence", expires_at=GONE)
        run = _row(conn, held)["run_id"]
        conn.execute("INSERT INTO transcripts VALUES (%s, %s, 'x', 1, %s)", (run, org.id, GONE))
        hold = _hold(shared, org, run)
        found = {item.store: (item.due, item.held) for item in retention.due(conn, org)}
        assert found == {"expired": (1, 1), "transcripts": (0, 1)}
        assert _purge(conn, org, max_rows=1) == {"expired": 1}
        assert _row(conn, held)["content"] == "evidence"
        assert "expired" not in retention.overdue_seconds(conn)
        with rows.as_admin(shared) as admin:
            admin.execute("UPDATE legal_holds SET released_at = now(), released_by = 'ana', release_reason = 'over'"
                          " WHERE id = %s", (hold,))  # fmt: skip
        assert _purge(conn, org) == {"expired": 1, "transcripts": 1}


def test_what_waits_for_a_person_past_its_date_is_closed_and_emptied(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        memory = rows.pending(conn, org, "call Ana", expires_at=GONE)
        assert _purge(conn, org) == {"expired": 1}
        assert rows.status(conn, memory) == "tombstoned"
        review = conn.execute("SELECT decision FROM reviews WHERE memory_id = %s", (memory,)).fetchall()
    assert review == [{"decision": "voided"}]


def test_an_expired_memory_is_recalled_no_more_and_emptied_after_the_grace(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        rows.insert_memory(conn, org, "just expired", expires_at=PAST)
        assert _find(conn, org) == {}
    with rows.door(shared, rows.token(shared, org, "agent"), "agent") as conn:
        assert conn.execute("SELECT * FROM promptable").fetchall() == []


def test_an_approved_rule_stands_until_a_person_decides_and_is_asked_about_once_a_year(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        rule = rows.insert_memory(conn, org, "Always test.", kind="rule", expires_at=PAST)
        assert (_purge(conn, org), _purge(conn, org)) == ({"renewals": 1}, {})
        review = conn.execute("SELECT kind, reasons, closed_at FROM reviews WHERE memory_id = %s", (rule,)).fetchall()
        assert review == [{"kind": "renew", "reasons": ["review_due"], "closed_at": None}]
    with rows.door(shared, rows.token(shared, org, "agent"), "agent") as conn:
        assert [row["id"] for row in conn.execute("SELECT id FROM promptable")] == [rule]
    with rows.door(shared, rows.token(shared, org)) as conn:
        conn.execute("SELECT approve(%s, 'still so')", (rule,))
    with shared.as_role("worker") as conn:
        until = _row(conn, rule)["expires_at"]
        assert timedelta(days=364) < until - datetime.now(UTC) < timedelta(days=366)
        assert _purge(conn, org) == {}
    with rows.door(shared, rows.token(shared, org)) as conn:
        assert conn.execute("SELECT forget(%s)", (rule,)).fetchone() == {"forget": "forgotten"}


def _row(conn: Connection, memory: UUID) -> dict[str, Any]:
    row = conn.execute("SELECT * FROM memories WHERE id = %s", (memory,)).fetchone()
    assert row is not None
    return row


LATER = [
    "UPDATE memories SET expires_at = expires_at + interval '1 s' WHERE id = '{memory}'",
    "UPDATE memories SET expires_at = expires_at + interval '1 s' WHERE id = '{rule}'",
    "UPDATE memories SET last_used_at = now(), expires_at = now() + interval '90 days' WHERE id = '{memory}'",
    "UPDATE transcripts SET purge_after = purge_after + interval '1 day'",
    "UPDATE rejected_events SET purge_after = purge_after + interval '1 day'",
]


@pytest.mark.parametrize("statement", LATER)
def test_nothing_is_kept_longer_than_it_was_said_to_be(shared: Database, statement: str) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        memory = rows.insert_memory(conn, org, "a fact", expires_at=PAST + timedelta(days=30))
        rule = rows.insert_memory(conn, org, "a rule", kind="rule", expires_at=PAST + timedelta(days=30))
        run = rows.insert_run(conn, org)
        conn.execute("INSERT INTO transcripts VALUES (%s, %s, 'x', 1, now() + interval '1 day')", (run, org.id))
        conn.execute("INSERT INTO rejected_events (id, reason, detail, body, purge_after)"
                     " VALUES (uuidv7(), 'not_json', '', '', now() + interval '1 day')")  # fmt: skip
    done = rows.psql(shared, "worker", statement.format(memory=memory, rule=rule))
    assert "what is kept until a date is not kept longer" in done.stderr


def test_a_memory_ends_within_ten_years_whoever_writes_it(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn, pytest.raises(psycopg.errors.CheckViolation, match="memories_end"):
        rows.insert_memory(conn, org, "for ever", expires_at=PAST + timedelta(days=4_000))


REFUSED = [
    '{"facts": 29}', '{"facts": 0}', '{"facts": 30.5}', '{"facts": "60"}', '{"facts": [60]}', '{"facts": 4000}',
    '{"facts": null}', '{"secrets": 60}', "[60]", "60", '{"tokens": 60}', '{"rejected_events": 60}', '{"facts": true}',
]  # fmt: skip


@pytest.mark.parametrize("value", REFUSED)
def test_a_retention_no_org_may_have_is_refused_by_the_database_and_by_the_settings(
    shared: Database, value: str
) -> None:
    org = rows.fresh_org(shared)
    change = f"UPDATE orgs SET settings = settings || '{{\"retention\": {value}}}' WHERE id = {org.id}"
    assert "violates check constraint" in rows.psql(shared, "operator", change).stderr
    with pytest.raises((AfterwordError, ValueError)):
        OrgSettings.model_validate_json(f'{{"retention": {value}}}')


@pytest.mark.parametrize("name", BY_ORG)
@pytest.mark.parametrize("days", [DAYS_MIN, DAYS_MAX])
def test_an_org_may_choose_between_the_floor_and_ten_years(shared: Database, name: str, days: int) -> None:
    org = rows.fresh_org(shared, retention={name: days})
    with shared.as_role("worker") as conn:
        found = conn.execute("SELECT retention_days(%s, %s) AS days", (org.id, name)).fetchone()
    assert found == {"days": days}


def _change(database: Database, org: Org, days: dict[str, int]) -> dict[str, int]:
    with database.as_role("operator") as conn:
        known = orgs.get(conn, org.name)
        wanted = known.settings.model_copy(update={"retention": days})
        assert orgs.change(conn, known, wanted, actor="ana", reason="agreed")
        return retention.shortened(conn, known)


def test_shorter_holds_for_what_there_is_and_longer_for_what_comes(shared: Database) -> None:
    org = rows.fresh_org(shared)
    far = datetime.now(UTC) + timedelta(days=80)
    with shared.as_role("worker") as conn:
        fact = rows.insert_memory(conn, org, "a fact", expires_at=far)
        rule = rows.insert_memory(conn, org, "a rule", kind="rule", expires_at=far)
        run = rows.insert_run(conn, org)
        conn.execute("INSERT INTO transcripts VALUES (%s, %s, 'x', 1, %s)", (run, org.id, far))
        assert _change(shared, org, {"facts": 40, "transcripts": 30}) == {
            "memories": 1,
            "transcripts": 1,
            "drops": 0,
            "outcomes": 0,
        }
        short = _row(conn, fact)["expires_at"]
        assert short < datetime.now(UTC) + timedelta(days=41)
        assert _row(conn, rule)["expires_at"] == far
        assert _change(shared, org, {"facts": 365}) == {"memories": 0, "transcripts": 0, "drops": 0, "outcomes": 0}
        assert _row(conn, fact)["expires_at"] == short


def test_recalls_go_a_year_after_they_were_made_or_as_the_org_says(shared: Database) -> None:
    org, other = rows.fresh_org(shared), rows.fresh_org(shared, retention={"recalls": 30})
    with rows.as_admin(shared) as conn:
        for each in (org, other):
            for days in (400, 100, 1):
                conn.execute(
                    "INSERT INTO recalls (id, org_id, token_id, actor, mode, hits, excluded, at) VALUES"
                    " (uuidv7(), %s, uuidv7(), 'a', 'newest', '[]', '{}', now() - make_interval(days => %s))",
                    (each.id, days),
                )
    with shared.as_role("worker") as conn:
        assert (_purge(conn, org), _purge(conn, other)) == ({"recalls": 1}, {"recalls": 2})


def test_a_dead_letters_envelope_goes_when_its_transcript_would(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        for state, days in (("dead_letter", 31), ("dead_letter", 29), ("extracted", 31)):
            run = rows.insert_run(conn, org, state, **({"died_in": "extracted"} if state == "dead_letter" else {}))
            conn.execute("INSERT INTO envelopes VALUES (%s, %s, '{}')", (run, org.id))
            conn.execute("UPDATE runs SET state_at = now() - make_interval(days => %s) WHERE id = %s", (days, run))
        assert _purge(conn, org) == {"envelopes": 1}


def test_two_purges_at_once_do_the_work_of_one(database: Database) -> None:
    org = database.org("acme")
    with database.as_role("worker") as conn:
        _fill(conn, org, 20)
    done: list[Counter[str]] = []

    def purge(role: str) -> None:
        with database.as_role(role) as conn:
            done.append(_purge(conn, max_rows=3))

    threads = [threading.Thread(target=purge, args=(role,)) for role in ("worker", "operator")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(done, Counter()) == {"expired": 20, "renewals": 20, "forgotten": 20, "transcripts": 20}
    with database.as_role("worker") as conn:
        entries = conn.execute("SELECT sum((detail ->> 'rows')::integer) AS n FROM ledger WHERE subject_kind = 'store'")
        assert entries.fetchone() == {"n": 80}


def _purge_until_killed(database: Database) -> None:
    with database.as_role("operator") as conn, conn.transaction():
        assert retention.purge_batch(conn, actor="ana", max_rows=2)
        with rows.as_admin(database) as admin:
            admin.execute("SELECT pg_terminate_backend(%s)", (conn.info.backend_pid,))
        conn.execute("SELECT 1")


def test_a_purge_that_is_killed_leaves_its_batch_whole(database: Database) -> None:
    org = database.org("acme")
    with database.as_role("worker") as conn:
        _fill(conn, org, 3)
        before = _find(conn, org)
        with pytest.raises(psycopg.OperationalError):
            _purge_until_killed(database)
        assert _find(conn, org) == before
        assert conn.execute("SELECT FROM ledger WHERE subject_kind = 'store'").fetchall() == []
        assert _purge(conn) == before


def test_nobody_purges_but_what_is_past_its_date(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        memory = rows.insert_memory(conn, org, "a fact")
    for role, call in (
        ("operator", f"SELECT empty_memories('{{{memory}}}', 'x', 'y')"),
        ("worker", "SELECT purge_store('tokens', '{}', 'x')"),
        ("agent", "SELECT purge_due('x')"),
        ("reviewer", "SELECT purge_due('x')"),
        ("reviewer", "SELECT * FROM past_date"),
    ):
        assert "permission denied" in rows.psql(shared, role, call).stderr, call


def test_gauges_show_for_how_long_something_is_due(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        _purge(conn)
        assert retention.overdue_seconds(conn) == {}
        rows.insert_memory(conn, org, "old", expires_at=GONE)
        assert 86_000 < retention.overdue_seconds(conn)["expired"] < 87_000
        _purge(conn)


def test_every_store_that_is_found_is_purged_and_counted(shared: Database) -> None:
    with rows.as_admin(shared) as conn:
        row = conn.execute("SELECT pg_get_viewdef('afterword.past_date'::regclass) AS found,"
                           " pg_get_functiondef('afterword.purge_due'::regproc) AS purged").fetchone()  # fmt: skip
    assert row is not None
    assert set(re.findall(r"'(\w+)'::text AS store", row["found"])) <= set(retention.STORES)
    found = set(re.findall(r"SELECT '(\w+)'::text", row["found"]))
    purged = re.search(r"ARRAY\[([^]]+)\]", row["purged"])
    assert purged is not None
    assert found == set(re.findall(r"\w+", purged[1])) == set(retention.STORES)


def test_whatever_has_an_end_has_its_date_on_every_row(shared: Database) -> None:
    wanted = {(item.table, item.dated) for item in REGISTRY if item.keeps is not None}
    assert {dated for _, dated in wanted} == {"expires_at", "purge_after", "at"}
    with rows.as_admin(shared) as conn:
        found = conn.execute(
            "SELECT c.relname, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid"
            " WHERE c.relnamespace = 'afterword'::regnamespace AND a.attnotnull"
        ).fetchall()
    assert wanted <= {(row["relname"], row["attname"]) for row in found}


def test_what_takes_the_place_of_a_purged_memory_keeps_no_hash_of_it(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        old, new = rows.insert_memory(conn, org, "Ana is 41", expires_at=GONE), rows.insert_memory(conn, org, "older")
        conn.execute("UPDATE memories SET status = 'superseded', superseded_by = %s, valid_to = now() WHERE id = %s",
                     (new, old))  # fmt: skip
        conn.execute("UPDATE memories SET previous_hash = sha256('Ana is 41') WHERE id = %s", (new,))
        assert _purge(conn, org) == {"expired": 1}
        assert _row(conn, new)["previous_hash"] is None
        assert _row(conn, new)["content"] == "older"
