"""What a door's login may be: itself, no superuser, member of nothing, owner of nothing."""

from __future__ import annotations

from typing import Final, Literal

from db.connect import Connection
from db.sql import query
from pipeline.errors import AfterwordError

LOGIN_ROLES: Final[tuple[Literal["agent", "reviewer", "operator", "worker"], ...]] = (
    "agent", "reviewer", "operator", "worker",
)  # fmt: skip


class NoGrant(AfterwordError):
    """The token is unknown, expired, revoked or made for another door."""


def over_privileged(conn: Connection) -> list[str]:
    """Why this session's login is more than a door should be; empty when it is not."""
    row = conn.execute(query("doors.login")).fetchone()
    assert row is not None
    return [f"{row['login']} {fault}" for fault, holds in row.items() if fault != "login" and holds]
