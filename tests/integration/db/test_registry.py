"""The retention registry against a migrated database: no column that could hold content is missing from it."""

from __future__ import annotations

import re

import psycopg

from pipeline.retention import CONTENT_FREE, REGISTRY
from tests.services import Database

_COLUMNS = """
SELECT c.relname, a.attname, a.attstattarget FROM pg_attribute a
JOIN pg_class c ON c.oid = a.attrelid JOIN pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_type e ON e.oid = t.typelem AND t.typcategory = 'A'
WHERE c.relnamespace = 'afterword'::regnamespace AND c.relkind IN ('r', 'p', 'm') AND a.attnum > 0
  AND NOT a.attisdropped
  AND coalesce(e.typname, t.typname) NOT IN
    ('int2', 'int4', 'int8', 'float4', 'float8', 'numeric', 'bool', 'uuid', 'timestamptz', 'interval', 'xid8', 'date')
"""
CONTENT = {(item.table, column) for item in REGISTRY for column in item.columns}
FREE = {(table, column) for table, columns in CONTENT_FREE.items() for column in columns}


def _columns(database: Database) -> dict[tuple[str, str], int | None]:
    """(table, column) of whatever could hold content, with its statistics target; one table for all stamps."""
    with psycopg.connect(database.admin) as conn:
        rows = conn.execute(_COLUMNS).fetchall()
    return {(re.sub(r"^embeddings_\d+$", "embeddings", table), column): target for table, column, target in rows}


def test_every_column_is_either_content_with_a_purpose_or_declared_free_of_it(database: Database) -> None:
    assert _columns(database).keys() == CONTENT | FREE
    assert not CONTENT & FREE


def test_a_table_nobody_listed_is_seen(database: Database) -> None:
    with psycopg.connect(database.admin, autocommit=True) as conn:
        conn.execute("CREATE TABLE afterword.diary (id uuid, entry text, tags text[], raw bytea, at timestamptz)")
    unlisted = _columns(database).keys() - CONTENT - FREE
    assert unlisted == {("diary", "entry"), ("diary", "tags"), ("diary", "raw")}


def test_the_planner_keeps_no_sample_of_content(database: Database) -> None:
    kept = {column for column, target in _columns(database).items() if column in CONTENT and target != 0}
    assert kept == set()


def test_org_and_date_columns_exist(database: Database) -> None:
    with psycopg.connect(database.admin) as conn:
        rows = conn.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'afterword'"
        ).fetchall()
    standing = {(re.sub(r"^embeddings_\d+$", "embeddings", table), column) for table, column in rows}
    named = {(item.table, column) for item in REGISTRY for column in (item.org, item.dated) if column}
    assert named <= standing


def test_what_has_no_end_goes_with_something_that_has_or_says_why() -> None:
    assert {item.name for item in REGISTRY if item.keeps is None} == {
        "embeddings", "runs", "envelopes", "payloads", "reviews", "run_subjects", "erasures", "legal_holds"
    }  # fmt: skip
    assert len({item.name for item in REGISTRY}) == len(REGISTRY)
    assert all(item.purpose and item.subject and item.eraser for item in REGISTRY)
