"""The witness files outside the database, read back: seals for verification, the erasure register for a restore."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import UUID

from db.ledger import Seal
from pipeline.errors import LedgerBroken
from workers.witness import ERASURES, SEALS, append


def read_seals(folder: Path) -> list[Seal]:
    """Every seal that should stand, in the order of the file. Those that a restore took back, as a line of the file
    says, do not. Raises LedgerBroken for what is unreadable, no seal or out of order.
    """
    path = folder / SEALS
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise LedgerBroken(f"there is no witness at {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise LedgerBroken(f"the witness at {path} cannot be read: {error}") from None
    seals: list[tuple[int, Seal]] = []
    for number, line in enumerate(lines, 1):
        if (below := _restored(line)) is not None:
            seals = [(at, seal) for at, seal in seals if seal.below <= below]
        else:
            seals.append((number, _seal(path, number, line)))
    for (_, before), (number, after) in pairwise(seals):
        # Not that their totals join up: a housekeeper killed between seal and file leaves a line out.
        if before.below >= after.below or before.total >= after.total:
            raise LedgerBroken(f"{path}, line {number}: this seal does not follow the one before it")
    return [seal for _, seal in seals]


def restores(folder: Path) -> int:
    """How often the file says that the database was restored."""
    lines = (folder / SEALS).read_text(encoding="utf-8").splitlines()
    return sum(_restored(line) is not None for line in lines)


def say_restored(folder: Path, last: Seal | None, *, by: str, reason: str, lost: int) -> None:
    """From here on the file follows the restored database: what it holds above `last` was lost."""
    append(folder / SEALS, {"restored": True, "below": last.below if last else 0, "at": datetime.now(UTC).isoformat(),
                            "by": by, "reason": reason, "seals_lost": lost})  # fmt: skip


def last_common(witnessed: list[Seal], standing: list[Seal]) -> Seal | None:
    """The newest seal that stands in both; what follows it in the witness was lost."""
    known = {(seal.below, seal.hash) for seal in standing}
    return next((seal for seal in reversed(witnessed) if (seal.below, seal.hash) in known), None)


def _restored(line: str) -> int | None:
    """Below which transaction a restored database still has the seals, if the line says that."""
    try:
        row = json.loads(line)
        return int(row["below"]) if row["restored"] is True else None
    except (ValueError, KeyError, TypeError):
        return None


@dataclass
class Registered:
    """An erasure as the register keeps it: keyed hashes, and the rows that went."""

    id: UUID
    org: str
    hash: bytes
    at: datetime
    needles: list[dict[str, Any]]
    rows: dict[str, Any] = field(default_factory=dict)


def read_erasures(folder: Path) -> list[Registered]:
    """The register, oldest first. Raises LedgerBroken for what is unreadable."""
    path = folder / ERASURES
    found: dict[UUID, Registered] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        for line in lines:
            row = json.loads(line)
            id_ = UUID(row["id"])
            if "hash" in row and id_ not in found:
                at = datetime.fromisoformat(row["at"])
                found[id_] = Registered(id_, row["org"], bytes.fromhex(row["hash"]), at, row["needles"])
            for store, ids in row.get("rows", {}).items():
                found[id_].rows.setdefault(store, []).extend(ids)
    except FileNotFoundError:
        raise LedgerBroken(f"there is no erasure register at {path}") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LedgerBroken(f"the erasure register at {path} cannot be read: {type(error).__name__}") from None
    return list(found.values())


def _seal(path: Path, number: int, line: str) -> Seal:
    try:
        row = json.loads(line)
        return Seal(
            id=int(row["id"]), below=int(row["below"]), entries=int(row["entries"]), total=int(row["total"]),
            hash=bytes.fromhex(row["hash"]), at=datetime.fromisoformat(row["at"]),
        )  # fmt: skip
    except (ValueError, KeyError, TypeError):
        raise LedgerBroken(f"{path}, line {number}: this is no seal") from None
