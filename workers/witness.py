"""Files outside the database, to which seals and erasures are appended: who cuts the one cannot cut the other."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping
from pathlib import Path

SEALS = "seals.jsonl"
ERASURES = "erasures.jsonl"


def append(file: Path, row: Mapping[str, object]) -> None:
    """Append a line, and see it on disk. Whole or not at all: a full disk takes a part of a line, and the next one
    would be written behind it.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps(row).encode() + b"\n"
    with file.open("ab", buffering=0) as out:
        end = out.tell()
        if out.write(line) != len(line):
            out.truncate(end)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), out.name)
        os.fsync(out.fileno())
