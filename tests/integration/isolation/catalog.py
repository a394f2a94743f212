"""What there is to reach, asked of the database itself, so that nothing new goes untried."""

from __future__ import annotations

from typing import Any, LiteralString
from uuid import UUID

import psycopg
from psycopg import sql

from tests.integration.db import rows
from tests.services import Database

DOORS = ("agent", "reviewer")
"""The logins that see one org, by their token. Operators and workers reach all, by a policy that says so."""

READABLE: LiteralString = """
  SELECT c.relname AS relation, array_agg(a.attname::text ORDER BY a.attnum) AS columns
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  WHERE c.relnamespace = 'afterword'::regnamespace AND c.relkind IN ('r', 'v', 'm', 'p', 'f')
    AND has_column_privilege(%s, c.oid, a.attnum, 'SELECT') GROUP BY 1 ORDER BY 1"""

CALLABLE: LiteralString = """
  SELECT DISTINCT p.proname::text AS name FROM pg_proc p
  WHERE p.pronamespace = 'afterword'::regnamespace AND has_function_privilege(%s, p.oid, 'EXECUTE')
    AND p.prorettype <> 'trigger'::regtype"""

TABLES: LiteralString = """
  SELECT c.relname AS name, c.relrowsecurity AND c.relforcerowsecurity AS forced,
    coalesce(array_agg(a.attname::text) FILTER (WHERE a.attname IS NOT NULL), '{}') AS columns
  FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  WHERE c.relnamespace = 'afterword'::regnamespace AND c.relkind IN ('r', 'p') GROUP BY 1, 2 ORDER BY 1"""


def readable(database: Database, role: str) -> dict[str, list[str]]:
    """Each table or view of which the login may read a column, with those columns."""
    with rows.as_admin(database) as conn:
        found = conn.execute(READABLE, (f"afterword_{role}",)).fetchall()
    return {row["relation"]: row["columns"] for row in found}


def callable_by(database: Database, role: str) -> set[str]:
    with rows.as_admin(database) as conn:
        return {row["name"] for row in conn.execute(CALLABLE, (f"afterword_{role}",))}


def tables(database: Database) -> list[dict[str, Any]]:
    with rows.as_admin(database) as conn:
        return conn.execute(TABLES).fetchall()


def rows_of(database: Database, org_id: int) -> dict[str, list[dict[str, Any]]]:
    """Every row of an org, by table; without what housekeeping counts anew."""
    found = {}
    with rows.as_admin(database) as conn:
        for table in tables(database):
            if "org_id" in table["columns"]:
                query = sql.SQL("SELECT * FROM {} WHERE org_id = %s").format(sql.Identifier("afterword", table["name"]))
                kept = [{k: v for k, v in row.items() if k != "counted_at"} for row in conn.execute(query, (org_id,))]
                found[table["name"]] = sorted(kept, key=str)
    return found


def ids_in(kept: dict[str, list[dict[str, Any]]]) -> set[str]:
    """Every id that stands anywhere in these rows: as a value, in a list, in JSON, in a text."""
    return {found for table in kept.values() for row in table for value in row.values() for found in _ids(value)}


def _ids(value: Any) -> set[str]:
    if isinstance(value, UUID):
        return {str(value)}
    if isinstance(value, dict):
        return {found for item in (*value, *value.values()) for found in _ids(item)}
    if isinstance(value, list):
        return {found for item in value for found in _ids(item)}
    if isinstance(value, str):
        return {part for part in value.replace(":", " ").split() if _is_id(part)}
    return set()


def _is_id(text: str) -> bool:
    try:
        return len(text) == 36 and bool(UUID(text))
    except ValueError:
        return False


def read_all(conn: psycopg.Connection[dict[str, Any]], readable_: dict[str, list[str]]) -> str:
    """Whatever these relations show on this connection, as one text."""
    shown = []
    for relation, columns in readable_.items():
        names = sql.SQL(", ").join(map(sql.Identifier, columns))
        found = conn.execute(sql.SQL("SELECT {} FROM {}").format(names, sql.Identifier("afterword", relation)))
        shown += [f"{relation} {row}" for row in found]
    return "\n".join(shown)
