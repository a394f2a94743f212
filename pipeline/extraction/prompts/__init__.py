"""Prompts are files; a prompt's revision is its digest, so that an edited prompt cannot pass as the old one.

`prompts.lock` beside them pins file, SHA-256 and revision; a test compares. To change a prompt is a governance
change: edit the file, pin the new digest, review both together.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt's text, SHA-256 (64 hex digits) and revision (`extraction@` and the first 12 of them)."""

    text: str
    sha256: str
    revision: str


@cache
def load(name: str = "extraction") -> Prompt:
    """The prompt in `<name>.md`; raises FileNotFoundError for a name that has none."""
    data = files(__name__).joinpath(f"{name}.md").read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    return Prompt(data.decode(), digest, f"{name}@{digest[:12]}")
