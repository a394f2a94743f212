"""Who may erase: one function under an operator's grant, owned by a role that reads no text; holds bind everybody."""

from __future__ import annotations

from dataclasses import replace

import pytest
from uuid_utils.compat import uuid7

from db import erasure, redaction, subjects
from db.connect import granted
from db.erasure import Found
from db.events import Org
from db.redaction import NewMemory
from pipeline.memory import HoldReason, content_hash
from pipeline.subjects import Keyring, Name, Sought, sought
from tests.integration.db import rows
from tests.services import Database

KEY = b"key"
ERASE = "SELECT erase(uuidv7(), '{{}}', '{{}}', '{{}}', '{{{memory}}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}')"


def who(org: Org, name: str = "Zebediah Quill") -> Sought:
    return sought(Keyring(KEY, org.id), Name("person", name))


def named_memory(database: Database, org: Org) -> str:
    with database.as_role("worker") as conn:
        return str(rows.insert_memory(conn, org, "Zebediah Quill likes tea"))


@pytest.mark.parametrize("table", ["transcripts", "envelopes", "payloads", "rejected_events", "tokens", "run_subjects"])
def test_an_operator_deletes_nothing_by_hand(shared: Database, table: str) -> None:
    assert "permission denied" in rows.psql(shared, "operator", f"DELETE FROM {table}").stderr


@pytest.mark.parametrize("role", ["agent", "reviewer", "worker"])
def test_nobody_else_may_erase(shared: Database, role: str) -> None:
    org = rows.fresh_org(shared)
    done = rows.psql(shared, role, ERASE.format(memory=named_memory(shared, org)))
    assert "permission denied for function erase" in done.stderr


def test_an_operator_without_a_grant_erases_nothing(shared: Database) -> None:
    org = rows.fresh_org(shared)
    done = rows.psql(shared, "operator", ERASE.format(memory=named_memory(shared, org)))
    assert "an operator's grant is needed" in done.stderr


def test_a_grant_erases_nothing_of_another_org(shared: Database) -> None:
    org, other = rows.fresh_org(shared), rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        theirs = erasure.find(conn, other.id, other.name, who(other))
        named_memory(shared, other)
        theirs = erasure.find(conn, other.id, other.name, who(other))
    assert len(theirs.memories) == 1
    with shared.as_role("operator") as conn, granted(conn, rows.token(shared, org, "operator")):
        marked = erasure.mark(conn, who(org), "request")
        receipt = erasure.erase(conn, marked, theirs, dict.fromkeys(theirs.runs, "erased:x"))
    assert {name: count for name, count in receipt["erased"].items() if count} == {}
    with shared.as_role("worker") as conn:
        assert erasure.find(conn, other.id, other.name, who(other)) == theirs


def test_a_memory_goes_in_every_status_and_a_pending_one_is_closed(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        active = rows.insert_memory(conn, org, "Zebediah Quill likes tea", classes=("person",),
                                    subject=rows.about("zebediah quill"))  # fmt: skip
        held = rows.pending(conn, org, "Zebediah Quill hates tea")
    _forget(shared, org)
    with shared.as_role("worker") as conn:
        found = conn.execute(
            "SELECT id, status, content, rationale, evidence, subject_id, author FROM memories WHERE org_id = %s"
            " ORDER BY status", (org.id,)).fetchall()  # fmt: skip
        left = conn.execute("SELECT count(*) AS n FROM reviews WHERE org_id = %s AND closed_at IS NULL", (org.id,))
        assert left.fetchone() == {"n": 0}
    assert [(row.pop("id"), row.pop("status")) for row in found] == [(active, "active"), (held, "tombstoned")]
    assert {str(row) for row in found} == {
        str({"content": "", "rationale": "", "evidence": [], "subject_id": None, "author": "erased"})
    }


def _forget(database: Database, org: Org) -> dict[str, int]:
    with database.as_role("worker") as conn:
        found = erasure.find(conn, org.id, org.name, who(org))
    with database.as_role("operator") as conn, granted(conn, rows.token(database, org, "operator")):
        marked = erasure.mark(conn, who(org), "request")
        receipt = erasure.erase(conn, marked, found, {run: f"erased:{run}" for run in found.runs})
        erasure.finish(conn, marked)
    erased: dict[str, int] = receipt["erased"]
    return erased


def test_what_is_erased_stays_so(shared: Database) -> None:
    org = rows.fresh_org(shared)
    memory = named_memory(shared, org)
    assert _forget(shared, org)["memories"] == 1
    again = f"UPDATE memories SET content = 'Zebediah', erased_at = NULL WHERE id = '{memory}'"
    assert "a text changes only while it waits" in rows.psql(shared, "worker", again).stderr


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM transcripts WHERE run_id = '{run}'",
        f"UPDATE memories SET {rows.EMPTIED} WHERE run_id = '{{run}}'",
        "UPDATE runs SET event = '{{}}', erased_at = now() WHERE id = '{run}'",
    ],
)
def test_a_hold_binds_whoever_purges(shared: Database, statement: str) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        run = rows.insert_run(conn, org, event='{"user": "u"}')
        rows.insert_memory(conn, org, "Zebediah Quill likes tea", run=run)
        conn.execute("INSERT INTO transcripts VALUES (%s, %s, 'x', 1, now())", (run, org.id))
    with shared.as_role("operator") as conn, granted(conn, rows.token(shared, org, "operator")):
        erasure.place_hold(conn, who(org), "case 12", Found(runs={run: ""}))
    done = rows.psql(shared, "worker", statement.format(run=run))
    assert (done.returncode, done.stdout.split()[-1]) == (0, "0")
    with shared.as_role("operator") as conn, granted(conn, rows.token(shared, org, "operator")):
        assert erasure.release_hold(conn, who(org), "closed") is not None
    assert rows.psql(shared, "worker", statement.format(run=run)).stdout.split()[-1] == "1"


