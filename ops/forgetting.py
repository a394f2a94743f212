"""An erasure from beginning to end, each step harmless when repeated.

    mark -> register outside -> Redis -> find and erase, until nothing is new -> Redis, its file -> VACUUM -> finish

Killed anywhere, the same command takes it up: the mark stands, what is gone stays gone, and the receipt counts both.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from redis import Redis

from db import erasure as store
from db.connect import Connection
from db.erasure import Found
from db.events import Org
from db.subjects import check_key
from db.tokens import Bearer
from ops.access import acting_as, actor, granted_to
from ops.credentials import installation_key, redis_address
from ops.settings import Settings
from pipeline.errors import AfterwordError
from pipeline.subjects import Keyring, Name, Sought, is_distinctive, sought
from workers import forgetting as in_redis
from workers.context import connect_redis
from workers.forgetting import InRedis
from workers.witness import ERASURES, append

PASSES_MAX = 5


class KeptByHold(AfterwordError):
    """A legal hold keeps what was to be erased."""


class NoHold(AfterwordError):
    """There is no open legal hold on this subject."""


@dataclass(frozen=True)
class Asked:
    """Who is asked about, in which org. `name` is None where only a register knows them."""

    org: Org
    who: Sought
    name: Name | None = None


@dataclass(frozen=True)
class Held:
    """What is held of somebody: by store, where, and which holds keep it."""

    found: Found
    redis: InRedis
    holds: list[dict[str, Any]] = field(default_factory=list)
    held_rows: int = 0

    @property
    def stores(self) -> dict[str, int]:
        return self.found.counts() | self.redis.counts()


def asked(settings: Settings, org: Org, name: Name, texts: list[str]) -> Asked:
    """Raises SettingError where the installation key is not the one this database was filled under."""
    key = installation_key(settings)
    with acting_as("operator", settings) as conn:
        check_key(conn, key)
    return Asked(org, sought(Keyring(key, org.id), name, texts), name)


def how_searched(asked: Asked) -> str:
    """What was looked for in texts, in words for a person."""
    if asked.name is None or is_distinctive(asked.name):
        return "keyed hashes, columns, and every text"
    if asked.who.needles:
        return "keyed hashes, columns, and every text for --text alone: the name is one common word"
    return "keyed hashes and columns; no text, since the name is one common word: add --text to search for it"


def held(settings: Settings, asked: Asked, known: dict[str, Any] | None = None) -> Held:
    """Look everywhere; nothing is changed."""
    with acting_as("worker", settings) as conn:
        found = store.find(conn, asked.org.id, asked.org.name, asked.who, known)
    with acting_operator(asked.org) as conn:
        store.add_tokens(conn, asked.who, found)
        holds = store.holds_on(conn, asked.org.id, asked.who)
        under = store.held_among(conn, [*found.runs, *found.rejected_events])
    with connect_redis(redis_address(settings, "worker")) as redis:
        return Held(found, in_redis.find(redis, asked.org.name, asked.who), holds, len(under))


def acting_operator(org: Org) -> AbstractContextManager[Connection]:
    """One transaction as an operator of `org`, named in the ledger."""
    return granted_to(org, Bearer(role="operator", actor=actor()))


def forget(
    settings: Settings, asked: Asked, reason: str, *, id: UUID | None = None, at: datetime | None = None,
    known: dict[str, Any] | None = None, rewrite: bool = False
) -> dict[str, Any]:  # fmt: skip
    """The receipt. `id`, `at` and `known` rows come from the register when it is applied again. `rewrite`: write the
    tables anew.
    """
    with acting_operator(asked.org) as conn:
        erasure = store.mark(conn, asked.who, reason, id=id, at=at)
    with acting_as("operator", settings) as conn:
        row = store.erasure(conn, erasure)
    register = _register(settings.witness_dir, asked, row)
    with connect_redis(redis_address(settings, "worker")) as redis:
        _forget_in_redis(redis, asked, erasure)
        kept = _erase(settings, asked, erasure, known or {}, register)
        _forget_in_redis(redis, asked, erasure)
        rewritten = in_redis.rewrite(redis)
    with acting_as("operator", settings) as conn:
        vacuumed = store.vacuum(conn, rewrite=rewrite)
    with acting_operator(asked.org) as conn:
        entry = store.finish(conn, erasure)
    with acting_as("operator", settings) as conn:
        row = store.erasure(conn, erasure)
    return _receipt(settings, asked, row, kept) | {
        "vacuumed": vacuumed, "rewritten": rewrite, "append_only_file_rewritten": rewritten,
        "register": register and str(register), "ledger_entry": entry,
    }  # fmt: skip


def _register(folder: Path | None, asked: Asked, row: dict[str, Any]) -> Path | None:
    if folder is None:
        return None
    file = folder / ERASURES
    append(file, {"id": str(row["id"]), "org": asked.org.name, "hash": row["hash"].hex(), "at": row["at"].isoformat(),
                  "needles": row["needles"]})  # fmt: skip
    return file


def _forget_in_redis(redis: Redis, asked: Asked, erasure: UUID) -> None:
    gone = in_redis.forget(redis, in_redis.find(redis, asked.org.name, asked.who))
    if gone:
        with acting_operator(asked.org) as conn:
            store.note(conn, erasure, gone)


def _erase(
    settings: Settings, asked: Asked, erasure: UUID, known: dict[str, Any], register: Path | None
) -> list[dict[str, Any]]:
    """Again until nothing new is found: what was on its way while the first look went on."""
    kept: list[dict[str, Any]] = []
    seen: set[tuple[str, str]] = set()
    for _ in range(PASSES_MAX):
        with acting_as("worker", settings) as conn:
            found = store.find(conn, asked.org.id, asked.org.name, asked.who, known)
        new = {(name, id_) for name, ids in found.ids().items() for id_ in ids} - seen
        if not new and seen:
            break
        seen |= new
        if register is not None and new:
            append(register, {"id": str(erasure), "rows": found.ids()})
        with acting_operator(asked.org) as conn:
            store.add_tokens(conn, asked.who, found)
            kept = store.erase(conn, erasure, found, _keys(asked.who.keyring, found))["kept"]
        if not found.counts():
            break
    return kept


def _keys(keyring: Keyring, found: Found) -> dict[UUID, str]:
    """What takes the place of each run's event key, which may have said the name or stood for a short text."""
    return {run: key if key.startswith("erased:") else keyring.event(key) for run, key in found.runs.items()}


def _receipt(settings: Settings, asked: Asked, row: dict[str, Any], kept: list[dict[str, Any]]) -> dict[str, Any]:
    ages_out = datetime.now(UTC) + timedelta(days=settings.backup_days)
    return {
        "erasure": row["id"],
        "org": asked.org.name,
        "subject": row["hash"].hex(),
        "searched": how_searched(asked),
        "stores": {name: count for name, count in row["erased"].items() if count},
        "kept": kept,
        "finished_at": row["finished_at"],
        "wal_and_backups_until": ages_out.date().isoformat(),
    }
