"""Tokens: 256 random bits, handed over once, known to the database by their SHA-256 alone.

aw_agent_<43 characters>     its first part says whose door it opens; the hash covers the whole text
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, get_args
from uuid import UUID

from db.connect import Connection, DatabaseError
from db.doors import NoGrant
from db.reviews import asked
from db.sql import query
from pipeline.memory import Tier

TokenRole = Literal["agent", "reviewer", "operator"]
ROLES: Final[tuple[TokenRole, ...]] = get_args(TokenRole)

VALIDATOR: Final = "validator"
"""The role of an agent that is given no memory: it judges what others did, and must not judge by what they left it."""


@dataclass(frozen=True, slots=True)
class Bearer:
    """Who a token stands for. `tiers`: what an agent may recall; a validator nothing."""

    role: TokenRole
    actor: str
    agent: str | None = None
    user: str | None = None
    project: str | None = None
    workflow: str | None = None
    tiers: Sequence[str] = tuple(Tier)
    agent_role: str | None = None

    @property
    def conferred(self) -> list[str]:
        """The tiers this bearer is given."""
        return list(self.tiers) if self.role == "agent" and self.agent_role != VALIDATOR else []


@dataclass(frozen=True, slots=True)
class Grant:
    """What a token entitles to, as the database answered."""

    id: UUID
    org: str
    spaces: list[str]
    role: TokenRole
    actor: str
    agent: str | None
    user_id: str | None
    project: str | None
    workflow: str | None
    agent_role: str | None
    tiers: list[str]
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Minted:
    """A new token: its id, and its text, which nobody keeps."""

    id: UUID
    text: str


def role_of(text: str) -> TokenRole | None:
    """Whose door a token says it opens; whether it does is the database's to say."""
    return next((role for role in ROLES if text.startswith(_prefix(role))), None)


def hash_of(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def mint(conn: Connection, org_id: int, bearer: Bearer, *, lives_seconds: float) -> str:
    """A new token for `bearer` in an org, as the operator's login; its text."""
    return create(conn, org_id, bearer, lives_seconds=lives_seconds).text


def create(
    conn: Connection, org_id: int, bearer: Bearer, *, lives_seconds: float, minted_by: str | None = None
) -> Minted:
    """The same, on record as asked for by `minted_by`."""
    text = _fresh(bearer.role)
    row = conn.execute(query("doors.mint"), {
        "hash": hash_of(text), "org": org_id, "role": bearer.role, "actor": bearer.actor, "seconds": lives_seconds,
        "agent": bearer.agent, "user_id": bearer.user, "project": bearer.project, "workflow": bearer.workflow,
        "tiers": bearer.conferred, "agent_role": bearer.agent_role, "minted_by": minted_by,
    }).fetchone()  # fmt: skip
    assert row is not None
    return Minted(row["id"], text)


def made(conn: Connection, org_id: int | None) -> list[dict[str, Any]]:
    """The tokens of an org, or of all; in the order they were made."""
    return conn.execute(query("doors.tokens"), {"org": org_id}).fetchall()


def revoke(conn: Connection, token: UUID, *, by: str) -> str:
    """`revoked`, or `already_revoked`. Raises VerdictRefused where there is none."""
    return str(asked(conn, "doors.revoke_token", {"token": token, "by": by})["done"])


def rotate(conn: Connection, token: UUID, role: TokenRole, *, overlap_seconds: float, by: str) -> Minted:
    """A successor with the same grant; the token itself ends after the overlap. Raises VerdictRefused."""
    text = _fresh(role)
    params = {"token": token, "hash": hash_of(text), "overlap": overlap_seconds, "by": by}
    return Minted(asked(conn, "doors.rotate_token", params)["id"], text)


def use(conn: Connection) -> Grant:
    """The grant of this transaction, on record as used. Raises NoGrant."""
    try:
        row = conn.execute(query("doors.use_grant")).fetchone()
    except DatabaseError as error:
        if error.sqlstate == "42501":
            raise NoGrant(str(error.diag.message_primary)) from None
        raise
    assert row is not None
    return Grant(**row)


def _fresh(role: TokenRole) -> str:
    return _prefix(role) + secrets.token_urlsafe(32)


def _prefix(role: TokenRole) -> str:
    return f"aw_{role}_"
