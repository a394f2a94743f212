"""Orgs and their settings: every change an entry in the ledger, written by the database in the same transaction."""

from __future__ import annotations

from typing import Any

from psycopg.types.json import Jsonb

from db import events, ledger
from db.connect import Connection
from db.events import Org
from db.sql import query
from pipeline.errors import AfterwordError
from pipeline.org import OrgSettings

DEFAULT_NAMESPACE = "default"


class UnknownOrg(AfterwordError):
    """There is no such org."""


def create(conn: Connection, name: str, *, actor: str) -> bool:
    """Create an org with its default namespace; False when it stands already."""
    with conn.transaction():
        params = {"name": name, "settings": Jsonb(_as_json(OrgSettings())), "actor": actor}
        row = conn.execute(query("operate.create_org"), params).fetchone()
        if row is None:
            return False
        conn.execute(query("operate.default_namespace"), {"org_id": row["id"], "name": DEFAULT_NAMESPACE})
    return True


def get(conn: Connection, name: str) -> Org:
    """Raises UnknownOrg with the names that exist."""
    found = events.orgs(conn, names=[name])
    if not found:
        known = ", ".join(row["name"] for row in conn.execute(query("operate.all_orgs"))) or "none yet"
        raise UnknownOrg(f"no org named {name!r} (known: {known}); create it with: afterword org create {name}")
    return found[0]


def every(conn: Connection) -> list[Org]:
    """All orgs, by name."""
    names = [row["name"] for row in conn.execute(query("operate.all_orgs"))]
    return sorted(events.orgs(conn, names=names), key=lambda org: org.name)


def change(conn: Connection, org: Org, settings: OrgSettings, *, actor: str, reason: str) -> bool:
    """Write new settings; False when somebody else changed them meanwhile. A trigger ledgers it."""
    if settings == org.settings:
        return True
    with conn.transaction():
        row = conn.execute(query("operate.lock_org"), {"id": org.id}).fetchone()
        if row is None or OrgSettings.model_validate(row["settings"]) != org.settings:
            return False
        params = {"id": org.id, "settings": Jsonb(_as_json(settings)), "actor": actor, "reason": reason}
        conn.execute(query("operate.set_org"), params)
    return True


def _as_json(settings: OrgSettings) -> dict[str, Any]:
    """Sets in order: as they iterate, two processes would write one setting in two ways."""
    plain = settings.model_dump(mode="json")
    return {key: sorted(value) if isinstance(value, list) else value for key, value in plain.items()}


def create_space(conn: Connection, org: Org, name: str, tier: str, *, actor: str, reason: str | None = None) -> bool:
    """Add a space; False when one of that name stands already, which stays as it is."""
    with conn.transaction():
        params = {"org_id": org.id, "name": name, "tier": tier}
        if conn.execute(query("operate.create_space"), params).rowcount == 0:
            return False
        detail = {"tier": tier} | ({"reason": reason} if reason else {})
        ledger.record(conn, org_id=org.id, subject=("space", name), actor=actor, action="space_created", detail=detail)
    return True
