"""The rows behind an access request, read one store after the other as a worker reads them."""

from __future__ import annotations

from typing import Any

from db.connect import Connection
from db.erasure import Found
from db.sql import query

Rows = list[dict[str, Any]]


def memories(conn: Connection, found: Found) -> Rows:
    return list(conn.execute(query("subjects.export_memories"), {"ids": list(found.memories)}))


def runs(conn: Connection, found: Found) -> Rows:
    """Sessions with their packed transcript as `body`, or None once it was purged."""
    return list(conn.execute(query("subjects.export_runs"), {"ids": list(found.runs)}))


def drops(conn: Connection, found: Found) -> Rows:
    return list(conn.execute(query("subjects.export_drops"), {"ids": list(found.drops)}))


def reviews(conn: Connection, found: Found) -> Rows:
    return list(conn.execute(query("subjects.export_reviews"), {"ids": list(found.reviews)}))


def outcomes(conn: Connection, found: Found) -> Rows:
    return list(conn.execute(query("subjects.export_outcomes"), {"ids": list(found.outcomes)}))


def recalls(conn: Connection, org_id: int, found: Found) -> Rows:
    """When and to whom memories about them were handed out."""
    params = {"org": org_id, "ids": [str(id_) for id_ in found.memories]}
    return list(conn.execute(query("subjects.export_recalls"), params))
