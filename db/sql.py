"""Named queries: `-- name: claim` blocks of db/queries/*.sql, read once."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import LiteralString

_FOLDER = Path(__file__).parent / "queries"
_NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)


@cache
def _load(file: str) -> dict[str, str]:
    parts = _NAME.split((_FOLDER / f"{file}.sql").read_text(encoding="utf-8"))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def query(name: str) -> LiteralString:
    """The statement `file.name`; KeyError if there is none. The files are code, hence literal."""
    file, _, block = name.partition(".")
    return _load(file)[block]
