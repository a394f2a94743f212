"""The ledger's canonical form and hashes, computed here exactly as the database computes them.

An entry's hash is SHA-256 over its fields in order, separated by U+001F, absent ones empty, times as whole
microseconds since 1970 UTC, detail in the text form of Postgres' jsonb. A seal's hash is SHA-256 over the
previous seal's hash and the hashes of the entries it covers, ordered by (transaction, id).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

GENESIS = bytes(32)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Entry:
    """One decision. `detail` holds no content: ids, counts, names of classes, codes."""

    id: int
    transaction: int
    org_id: int | None
    subject_kind: str
    subject_id: str
    at: datetime
    actor: str
    action: str
    detail: dict[str, Any]
    payload_hash: bytes | None
    hash: bytes


def jsonb_text(value: Any) -> str:
    """`value` as `jsonb::text` writes it: keys by (length, bytes), a space after ':' and ',', no exponents."""
    if isinstance(value, dict):
        items = sorted(value.items(), key=lambda item: (len(item[0].encode()), item[0].encode()))
        return "{" + ", ".join(f"{json.dumps(k, ensure_ascii=False)}: {jsonb_text(v)}" for k, v in items) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(jsonb_text(item) for item in value) + "]"
    if isinstance(value, (float, Decimal)):
        return format(Decimal(repr(value)) if isinstance(value, float) else value, "f")
    return json.dumps(value, ensure_ascii=False)


def canonical(entry: Entry) -> str:
    """The text that is hashed."""
    fields = (
        entry.id,
        entry.transaction,
        entry.org_id,
        entry.subject_kind,
        entry.subject_id,
        (entry.at - _EPOCH) // timedelta(microseconds=1),
        entry.actor,
        entry.action,
        jsonb_text(entry.detail),
        None if entry.payload_hash is None else entry.payload_hash.hex(),
    )
    return "\x1f".join("" if field is None else str(field) for field in fields)


def entry_hash(entry: Entry) -> bytes:
    return hashlib.sha256(canonical(entry).encode()).digest()


def seal_hash(previous: bytes, hashes: Iterable[bytes]) -> bytes:
    """The running hash after sealing entries with these hashes, in order."""
    digest = hashlib.sha256(previous)
    for item in hashes:
        digest.update(item)
    return digest.digest()
