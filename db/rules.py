"""Rules and preferences as people keep them: recorded as candidates, guarded at approval, moved, taken back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from db import ledger
from db.connect import Connection
from db.events import Org
from db.reviews import VerdictRefused, asked, asked_all
from db.sql import query
from pipeline.consolidation.similarity import LEXICAL_FLOOR, lexical
from pipeline.manifest import Namespace, NamespaceRefused
from pipeline.memory import Scope, ScopeKind
from pipeline.redaction.redactor import without_high


class NearDuplicate(VerdictRefused):
    """An active rule says nearly the same."""


def record_feedback(conn: Connection, content: str, namespace: str, scope: Scope) -> UUID:
    """The run that carries a person's correction, as a reviewer. Raises NamespaceRefused, which is on record."""
    params = {"content": without_high(content), "namespace": namespace, "scope_kind": scope.kind,
              "scope_value": scope.value}  # fmt: skip
    return _admitted(asked(conn, "rules.feedback", params)["run"], namespace)


def record_rules(conn: Connection, namespace: str, contents: Sequence[str]) -> UUID:
    """The run that carries rules of a person's own file, as a reviewer of the whole org. Raises NamespaceRefused."""
    params = {"namespace": namespace, "contents": [without_high(text) for text in contents]}
    return _admitted(asked(conn, "rules.record_rules", params)["run"], namespace)


def _admitted(run: UUID | None, namespace: str) -> UUID:
    if run is None:
        raise NamespaceRefused(f"no namespace {namespace!r} in this org's manifest")
    return run


def standing(conn: Connection, namespace: str, hashes: Sequence[bytes]) -> dict[bytes, str]:
    """Which of these contents stand as rules of a namespace (`active`) or wait to (`pending`), as a reviewer."""
    rows = conn.execute(query("rules.standing"), {"namespace": namespace, "hashes": list(hashes)})
    return {bytes(row["hash"]): row["status"] for row in rows}


def refuse_near(conn: Connection, memory: UUID) -> None:
    """The guard at approval of a rule. Raises NearDuplicate where an active one of the same scope, which this one does
    not replace, shares as many characters with it as near-exact texts do (0.72).
    """
    for row in asked_all(conn, "rules.near", {"memory": memory}):
        if not row["replaced"] and lexical(row["own"], row["content"]) >= LEXICAL_FLOOR:
            raise NearDuplicate(
                f"an active rule says nearly the same: {row['id']}. Reject this one, correct the other, or approve it "
                "beside the other: --beside"
            )


def rehome(conn: Connection, memory: UUID, namespace: str, scope: Scope | None, *, comment: str) -> str:
    """Move a rule; without `scope` it gets the namespace's own. Raises VerdictRefused."""
    params = {"memory": memory, "namespace": namespace, "comment": without_high(comment),
              "scope_kind": scope and scope.kind, "scope_value": scope and scope.value}  # fmt: skip
    return str(asked(conn, "rules.rehome", params)["done"])


def remember_preference(conn: Connection, content: str) -> UUID:
    """The run that carries it, as an agent's grant with a signed-in user."""
    run = asked(conn, "rules.remember_preference", {"content": without_high(content)})["run"]
    return UUID(str(run))


def revoke_preference(conn: Connection, memory: UUID) -> str:
    """Take a preference of the signed-in user back."""
    return str(asked(conn, "rules.revoke_preference", {"memory": memory})["done"])


def manifest(conn: Connection, org: int) -> list[Namespace]:
    """The org's namespaces, by name."""
    return [_namespace(row) for row in conn.execute(query("rules.manifest"), {"org": org})]


def _namespace(row: dict[str, Any]) -> Namespace:
    scope = Scope(ScopeKind(row["scope_kind"]), row["scope_value"])
    return Namespace(
        row["name"], scope, row["path"], row["title"], row["description"], row["preamble"], tuple(row["agents"])
    )


def write_namespace(conn: Connection, org: Org, place: Namespace, *, actor: str, changed: Sequence[str]) -> None:
    """Add a namespace or change it; an entry in the ledger, which names the fields and not what they say."""
    params = {"org": org.id, "name": place.name, "scope_kind": place.scope.kind, "scope_value": place.scope.value,
              "path": place.path, "title": place.title, "description": place.description, "preamble": place.preamble,
              "agents": list(place.agents)}  # fmt: skip
    with conn.transaction():
        conn.execute(query("rules.write_namespace"), params)
        ledger.record(
            conn, org_id=org.id, subject=("namespace", place.name), actor=actor, action="namespace_written",
            detail={"changed": sorted(changed)},
        )  # fmt: skip
