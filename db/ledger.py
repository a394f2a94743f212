"""The append-only record. Run and memory moves are written by triggers; this writes all else, seals, and verifies."""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from psycopg.types.json import Jsonb, set_json_loads

from db.connect import Connection
from db.sql import query
from pipeline.errors import LedgerBroken
from pipeline.ledger import GENESIS, Entry, entry_hash, seal_hash


@dataclass(frozen=True, slots=True)
class Seal:
    """`total` entries lie in transactions below `below`; `hash` runs over all of them."""

    id: int
    below: int
    entries: int
    total: int
    hash: bytes
    at: datetime


@dataclass(frozen=True, slots=True)
class Verdict:
    """What verification saw."""

    entries: int
    sealed: int
    seals: int
    witnessed: int


def record(
    conn: Connection, *, org_id: int | None, subject: tuple[str, str], actor: str, action: str,
    detail: dict[str, Any] | None = None, payload: dict[str, Any] | None = None
) -> int:  # fmt: skip
    """Append one entry; `payload` is content, kept outside the ledger under a key of its own. Returns the id."""
    key = secrets.token_bytes(32)
    sealed = None if payload is None else hmac.digest(key, _canonical(payload), "sha256")
    with conn.transaction():
        row = conn.execute(query("ledger.record"), {
            "org_id": org_id, "subject_kind": subject[0], "subject_id": subject[1], "actor": actor, "action": action,
            "detail": Jsonb(detail or {}), "payload_hash": sealed,
        }).fetchone()  # fmt: skip
        assert row is not None
        if payload is not None:
            params = {"org_id": org_id, "entry_id": row["id"], "key": key, "content": Jsonb(payload)}
            conn.execute(query("ledger.keep_payload"), params)
    return int(row["id"])


def _canonical(payload: dict[str, Any]) -> bytes:
    return json.dumps(payload, sort_keys=True, ensure_ascii=False).encode()


def seal(conn: Connection) -> Seal | None:
    """Seal what no running transaction can still add to; None when there is nothing new.

    Raises LedgerBroken on a server whose transactions are numbered below the last seal's.
    """
    if (behind := conn.execute(query("ledger.behind")).fetchone()) is not None:
        raise LedgerBroken(
            f"this server counts transactions from {behind['now']}, the last seal stands at {behind['below']}: the "
            "database was restored from a dump, after which nothing can be sealed; restore a physical backup instead"
        )
    row = conn.execute(query("ledger.seal")).fetchone()
    return None if row is None else Seal(**{**row, "below": int(row["below"])})


def unsealed(conn: Connection) -> int:
    row = conn.execute(query("ledger.unsealed")).fetchone()
    return int(row["entries"]) if row else 0


def seals(conn: Connection, *, above: int = 0) -> list[Seal]:
    """The seals that follow the one below transaction `above`, oldest first."""
    return [Seal(**row) for row in conn.execute(query("ledger.seals"), {"above": above})]


def verify(conn: Connection, witnessed: Sequence[Seal] = ()) -> Verdict:
    """Recompute every entry and seal from what is stored. Raises LedgerBroken at the first that differs.

    `witnessed` are seals read from outside the database: each must stand in it unchanged, since whoever cuts the
    tail of the ledger can cut the seals beside it.
    """
    with conn.transaction():
        conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        standing = seals(conn)
        _check_witnessed(standing, witnessed)
        with conn.cursor(name="verify") as cursor:
            cursor.itersize = 10_000
            set_json_loads(_exact, cursor)
            cursor.execute(query("ledger.entries"))
            checked = _Checked(_checked(Entry(**row) for row in cursor))
            for item in standing:
                checked.expect(item)
            total = checked.count + checked.unsealed()
    return Verdict(total, standing[-1].total if standing else 0, len(standing), len(witnessed))


def _exact(text: str | bytes) -> Any:
    """Numbers with the digits that were hashed: a float would lose them."""
    return json.loads(text, parse_float=Decimal)


class _Checked:
    """Entries consumed seal by seal."""

    def __init__(self, entries: Iterator[Entry]) -> None:
        self.rest = entries
        self.count = 0
        self._running = GENESIS
        self._held: Entry | None = None

    def expect(self, item: Seal) -> None:
        hashes = [entry.hash for entry in self._below(item.below)]
        self.count += len(hashes)
        self._running = seal_hash(self._running, hashes)
        if self.count != item.total or len(hashes) != item.entries:
            raise LedgerBroken(f"seal {item.id} covers {item.total} entries; {self.count} stand before it")
        if self._running != item.hash:
            raise LedgerBroken(f"seal {item.id} does not match the entries it covers")

    def unsealed(self) -> int:
        """How many stand behind the last seal; each is checked on the way."""
        return (self._held is not None) + sum(1 for _ in self.rest)

    def _below(self, below: int) -> Iterator[Entry]:
        while (entry := self._held or next(self.rest, None)) is not None:
            if entry.transaction >= below:
                self._held = entry
                return
            self._held = None
            yield entry


def _checked(entries: Iterable[Entry]) -> Iterator[Entry]:
    for entry in entries:
        if entry_hash(entry) != entry.hash:
            raise LedgerBroken(f"entry {entry.id} was changed after it was written")
        yield entry


def _check_witnessed(seals: Sequence[Seal], witnessed: Sequence[Seal]) -> None:
    known = {item.below: item for item in seals}
    for item in witnessed:
        stands = known.get(item.below)
        if stands is None or not hmac.compare_digest(stands.hash, item.hash):
            raise LedgerBroken(
                f"the witness holds a seal below transaction {item.below} that the database does not; if the database "
                "was restored from a backup, say so with: afterword ledger restored"
            )


def timeline(conn: Connection, subjects: Sequence[str]) -> list[dict[str, Any]]:
    """All entries about these subjects, oldest first."""
    return list(conn.execute(query("ledger.timeline"), {"subjects": list(subjects)}))
