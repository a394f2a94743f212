"""The ledger from outside: one canonical text in two languages, nothing rewritten, seals that find what was done."""

from __future__ import annotations

import threading
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from psycopg import errors, sql

from db import ledger, runs
from db.connect import Connection
from db.ledger import Seal
from pipeline.errors import LedgerBroken
from pipeline.states import RunState
from tests.integration.db import rows
from tests.services import Database

LOGINS = ("agent", "reviewer", "operator", "worker")

DETAILS: list[dict[str, Any]] = [
    {},
    {"é": "ß", "e": "日本語 🦊", "zz": "\u2028\u00a0"},
    {"quote": 'a "b" \\ / c', "controls": "\b\f\n\r\t\x01\x1f\x7f"},
    {"b": 1, "a": {"ccc": [1, [2, {"x": None}], []], "bb": {}}, "aaaa": True, "aa": False},
    {"small": 1e-7, "large": 1e22, "exact": 0.1, "sum": 0.1 + 0.2, "whole": 1.0, "tiny": 5e-324, "minus": -2.5e-9},
    {"int": 2**70, "zero": 0, "negative": -1},
    {"": "the empty key", "a b": "space", 'q"': "quote in a key"},
]


def _one(conn: Connection, where: str = "true") -> dict[str, Any]:
    row = conn.execute(sql.SQL("SELECT * FROM ledger WHERE {} ORDER BY id DESC LIMIT 1").format(sql.SQL(where)))
    found = row.fetchone()
    assert found is not None
    return found


@pytest.mark.parametrize("detail", DETAILS)
def test_both_languages_hash_alike(shared: Database, detail: dict[str, Any]) -> None:
    org = rows.fresh_org(shared)
    with shared.as_role("worker") as conn:
        for org_id, payload in product((org.id, None), (None, {"text": "kept apart ☃"})):
            if payload is None or org_id is not None:
                ledger.record(conn, org_id=org_id, subject=("run", "sé"), actor="über", action="tested",
                              detail=detail, payload=payload)  # fmt: skip
        assert ledger.verify(conn).entries > 3


def test_numbers_written_by_sql_keep_their_digits(shared: Database) -> None:
    with shared.as_role("worker") as conn:
        conn.execute(
            "INSERT INTO ledger (subject_kind, subject_id, actor, action, detail) VALUES ('run', 'x', 'y', 'z',"
            ' \'{"price": 1.10, "share": 0.33333333333333333333, "e": 1.5e-12, "none": -0.0}\')'
        )
        ledger.verify(conn)


def test_the_separator_of_the_hashed_text_stands_in_no_field(shared: Database) -> None:
    """Otherwise ('a', 'b|c') and ('a|b', 'c') would have one hash, and one could be turned into the other."""
    with shared.as_role("worker") as conn:
        for subject, actor in ((("a", "b\x1fc"), "x"), (("a\x1fb", "c"), "x"), (("a", "b"), "x\x1fy")):
            with pytest.raises(errors.CheckViolation, match="ledger_unambiguous"):
                ledger.record(conn, org_id=None, subject=subject, actor=actor, action="tested")


@pytest.mark.parametrize("statement", [
    "UPDATE ledger SET actor = 'somebody else'", "UPDATE ledger SET actor = 'x' WHERE false", "DELETE FROM ledger",
    "TRUNCATE ledger CASCADE", "UPDATE seals SET total = 0", "DELETE FROM seals", "TRUNCATE seals",
    "MERGE INTO ledger l USING orgs o ON l.org_id = o.id WHEN MATCHED THEN DELETE",
])  # fmt: skip
def test_nobody_changes_or_removes_what_is_written(shared: Database, statement: str) -> None:
    with rows.as_admin(shared) as admin:
        with pytest.raises(errors.InsufficientPrivilege, match="is append-only"):
            admin.execute(statement)
        admin.execute("SET ROLE afterword_owner")
        with pytest.raises(errors.InsufficientPrivilege):
            admin.execute(statement)
    for login in LOGINS:
        assert "ERROR" in rows.psql(shared, login, statement).stderr


