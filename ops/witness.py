"""The witness files: seals as housekeeping appended them outside the database, read back for verification."""

from __future__ import annotations

import json
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from db.ledger import Seal
from pipeline.errors import LedgerBroken

FILE = "seals.jsonl"


def read_seals(folder: Path) -> list[Seal]:
    """Every seal in the order of the file. Raises LedgerBroken for what is unreadable, no seal or out of order."""
    path = folder / FILE
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise LedgerBroken(f"there is no witness at {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise LedgerBroken(f"the witness at {path} cannot be read: {error}") from None
    seals = [_seal(path, number, line) for number, line in enumerate(lines, 1)]
    for number, (before, after) in enumerate(pairwise(seals), 2):
        # Not that their totals join up: a housekeeper killed between seal and file leaves a line out.
        if before.below >= after.below or before.total >= after.total:
            raise LedgerBroken(f"{path}, line {number}: this seal does not follow the one before it")
    return seals


def _seal(path: Path, number: int, line: str) -> Seal:
    try:
        row = json.loads(line)
        return Seal(
            id=int(row["id"]), below=int(row["below"]), entries=int(row["entries"]), total=int(row["total"]),
            hash=bytes.fromhex(row["hash"]), at=datetime.fromisoformat(row["at"]),
        )  # fmt: skip
    except (ValueError, KeyError, TypeError):
        raise LedgerBroken(f"{path}, line {number}: this is no seal") from None
