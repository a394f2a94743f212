"""A transcript as a model reads it: one JSON object a line, so that no turn can pose as another.

Too long a transcript is cut to a budget of characters. Own turns go first, newest first; context turns take what is
left. What is left out, and which texts were cut, is said in the heading.
"""

from __future__ import annotations

import json
from typing import Any

from pipeline.extraction.port import ExtractionJob
from pipeline.session import Role, Turn

MAX_CHARACTERS = 120_000
"""Some 30,000 tokens at four characters a token: fits a 32k-token window with the prompt and an answer."""

MAX_TURN_CHARACTERS = 20_000
MAX_TOOL_CHARACTERS = 4_000
"""Tool output is evidence of last resort, and the bulk of most sessions."""


def render(job: ExtractionJob, max_characters: int = MAX_CHARACTERS) -> str:
    """Heading and turns, at most about `max_characters` characters."""
    turns = job.transcript.turns
    lines: dict[int, str] = {}
    room = max_characters
    for number in [*range(len(turns) - 1, job.first_own - 1, -1), *range(job.first_own - 1, -1, -1)]:
        if not turns[number].text.strip():
            continue
        line = _line(number, turns[number], number < job.first_own, max_characters)
        if len(line) + 1 > room:
            break
        lines[number] = line
        room -= len(line) + 1
    return "\n".join([_heading(job, lines), *(lines[number] for number in sorted(lines))])


def _line(number: int, turn: Turn, context: bool, max_characters: int) -> str:
    limit = min(MAX_TOOL_CHARACTERS if turn.role is Role.TOOL else MAX_TURN_CHARACTERS, max_characters // 2)
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


def _heading(job: ExtractionJob, lines: dict[int, str]) -> str:
    missing = sum(1 for number, turn in enumerate(job.transcript.turns) if number not in lines and turn.text.strip())
    heading = f"The record of the session ({len(lines)} turns"
    if missing:
        heading += f"; {missing} older turns are left out because the record is too long: do not guess what they said"
    return heading + "):"