@pytest.mark.parametrize("column", ["id", "transaction", "at", "hash"])
def test_no_login_says_when_or_as_which_entry_it_writes(shared: Database, column: str) -> None:
    value = {"id": "7", "transaction": "'3'", "at": "now()", "hash": "sha256('x')"}[column]
    overriding = "OVERRIDING SYSTEM VALUE" if column == "id" else ""
    for login in LOGINS:
        done = rows.psql(
            shared,
            login,
            f"INSERT INTO ledger (subject_kind, subject_id, actor, action, {column}) {overriding}"
            f" VALUES ('run', 'x', 'y', 'z', {value})",
        )
        refused = "is a generated column" if column == "hash" else "permission denied"
        assert refused in done.stderr, (login, column)


def test_a_transaction_that_runs_is_sealed_only_after_it_commits(database: Database) -> None:
    """The open one wrote first; what committed after it waits with it, so that the order is (transaction, id)."""
    with database.as_role("worker") as early, database.as_role("worker") as late, database.as_role("worker") as keeper:
        ledger.seal(keeper)
        with early.transaction():
            ledger.record(early, org_id=None, subject=("run", "early-1"), actor="a", action="tested")
            ledger.record(late, org_id=None, subject=("run", "late"), actor="a", action="tested")
            ledger.record(early, org_id=None, subject=("run", "early-2"), actor="a", action="tested")
            assert ledger.seal(keeper) is None
            assert ledger.unsealed(keeper) == 1  # what it can see; the open one's are invisible yet
        sealed = ledger.seal(keeper)
        assert sealed is not None
        assert sealed.entries == 3
        order = keeper.execute("SELECT subject_id FROM ledger ORDER BY transaction, id").fetchall()
        assert [row["subject_id"] for row in order][-3:] == ["early-1", "early-2", "late"]
        assert ledger.verify(keeper).sealed == sealed.total
        assert ledger.unsealed(keeper) == 0


def test_a_rolled_back_entry_leaves_a_chain_that_verifies(database: Database) -> None:
    with database.as_role("worker") as conn:
        with conn.transaction(force_rollback=True):
            ledger.record(conn, org_id=None, subject=("run", "gone"), actor="a", action="tested")
        ledger.record(conn, org_id=None, subject=("run", "stays"), actor="a", action="tested")
        sealed = ledger.seal(conn)
        assert sealed is not None
        assert sealed.entries == 1
        assert ledger.verify(conn) == ledger.Verdict(entries=1, sealed=1, seals=1, witnessed=0)


def test_two_sealers_at_once_make_one_chain(database: Database) -> None:
    """The second read the same last seal before the first committed; both would cover the same entries."""
    with database.as_role("worker") as first, database.as_role("worker") as second:
        for number in range(3):
            ledger.record(first, org_id=None, subject=("run", str(number)), actor="a", action="tested")
        made: list[Seal | None] = []
        with first.transaction():
            assert ledger.seal(first) is not None
            other = threading.Thread(target=lambda: made.append(ledger.seal(second)))
            other.start()
            rows.wait_until_blocked(database)
        other.join(20)
        assert made == [None]
        ledger.record(first, org_id=None, subject=("run", "4"), actor="a", action="tested")
        assert ledger.seal(second) is not None
        assert ledger.verify(first).seals == 2


def test_writers_and_a_sealer_at_once_end_in_a_chain_that_verifies(database: Database) -> None:
    """Four writers of overlapping transactions, one sealer between them; every entry is sealed exactly once."""
    stop = threading.Event()
    failed: list[BaseException] = []

    def write(number: int) -> None:
        try:
            with database.as_role("worker") as conn:
                for turn in range(60):
                    with conn.transaction():
                        for part in range(1 + turn % 3):
                            ledger.record(conn, org_id=None, subject=("run", f"{number}-{turn}-{part}"), actor="a",
                                          action="tested")  # fmt: skip
        except BaseException as error:
            failed.append(error)

    def keep_sealing() -> None:
        with database.as_role("worker") as conn:
            while not stop.is_set():
                ledger.seal(conn)

    writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    sealer = threading.Thread(target=keep_sealing)
    for thread in [sealer, *writers]:
        thread.start()
    for thread in writers:
        thread.join(60)
    stop.set()
    sealer.join(20)
    assert failed == []
    with database.as_role("worker") as conn:
        ledger.seal(conn)
        seen = ledger.verify(conn)
    assert seen.entries == seen.sealed == 4 * 120
    assert seen.seals > 1


