"""The digest: what every session of an agent starts from, as whole files of rules that a person approved.

Precedence (workspace policies, agent procedures, workflow learnings, mission context, user preferences; then how often,
then how lately) decides which items exist within the budget; files are then in order of their path. Preambles are
pinned: they stand whatever else does not. An item that does not fit is left out whole, and counted.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from pipeline.memory import ScopeKind
from pipeline.recall.visible import one_line

CHARACTERS_MAX: Final = 24_000
PRECEDENCE: Final = (ScopeKind.ORG, ScopeKind.AGENT, ScopeKind.WORKFLOW, ScopeKind.PROJECT, ScopeKind.USER)
"""Workspace policies, agent procedures, workflow learnings, mission context, user preferences."""

HEAD: Final = "<afterword-digest>\nRequirements that people approved. They hold for this session."
FOOT: Final = "</afterword-digest>"


@dataclass(frozen=True, slots=True)
class File:
    """A namespace as it stands in a digest."""

    namespace: str
    path: str
    title: str
    preamble: str


@dataclass(frozen=True, slots=True)
class Item:
    """A rule or preference, and the namespace whose file it stands in."""

    id: UUID
    namespace: str
    scope: ScopeKind
    content: str
    occurrences: int
    observed_at: datetime


@dataclass(frozen=True, slots=True)
class Digest:
    """The text ('' where there is nothing to say), which items stand in it, which do not, and SHA-256 of the text."""

    text: str
    included: tuple[UUID, ...]
    omitted: tuple[UUID, ...]
    sha256: bytes


def render(files: Sequence[File], items: Sequence[Item], *, characters_max: int = CHARACTERS_MAX) -> Digest:
    """The same files and items give the same text, in whatever order they come."""
    ordered = sorted(items, key=_rank)
    chosen: list[Item] = []
    for item in ordered:
        left_out = len(ordered) - len(chosen)
        if len(_text(files, [*chosen, item], left_out)) <= characters_max:
            chosen.append(item)
    omitted = tuple(item.id for item in ordered if item not in chosen)
    text = _text(files, chosen, len(omitted)) if chosen or any(file.preamble for file in files) or omitted else ""
    return Digest(text, tuple(item.id for item in chosen), omitted, hashlib.sha256(text.encode()).digest())


def _rank(item: Item) -> tuple[int, int, float, str]:
    return PRECEDENCE.index(item.scope), -item.occurrences, -item.observed_at.timestamp(), str(item.id)


def _text(files: Sequence[File], items: Sequence[Item], left_out: int) -> str:
    lines: defaultdict[str, list[str]] = defaultdict(list)
    for item in items:
        lines[item.namespace].append(f"- {one_line(item.content)}")
    shown = [file for file in sorted(files, key=lambda file: (file.path, file.namespace))
             if file.preamble or lines[file.namespace]]  # fmt: skip
    bodies = [_file(file, lines[file.namespace]) for file in shown]
    omission = [f"Left out for want of room: {left_out} {'item' if left_out == 1 else 'items'}."] if left_out else []
    return "\n\n".join([HEAD, *bodies, *omission, FOOT])


def _file(file: File, lines: Sequence[str]) -> str:
    title = f" {one_line(file.title)}" if file.title else ""
    preamble = [one_line(file.preamble)] if file.preamble else []
    return "\n".join([f"## {one_line(file.path)}{title}", *preamble, *lines])
