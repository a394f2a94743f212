"""Tokens: 256 random bits, handed over once, known to the database by their SHA-256 alone."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from db.connect import Connection
from db.sql import query
from pipeline.memory import Tier

TokenRole = Literal["agent", "reviewer", "operator"]


@dataclass(frozen=True, slots=True)
class Bearer:
    """Who a token stands for."""

    role: TokenRole
    actor: str
    agent: str | None = None
    user: str | None = None
    project: str | None = None
    workflow: str | None = None
    tiers: Sequence[str] = tuple(Tier)


def mint(conn: Connection, org_id: int, bearer: Bearer, *, lives_seconds: float) -> str:
    """A new token for `bearer` in an org, as the operator's login; returns its text, which nobody keeps."""
    token = secrets.token_urlsafe(32)
    conn.execute(query("doors.mint"), {
        "hash": hashlib.sha256(token.encode()).digest(), "org": org_id, "role": bearer.role, "actor": bearer.actor,
        "seconds": lives_seconds, "agent": bearer.agent, "user_id": bearer.user, "project": bearer.project,
        "workflow": bearer.workflow, "tiers": list(bearer.tiers) if bearer.role == "agent" else [],
    })  # fmt: skip
    return token