def _chain(conn: Connection, seals: int = 4, each: int = 5) -> list[Seal]:
    made = []
    for number in range(seals):
        with conn.transaction():
            for part in range(each):
                ledger.record(conn, org_id=None, subject=("run", f"{number}-{part}"), actor="a", action="tested")
        seal = ledger.seal(conn)
        assert seal is not None
        made.append(seal)
    return made


def test_entries_after_the_last_seal_are_counted_and_checked(database: Database) -> None:
    with database.as_role("worker") as conn:
        _chain(conn, seals=2)
        for _ in range(3):
            ledger.record(conn, org_id=None, subject=("run", "later"), actor="a", action="tested")
        seen = ledger.verify(conn)
        assert (seen.entries, seen.sealed) == (13, 10)


DAMAGE = {
    "a changed actor": ("UPDATE ledger SET actor = 'b' WHERE id = 7", "entry 7 was changed"),
    "a changed detail": ("UPDATE ledger SET detail = '{\"x\": 1}' WHERE id = 7", "seal 2 does not match"),
    "a moved time": ("UPDATE ledger SET at = at + interval '1 us' WHERE id = 7", "seal 2 does not match"),
    "a removed entry": ("DELETE FROM ledger WHERE id = 7", "seal 2 covers 10 entries; 9 stand before it"),
    "a cut tail": ("DELETE FROM ledger WHERE id > 16", "seal 4 covers 20 entries"),
    "an entry slipped in": (
        "INSERT INTO ledger (transaction, subject_kind, subject_id, actor, action)"
        " SELECT transaction, 'run', 'x', 'a', 'tested' FROM ledger WHERE id = 7",
        "seal 2 covers 10 entries; 11 stand before it",
    ),
    "two entries exchanged": (
        "UPDATE ledger SET subject_id = CASE id WHEN 7 THEN '1-2' ELSE '1-1' END WHERE id IN (7, 8)",
        "seal 2 does not match",
    ),
    "a forged seal": ("UPDATE seals SET hash = sha256('x') WHERE id = 3", "seal 3 does not match"),
    "a removed seal": ("DELETE FROM seals WHERE id = 2", "seal 3 covers 15 entries"),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_verify_finds(database: Database, case: str) -> None:
    """By somebody who is superuser and switches the triggers off. The hash column follows by itself, so that the
    seal is what tells; an actor is changed together with a hash that is not its own."""
    statement, found = DAMAGE[case]
    with database.as_role("worker") as conn, rows.as_admin(database) as admin:
        _chain(conn)
        assert ledger.verify(conn).entries == 20
        admin.execute("SET session_replication_role = replica")
        if case == "a changed actor":
            admin.execute("ALTER TABLE ledger ALTER COLUMN hash DROP EXPRESSION")
        admin.execute(sql.SQL(statement))
        with pytest.raises(LedgerBroken, match=found):
            ledger.verify(conn)


def test_a_tail_cut_with_its_seals_is_told_by_the_witness_alone(database: Database) -> None:
    with database.as_role("worker") as conn, rows.as_admin(database) as admin:
        seals = _chain(conn)
        admin.execute("SET session_replication_role = replica")
        admin.execute("DELETE FROM ledger WHERE id > 15")
        admin.execute("DELETE FROM seals WHERE id = 4")
        assert ledger.verify(conn, seals[:3]).witnessed == 3
        ledger.verify(conn)  # inside the database nothing tells
        with pytest.raises(LedgerBroken, match="the witness holds a seal"):
            ledger.verify(conn, seals)
        with pytest.raises(LedgerBroken, match="the witness holds a seal"):
            ledger.verify(conn, [replace(seals[0], hash=bytes(32))])


def test_a_rewritten_ledger_with_new_seals_is_told_by_the_witness(database: Database) -> None:
    """Whoever may write everything may also seal everything anew; the witness has the old hash."""
    with database.as_role("worker") as conn, rows.as_admin(database) as admin:
        seals = _chain(conn)
        admin.execute("SET session_replication_role = replica")
        admin.execute("UPDATE ledger SET actor = 'somebody else' WHERE id = 2")
        admin.execute("DELETE FROM seals")
        assert ledger.seal(conn) is not None
        ledger.verify(conn)
        with pytest.raises(LedgerBroken, match="the witness holds a seal"):
            ledger.verify(conn, seals)


def test_a_long_chain_verifies(database: Database) -> None:
    with database.as_role("worker") as conn:
        for number in range(5):
            conn.execute(
                "INSERT INTO ledger (subject_kind, subject_id, actor, action, detail) SELECT 'run', 'r' || n, 'a',"
                " 'tested', jsonb_build_object('n', n, 'of', %s::int) FROM generate_series(1, 5000) n",
                (number,),
            )
            assert ledger.seal(conn) is not None
        assert ledger.verify(conn) == ledger.Verdict(entries=25_000, sealed=25_000, seals=5, witnessed=0)


def test_an_erased_payload_leaves_the_chain_whole(database: Database) -> None:
    org = database.org("acme")
    with database.as_role("worker") as conn, rows.as_admin(database) as admin:
        entry = ledger.record(conn, org_id=org.id, subject=("memory", "m"), actor="a", action="tested",
                              payload={"text": "short"})  # fmt: skip
        assert _one(conn)["payload_hash"] is not None
        assert ledger.seal(conn) is not None
        admin.execute("DELETE FROM payloads WHERE entry_id = %s", (entry,))
        ledger.verify(conn)


def test_a_payload_hash_cannot_be_guessed_from_a_short_text(database: Database) -> None:
    """The same text twice has two hashes: each under a key of its own."""
    org = database.org("acme")
    with database.as_role("worker") as conn:
        for _ in range(2):
            ledger.record(conn, org_id=org.id, subject=("memory", "m"), actor="a", action="t", payload={"t": "yes"})
        hashes = conn.execute("SELECT DISTINCT payload_hash FROM ledger WHERE payload_hash IS NOT NULL").fetchall()
    assert len(hashes) == 2


def test_moves_are_recorded_with_the_rows_actor_and_reason(database: Database) -> None:
    """By the database, in the same transaction, whoever wrote the UPDATE; and none when the transaction fails."""
    org = database.org("acme")
    lease = rows.uuid7()
    with database.as_role("worker") as conn:
        run = rows.insert_run(conn, org, actor="ingest")
        runs.claim(conn, RunState.RECEIVED, lease, batch=1, lease_seconds=60)
        runs.complete(conn, [run], lease, from_state=RunState.RECEIVED, to_state=RunState.EXTRACTED, actor="extraction")
        with conn.transaction(force_rollback=True):
            rows.move(conn, run, "redacted")
        lines = ledger.timeline(conn, [str(run)])
    assert [(line["action"], line["actor"]) for line in lines] == [
        ("run_received", "ingest"),
        ("run_extracted", "extraction"),
    ]


def test_details_of_transitions_hold_no_content(database: Database) -> None:
    org = database.org("acme")
    with database.as_role("worker") as conn:
        rows.pending(conn, org, "Zanzibar is the code name")
        rows.insert_memory(conn, org, "Zanzibar ships on Friday")
        conn.execute("UPDATE memories SET content = 'Zanzibar is open', revision = 2 WHERE status = 'pending'")
        text = conn.execute("SELECT string_agg(l::text, ' ') AS all FROM ledger l").fetchone()
    assert text is not None
    assert "anzibar" not in str(text["all"])


def test_a_server_that_counts_from_below_the_last_seal_says_so(database: Database) -> None:
    """As after a logical restore into a fresh server: its transactions are numbered from the start again."""
    with database.as_role("worker") as conn:
        ledger.record(conn, org_id=None, subject=("run", "r"), actor="a", action="tested")
        assert ledger.seal(conn) is not None
        conn.execute(
            "INSERT INTO seals (previous, below, entries, total, hash)"
            " SELECT id, '900000000'::xid8, 1, total + 1, hash FROM seals"
            " ORDER BY below DESC LIMIT 1"
        )
        with pytest.raises(LedgerBroken, match="restored from a dump"):
            ledger.seal(conn)
