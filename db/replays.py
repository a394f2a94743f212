"""Replays: requested by people, carried out by the replay worker at the stated rate, org-fair, and stopped early."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from db.connect import Connection
from db.sql import query

REPLAYS_WITHOUT_FORCE = 3
STOP_SHARE = 1 / 3
STOP_FLOOR = 3  # fewer deaths than this prove nothing


@dataclass(frozen=True, slots=True)
class Selector:
    """Which dead letters; absent fields select all."""

    run: UUID | None = None
    code: str | None = None
    org: str | None = None
    since: datetime | None = None
    rejected: str | None = None
    """A reason, or the id, of rejected events; selects those instead of dead letters."""

    def params(self) -> dict[str, Any]:
        return {"run": self.run, "code": self.code, "org": self.org, "since": self.since}

    def as_json(self) -> dict[str, str]:
        given = self.params() | {"rejected": self.rejected}
        return {key: str(value) for key, value in given.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Tick:
    """What one step of a replay did: the states that got work, and whether it ended."""

    replay: UUID
    states: frozenset[str]
    rearmed: int
    status: str


def matching(conn: Connection, selector: Selector, *, cap: int) -> list[dict[str, Any]]:
    """The dead letters a replay would re-arm, oldest first."""
    return list(conn.execute(query("operate.replayable"), {**selector.params(), "cap": cap}))


def request(
    conn: Connection, selector: Selector, *, actor: str, reason: str, rate: float, cap: int, force: bool
) -> UUID:
    """Insert the request; nothing is re-armed here."""
    params = {"selector": Jsonb(selector.as_json()), "actor": actor, "reason": reason, "rate": rate, "cap": cap,
              "force": force}  # fmt: skip
    row = conn.execute(query("operate.request_replay"), params).fetchone()
    assert row is not None
    return UUID(str(row["id"]))


def tick(conn: Connection) -> Tick | None:
    """Carry an open replay one step further, each in turn; None when there is none. One transaction."""
    with conn.transaction():
        replay = conn.execute(query("replay.open"), {"rejected": False}).fetchone()
        if replay is None:
            return None
        params = _params(replay)
        rearmed = conn.execute(query("replay.rearm"), {**params, "batch": _due(replay)}).fetchall()
        left = conn.execute(query("replay.left"), params).fetchone()
        died = conn.execute(query("replay.died_again"), params).fetchone()
        assert left is not None
        assert died is not None
        total = replay["rearmed"] + len(rearmed)
        over = total >= replay["cap"] or left["matching"] <= left["refused"]
        status = _status(total, died["died"], over=over and not died["undecided"])
        conn.execute(query("replay.advance"), {**params, "status": status, "rearmed": len(rearmed),
                     "refused": left["refused"], "died_again": died["died"]})  # fmt: skip
        return Tick(replay["id"], frozenset(row["state"] for row in rearmed), len(rearmed), status)


def _params(replay: Mapping[str, Any]) -> dict[str, Any]:
    selector = replay["selector"]
    return {
        "replay": replay["id"], "actor": replay["actor"], "reason": replay["reason"], "force": replay["force"],
        "run": selector.get("run"), "code": selector.get("code"), "org": selector.get("org"),
        "since": selector.get("since"), "requested_at": replay["requested_at"],
    }  # fmt: skip


def _due(replay: Mapping[str, Any]) -> int:
    """How many the rate admits since the last re-arming; never more than a second's worth, or one."""
    rate = replay["rate_per_second"]
    if replay["last_at"] is None:
        admitted = max(1.0, rate)
    else:
        elapsed = (replay["now"] - replay["last_at"]).total_seconds()
        admitted = min(rate * elapsed, max(1.0, rate))
    return min(int(admitted), int(replay["cap"] - replay["rearmed"]))


def _status(rearmed: int, died: int, *, over: bool) -> str:
    if died >= STOP_FLOOR and died >= rearmed * STOP_SHARE:
        return "stopped"
    return "finished" if over else "running"


def listed(conn: Connection, *, limit: int = 20) -> list[dict[str, Any]]:
    return list(conn.execute(query("operate.replays"), {"limit": limit}))


@dataclass(frozen=True, slots=True)
class RejectedBatch:
    """Kept originals that a replay asks to be tried again: (id, zstd body)."""

    replay: Mapping[str, Any]
    events: list[tuple[UUID, bytes]]


def next_rejected(conn: Connection) -> RejectedBatch | None:
    """The oldest open replay of rejected events and what its rate admits now, None while it admits nothing.

    Call inside a transaction.
    """
    replay = conn.execute(query("replay.open"), {"rejected": True}).fetchone()
    if replay is None:
        return None
    admitted = _due(replay)
    if admitted <= 0 and replay["rearmed"] < replay["cap"]:
        return None
    which = replay["selector"]["rejected"]
    ids = [UUID(which)] if _is_uuid(which) else None
    params = {"ids": ids, "reason": None if ids else which, "limit": admitted, "before": replay["requested_at"]}
    rows = conn.execute(query("replay.rejected_bodies"), params)
    return RejectedBatch(replay, [(row["id"], row["body"]) for row in rows])


def tried_again(conn: Connection, batch: RejectedBatch, refused: Mapping[UUID, tuple[str, str]], *, more: bool) -> str:
    """Note what became of the batch: (reason, detail) of each that is refused still. Returns the replay's status."""
    for id_, _ in batch.events:
        reason, detail = refused.get(id_, (None, None))
        conn.execute(query("replay.tried_again"), {"id": id_, "reason": reason, "detail": detail})
    status = "running" if more else "finished"
    conn.execute(query("replay.advance"), {"replay": batch.replay["id"], "status": status, "died_again": 0,
                 "rearmed": len(batch.events) - len(refused),
                 "refused": batch.replay["refused"] + len(refused)})  # fmt: skip
    return status


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
