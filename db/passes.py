"""The passes' reads and writes: whose turn it is, the material of one question, proposals and drops out."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from db import ledger, rules
from db.connect import Connection
from db.sql import query
from pipeline.memory import Scope, ScopeKind
from pipeline.passes import amendment, compaction, mining
from pipeline.passes.material import Dropped, Material, PassName, Piece, Proposal
from pipeline.provenance import Provenance
from pipeline.retention import kept_days

ACTOR = "consolidation"
START = UUID(int=0)
LEASE_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Turn:
    """A pass of an org, held until `lease`; `after` is how far it is."""

    org_id: int
    name: PassName
    after: UUID
    lease: datetime


def any_due(conn: Connection) -> bool:
    """Whether a pass that an org wants is due. Makes the cursors of those that were never run."""
    conn.execute(query("passes.seed"), {"passes": list(PassName), "org": None})
    row = conn.execute(query("passes.any_due")).fetchone()
    return bool(row and row["due"])


def claim(conn: Connection, *, org: int | None = None, name: PassName | None = None) -> Turn | None:
    """The pass that is due longest; or this one of this org, due or not. None where nobody wants it, or it is held."""
    if org is not None:
        conn.execute(query("passes.seed"), {"passes": list(PassName), "org": org})
    params = {"org": org, "pass": name, "lease_seconds": LEASE_SECONDS}
    row = conn.execute(query("passes.claim"), params).fetchone()
    return None if row is None else Turn(row["org_id"], PassName(row["pass"]), row["after"], row["due_at"])


def advance(conn: Connection, turn: Turn, *, after: UUID, seconds: float) -> bool:
    """The cursor stands at `after` and is due again in so many seconds; False where the lease was lost."""
    params = {"org": turn.org_id, "pass": turn.name, "lease": turn.lease, "after": after, "seconds": seconds}
    return conn.execute(query("passes.advance"), params).rowcount == 1


def select(conn: Connection, org: int, name: PassName, after: UUID) -> Material | None:
    """The material of the next question of a pass; None where nothing is left beyond `after`."""
    match name:
        case PassName.MINING:
            return _outcomes(conn, org, after)
        case PassName.COMPACTION:
            return _rules(conn, org, after, least=2, workflow=False)
        case PassName.AMENDMENT:
            return _rules(conn, org, after, least=amendment.RULES_MIN, workflow=True)


def _rules(conn: Connection, org: int, after: UUID, *, least: int, workflow: bool) -> Material | None:
    params = {"org": org, "after": after, "least": least, "workflow": workflow}
    for group in conn.execute(query("passes.rule_groups"), params).fetchall():
        found = conn.execute(query("passes.rules"), {**group, "org": org, "limit": compaction.RULES_MAX})
        pieces = tuple(Piece(row["id"], row["content"]) for row in found)
        if workflow or compaction.is_due([piece.text for piece in pieces]):
            scope = Scope(ScopeKind(group["scope_kind"]), group["scope_value"])
            return Material(pieces, group["first"], group["namespace"], scope)
    return None


def _outcomes(conn: Connection, org: int, after: UUID) -> Material | None:
    found = conn.execute(query("passes.outcomes"), {"org": org, "after": after, "limit": mining.BATCH}).fetchall()
    if len(found) < mining.FLOOR:
        return None
    places = {place.name: place.description or place.title for place in rules.manifest(conn, org)}
    return Material(tuple(map(_outcome, found)), found[-1]["id"], places=places)


def _outcome(row: dict[str, Any]) -> Piece:
    facts = {key: value for key, value in row.items() if key not in ("id", "text") and value is not None}
    return Piece(row["id"], row["text"] or "", facts)


def propose(
    conn: Connection, turn: Turn, material: Material, proposal: Proposal, by: Provenance, days: dict[str, int]
) -> UUID | None:
    """The run that carries a proposal; the same one where it was made before. None: its namespace was refused."""
    place = next((one for one in rules.manifest(conn, turn.org_id) if one.name == proposal.namespace), None)
    scope = material.scope or (place.scope if place else Scope(ScopeKind.ORG))
    params = {"org": turn.org_id, "source": turn.name, "key": _key(proposal), "actor": ACTOR,
              "provenance": Jsonb(by.model_dump(mode="json") | {"pass": turn.name, "rules_revision": turn.name}),
              "candidates": Jsonb([_candidate(proposal, scope, kept_days("rule", days))])}  # fmt: skip
    row = conn.execute(query("passes.record"), params).fetchone()
    return None if row is None else row["run"]


def _key(proposal: Proposal) -> str:
    """The same for the same rule from the same sources, so that a batch that is read twice proposes once."""
    said = "\0".join([proposal.content, proposal.namespace, *sorted(map(str, proposal.sources))])
    return hashlib.sha256(said.encode()).hexdigest()[:32]


def _candidate(proposal: Proposal, scope: Scope, lifetime_days: int) -> dict[str, Any]:
    return {
        "content": proposal.content, "kind": "rule", "rationale": proposal.rationale, "evidence": [],
        "confidence": None, "hold_reasons": ["retires_active"] if proposal.replaces else [], "subject": None,
        "scope": {"kind": scope.kind, "value": scope.value}, "author_kind": "system", "author": ACTOR,
        "high_stakes": False, "importance": 3, "observed_at": datetime.now(UTC).isoformat(),
        "lifetime_days": lifetime_days, "namespace": proposal.namespace, "replaces": list(map(str, proposal.replaces)),
    }  # fmt: skip


def keep_drop(conn: Connection, turn: Turn, dropped: Dropped) -> None:
    """What goes no further: in the ledger with its reason, its text beside it."""
    ledger.record(
        conn, org_id=turn.org_id, subject=("pass", turn.name), actor=ACTOR, action="proposal_dropped",
        detail={"reason": dropped.reason}, payload={"text": dropped.text},
    )  # fmt: skip


def say_ran(conn: Connection, turn: Turn, detail: dict[str, Any]) -> None:
    """One question of a pass, in the ledger."""
    ledger.record(conn, org_id=turn.org_id, subject=("pass", turn.name), actor=ACTOR, action="pass_ran", detail=detail)


def wanted(settings: Sequence[str]) -> tuple[PassName, ...]:
    """The passes that an org's settings name."""
    return tuple(name for name in PassName if name in settings)
