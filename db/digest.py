"""The digest's rows, as the agents' login: one call that reads and records, inside a granted transaction."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from db.connect import Connection, DatabaseError
from db.doors import NoGrant
from db.sql import query
from pipeline.memory import ScopeKind
from pipeline.recall.digest import Digest, File, Item, render


@dataclass(frozen=True, slots=True)
class Handed:
    """A digest, and the record of it."""

    recall_id: UUID
    digest: Digest


def digest(conn: Connection, *, characters_max: int) -> Handed:
    """What this grant's session starts from; what was left out is written beside it. Raises NoGrant."""
    try:
        rows = conn.execute(query("rules.digest")).fetchall()
    except DatabaseError as error:
        if error.sqlstate == "42501":
            raise NoGrant(str(error.diag.message_primary)) from None
        raise
    files = {row["namespace"]: File(row["namespace"], row["path"] or f"{row['namespace']}.md", row["title"],
                                    row["preamble"]) for row in rows if row["namespace"]}  # fmt: skip
    items = [
        Item(row["memory_id"], row["namespace"], ScopeKind(row["scope_kind"]), row["content"], row["occurrences"],
             row["observed_at"])
        for row in rows if row["memory_id"]
    ]  # fmt: skip
    made = render(list(files.values()), items, characters_max=characters_max)
    recall: UUID = rows[0]["recall_id"]
    params = {"recall": recall, "block_hash": made.sha256, "omitted": list(made.omitted)}
    conn.execute(query("rules.digest_rendered"), params)
    return Handed(recall, made)
