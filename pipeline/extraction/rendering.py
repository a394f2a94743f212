"""A transcript as a model reads it: one JSON object a line, so that no turn can pose as another.

A session too long for one reading is read in windows of whole turns, oldest first. Each shows again, as context, the
turns just before it, so that an answer stands beside its question; what an earlier run covered is context too.

    turns:     0 1 2 3 4 5 6 7 8 9
    windows:  [0 1 2 3 4]
                  (3 4)[5 6 7 8]
                            (7 8)[9]
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from pipeline.extraction.port import ExtractionJob
from pipeline.session import Role, Turn

WINDOW_CHARACTERS = 120_000
"""Some 30,000 tokens at four characters a token: fits a 32k-token model with the prompt and an answer."""

WINDOWS_MAX = 16
"""Some half a million tokens a session. Of a longer one the newest are read, and the first heading says what is not."""

OVERLAP = 1 / 8
"""Of a window's characters, for the turns before it."""

MAX_TURN_CHARACTERS = 20_000
MAX_TOOL_CHARACTERS = 4_000
"""Tool output is evidence of last resort, and the bulk of most sessions."""

Lines = dict[int, str]
"""A turn's number and its line, oldest first."""


def windows(job: ExtractionJob, window_characters: int = WINDOW_CHARACTERS) -> list[str]:
    """Heading and turns of each window, at most about `window_characters` characters; at least one window."""
    own = _lines(job, range(job.first_own, len(job.transcript.turns)), window_characters)
    parts = _parted(own, window_characters)
    shown = parts[-WINDOWS_MAX:]
    unread = sum(len(part) for part in parts[:-WINDOWS_MAX])
    return [_window(job, number, shown, window_characters, unread) for number in range(len(shown))]


def _parted(lines: Lines, window_characters: int) -> list[Lines]:
    """All lines in one part if they fit; else in parts that leave room for what came before."""
    if _size(lines.values()) <= window_characters:
        return [lines]
    room, parts, size = window_characters * (1 - OVERLAP), [Lines()], 0
    for number, line in lines.items():
        if parts[-1] and size + len(line) + 1 > room:
            parts.append({})
            size = 0
        parts[-1][number] = line
        size += len(line) + 1
    return parts


def _window(job: ExtractionJob, number: int, parts: list[Lines], window_characters: int, unread: int) -> str:
    part = parts[number]
    room = window_characters - _size(part.values())
    if len(parts) > 1:
        room = min(room, int(window_characters * OVERLAP))
    first = min(part, default=job.first_own)
    before = _context(job, first, room, window_characters)
    older = sum(bool(turn.text.strip()) for turn in job.transcript.turns[:first]) - len(before)
    heading = _heading(len(before) + len(part), number, len(parts), older, unread if number == 0 else 0)
    return "\n".join([heading, *before.values(), *part.values()])


def _context(job: ExtractionJob, first: int, room: int, window_characters: int) -> Lines:
    """The turns just before `first` that fit into `room`, marked as context."""
    kept: Lines = {}
    for number in range(first - 1, -1, -1):
        for line in _lines(job, (number,), window_characters, context=True).values():
            room -= len(line) + 1
            if room < 0:
                return dict(reversed(kept.items()))
            kept[number] = line
    return dict(reversed(kept.items()))


def _lines(job: ExtractionJob, numbers: Iterable[int], window_characters: int, *, context: bool = False) -> Lines:
    turns = job.transcript.turns
    return {n: _line(n, turns[n], context, window_characters) for n in numbers if turns[n].text.strip()}


def _line(number: int, turn: Turn, context: bool, window_characters: int) -> str:
    limit = min(MAX_TOOL_CHARACTERS if turn.role is Role.TOOL else MAX_TURN_CHARACTERS, window_characters // 2)
    shown: dict[str, Any] = {"turn": number, "role": turn.role.value, "trust": turn.trust.value}
    if turn.tool:
        shown["tool"] = turn.tool
    if turn.name:
        shown["name"] = turn.name
    if turn.at:
        shown["at"] = turn.at.isoformat()
    if context:
        shown["context"] = True
    if len(turn.text) > limit:
        shown["cut"] = True
    shown["text"] = turn.text[:limit]
    return json.dumps(shown, ensure_ascii=False)


def _size(lines: Iterable[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def _heading(turns: int, number: int, of: int, older: int, unread: int) -> str:
    heading = f"The record of the session ({turns} turns"
    if of > 1:
        heading += f", part {number + 1} of {of}"
    if unread:
        heading += f"; {unread} turns of it are read by nobody, because it is too long"
    if older:
        heading += f"; {older} older turns are not shown here: do not guess what they said"
    return heading + "):"
