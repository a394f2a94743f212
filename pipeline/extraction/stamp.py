"""Whose candidates these are, for all that is counted about them: an extractor's stamp, its prompt and our rules."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

RULES = ("gate.py", "extraction/classifier.py", "extraction/evidence.py", "extraction/wording")
"""What decides about a candidate after the model, beside detection: files and folders of this package."""


def stamp(provenance: Mapping[str, Any]) -> str:
    """`provider/model`, as settings and reports name an extractor."""
    return f"{provenance['provider']}/{provenance['model']}"


@cache
def rules_revision() -> str:
    """`rules@` and the first 12 hex digits of a SHA-256 over these files, so that an edited rule is not the old one."""
    digest = hashlib.sha256()
    for name in RULES:
        for path, data in _files(files("pipeline").joinpath(name), name):
            digest.update(f"{path}\0{len(data)}\0".encode() + data)
    return f"rules@{digest.hexdigest()[:12]}"


def _files(found: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    if found.is_file():
        yield name, found.read_bytes()
    elif found.is_dir():
        for child in sorted(found.iterdir(), key=lambda item: item.name):
            if child.name != "__pycache__":
                yield from _files(child, f"{name}/{child.name}")
    else:
        yield from _files(found.parent.joinpath(f"{found.name}.py"), f"{name}.py")  # type: ignore[attr-defined]