def test_names_are_kept_as_hashes_and_once(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        run = rows.insert_run(conn, org)
        names = [
            (Keyring(KEY, org.id), run, None, [Name("person", "Zebediah Quill"), Name("person", "zebediah quill")])
        ]
        subjects.record(conn, names)
        subjects.record(conn, names)
        kept = conn.execute("SELECT * FROM run_subjects WHERE org_id = %s", (org.id,)).fetchall()
    assert [row["hash"] for row in kept] == [who(org).hash]


def test_a_second_key_is_refused(database: Database) -> None:
    with database.as_role("worker") as conn:
        subjects.check_key(conn, b"first")
        subjects.check_key(conn, b"first")
        with pytest.raises(Exception, match="not the key this database was filled under"):
            subjects.check_key(conn, b"second")


def test_a_hash_goes_with_what_it_leads_to(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        run = rows.insert_run(conn, org)
        memory = rows.insert_memory(conn, org, "Zebediah Quill likes tea", run=run)
        conn.execute("INSERT INTO transcripts VALUES (%s, %s, 'x', 1, now())", (run, org.id))
        name = [Name("person", "Zebediah Quill")]
        subjects.record(conn, [(Keyring(KEY, org.id), run, one, name) for one in (None, memory)])

        def left() -> list[object]:
            found = conn.execute("SELECT memory_id FROM run_subjects WHERE org_id = %s", (org.id,)).fetchall()
            return sorted((row["memory_id"] for row in found), key=str)

        assert left() == sorted([None, memory], key=str)
        conn.execute("DELETE FROM transcripts WHERE run_id = %s", (run,))
        assert left() == [memory]
        conn.execute(f"UPDATE memories SET {rows.EMPTIED} WHERE id = %s", (memory,))
        assert left() == []


def test_no_hash_of_an_erased_text_is_left_in_what_took_its_place(shared: Database) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        old = rows.insert_memory(conn, org, "Zebediah Quill likes tea")
        held, stands = (rows.draft(org, rows.insert_run(conn, org), text) for text in ("He likes it.", "She likes it."))
        hashed = content_hash("Zebediah Quill likes tea")
        waits = replace(held, hold_reasons=(HoldReason.EDITED,), replaces=(old,))
        redaction.insert_memories(
            conn, [NewMemory(waits, uuid7(), "ana", hashed), NewMemory(stands, None, "ana", hashed)]
        )
        conn.execute("UPDATE memories SET status = 'superseded', superseded_by = %s WHERE id = %s", (stands.id, old))
        chained = "SELECT count(*) AS n FROM memories WHERE org_id = %s AND %s IN (previous_hash, content_hash)"
        assert conn.execute(chained, (org.id, hashed)).fetchone() == {"n": 3}
    _forget(shared, org)
    with shared.as_role("worker") as conn:
        assert conn.execute(chained, (org.id, hashed)).fetchone() == {"n": 0}
