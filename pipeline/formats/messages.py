"""A message with a `role`, as chat completion APIs and the programs built on them write it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pipeline.formats.blocks import ToolNames, parts_of, remember_call, tool_answer
from pipeline.formats.reading import AGENT, SYSTEM, USER, Part, Said, Skipped, Unknown
from pipeline.formats.shape import label, mapping, sequence, string

VOICES = {"user": USER, "assistant": AGENT, "system": SYSTEM, "developer": SYSTEM}
TOOL_ROLES = frozenset({"tool", "function"})
SILENT_ROLES = frozenset({"session_meta"})

TIME_KEYS = ("timestamp", "created_at", "created", "at", "time")


def message_parts(message: Any, names: ToolNames) -> Iterator[Part]:
    """The parts of one message; the names of the tools it calls go into `names`."""
    fields = mapping(message)
    role = string(fields.get("role"))
    for call in sequence(fields.get("tool_calls")):
        function = mapping(mapping(call).get("function"))
        remember_call(names, mapping(call).get("id"), function.get("name"))
        yield Skipped("tool_call")
    if role in TOOL_ROLES:
        tool = string(fields.get("name")) or string(fields.get("tool_name"))
        yield from tool_answer(fields.get("content"), tool or names.get(string(fields.get("tool_call_id"))))
    elif role in VOICES:
        name = string(fields.get("name"))[:200] or None  # who of several people speaks
        for part in parts_of(fields.get("content"), VOICES[role], names):
            yield replace(part, name=name) if isinstance(part, Said) and not part.tool else part
    elif role in SILENT_ROLES:
        yield Skipped(role)
    else:
        yield Unknown(f"unknown role {label(role)!r}" if fields else "not an object")


def message_time(message: Any) -> Any:
    """The first field of a message that may say when it was, unread."""
    fields = mapping(message)
    return next((fields[key] for key in TIME_KEYS if key in fields), None)
