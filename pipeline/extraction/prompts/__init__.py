"""Prompts are files; a prompt's revision is its digest, so that an edited prompt cannot pass as the old one.

`prompts.lock` beside them pins file, SHA-256 and revision, and CHANGELOG.md says why each came; a test compares. To
change a prompt is a governance change: edit the file, pin the new digest, say why, review all three together.

An example in a prompt is a canary: what it says belongs to no session, so whoever proposes it has read the instructions
for the record.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt's text, SHA-256 (64 hex digits), revision (`extraction@` and the first 12 of them), and its canaries."""

    text: str
    sha256: str
    revision: str
    canaries: tuple[str, ...] = ()


@cache
def load(name: str = "extraction") -> Prompt:
    """The prompt in `<name>.md`; raises FileNotFoundError for a name that has none."""
    return _prompt(name, files(__name__).joinpath(f"{name}.md").read_bytes())


def read(path: Path) -> Prompt:
    """A prompt that is tried before it is ours, from a file; raises OSError."""
    return _prompt(path.stem, path.read_bytes())


def _prompt(name: str, data: bytes) -> Prompt:
    digest = hashlib.sha256(data).hexdigest()
    text = data.decode()
    return Prompt(text, digest, f"{name}@{digest[:12]}", tuple(_canaries(text)))


def _canaries(text: str) -> Iterator[str]:
    """Contents and quotes of each example document of a prompt; a line each, and never mere dots."""
    for line in text.splitlines():
        if line.startswith('{"candidates"'):
            for candidate in json.loads(line)["candidates"]:
                said = [candidate["content"], *(item["quote"] for item in candidate["evidence"])]
                yield from (one for one in said if one.strip("."))
