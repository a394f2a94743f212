"""Codex: rollout JSONL under `~/.codex/sessions`, `{timestamp, type, payload}` a line; the first releases wrote the
payloads bare.

What a user typed stands twice, as `event_msg` and as `response_item`; the items are read, the events are the
measure: a `user` item before the first typed message is context the program put there, not the user's words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from pipeline.formats.blocks import ToolNames, parts_of, remember_call, tool_answer
from pipeline.formats.jsonl import Line, Record, head_records, lines, read_lines
from pipeline.formats.reader import ReadResult
from pipeline.formats.reading import AGENT, SYSTEM, USER, Part, Reading, Said, Skipped, Unknown, Voice
from pipeline.formats.shape import label, mapping, output_text, string

ENVELOPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"})
BOOKKEEPING = frozenset({"session_meta", "turn_context", "world_state", "inter_agent_communication_metadata"})
SILENT_ITEMS = frozenset({"ghost_snapshot", "compaction", "compaction_summary", "other"})
INSTRUCTIONS = ("# AGENTS.md instructions", "<skill>", "<environment_context>", "<user_instructions>")
"""How user messages begin that the program wrote; other wrappers are cut with the injected blocks."""


class Codex:
    name = "codex"

    def sniff(self, head: str) -> bool:
        return any(_is_ours(record) for record in head_records(head))

    def read(self, text: str) -> ReadResult:
        reading = Reading("codex")
        source = list(lines(text))
        read_lines(reading, source, partial(_Rollout(reading, source).parts))
        return reading.result()


def _is_ours(record: Record) -> bool:
    if isinstance(record.get("payload"), dict):
        return string(record.get("type")) in ENVELOPES
    bare_item = record.get("type") == "message" and "message" not in record and "content" in record
    first_line = "instructions" in record and {"id", "timestamp"} <= record.keys()
    exported = "created_at" in record and ("message" in record or "function" in record)
    return bare_item or first_line or exported or "record_type" in record


class _Rollout:
    """What must be known of the whole file to tell its voices apart."""

    def __init__(self, reading: Reading, source: list[Line]) -> None:
        self._reading = reading
        self._names: ToolNames = {}
        payloads = [(string(line.record.get("type")), mapping(line.record.get("payload"))) for line in source]
        items = [payload for kind, payload in payloads if kind == "response_item" and payload.get("type") == "message"]
        self._roles = {string(item.get("role")) for item in items}
        self._typed = {string(payload.get("message")) for kind, payload in payloads if _is_typed(kind, payload)}
        self._started = not self._typed
        self._first = None if self._has_typed(items) else _item_before_event(payloads)

    def _has_typed(self, items: list[Record]) -> bool:
        return any(output_text(item.get("content")) in self._typed for item in items)

    def parts(self, record: Record) -> Iterator[Part]:
        kind = string(record.get("type"))
        payload = record.get("payload")
        if not isinstance(payload, dict):
            yield from self._bare(record)
        elif kind == "response_item":
            yield from self._item(payload)
        elif kind == "event_msg":
            yield from self._event(payload)
        elif kind == "compacted":
            yield Said(AGENT, string(payload.get("message")))
        elif kind in BOOKKEEPING:
            self._reading.names(session=payload.get("id"), project=payload.get("cwd"))
            yield Skipped(kind)
        else:
            yield Unknown(f"unknown record type {label(kind)!r}")

    def _bare(self, record: Record) -> Iterator[Part]:
        """A line without envelope: a header, a state, or an item."""
        if "record_type" in record:
            yield Skipped(f"record:{label(record.get('record_type'))}")
        elif record.get("type"):
            yield from self._item(record)
        elif record.get("role"):
            yield from self._message(record)
        elif "id" in record:
            self._reading.names(session=record.get("id"))
            yield Skipped("session_meta")
        else:
            yield Unknown("a record without type")

    def _event(self, payload: Record) -> Iterator[Part]:
        """Events repeat the items for the screen; they are read only where the items are missing."""
        kind = string(payload.get("type"))
        if kind == "user_message":
            self._started = True
            if "user" not in self._roles:
                yield Said(USER, string(payload.get("message")))
        elif kind == "agent_message" and "assistant" not in self._roles:
            yield Said(AGENT, string(payload.get("message")))
        yield Skipped(f"event_msg:{label(kind)}")

    def _item(self, item: Record) -> Iterator[Part]:
        kind = string(item.get("type"))
        if kind == "message":
            yield from self._message(item)
        elif kind == "agent_message":
            yield from parts_of(item.get("content"), AGENT, self._names)
        elif kind.endswith("_call"):
            function = mapping(item.get("function"))
            remember_call(self._names, item.get("call_id"), item.get("name") or function.get("name"))
            yield Skipped("tool_call")
        elif kind.endswith(("_output", "_result")):
            tool = self._names.get(string(item.get("call_id"))) or string(item.get("name"))
            yield from tool_answer(_output(item.get("output", item.get("result"))), tool)
        elif kind == "reasoning":
            yield Skipped("thinking")
        elif kind in SILENT_ITEMS:
            yield Skipped(kind)
        else:
            yield Unknown(f"unknown item type {label(kind)!r}")

    def _message(self, item: Record) -> Iterator[Part]:
        role = string(item.get("role"))
        content = item.get("content", item.get("message"))
        if role == "assistant":
            yield from parts_of(content, AGENT, self._names)
        elif role == "user":
            for part in parts_of(content, self._voice(item, content), self._names):
                yield Skipped("instructions") if _is_instructions(part) else part
        elif role in ("developer", "system"):
            yield Skipped(role)  # the program's own prompt
        else:
            yield Unknown(f"unknown role {label(role)!r}")

    def _voice(self, item: Record, content: Any) -> Voice:
        typed = self._started or item is self._first or output_text(content) in self._typed
        return USER if typed else SYSTEM


def _is_typed(kind: str, payload: Record) -> bool:
    return kind == "event_msg" and payload.get("type") == "user_message"


def _item_before_event(payloads: list[tuple[str, Record]]) -> Record | None:
    """The user item nearest before the first typed message: where no text agrees, its place tells it."""
    nearest = None
    for kind, payload in payloads:
        if _is_typed(kind, payload):
            return nearest
        if kind == "response_item" and payload.get("role") == "user":
            nearest = payload
    return None


def _is_instructions(part: Part) -> bool:
    return isinstance(part, Said) and part.text.lstrip().startswith(INSTRUCTIONS)


def _output(value: Any) -> Any:
    """A tool's output; shell output of some releases is JSON `{"output": …, "metadata": …}` inside the string."""
    if isinstance(value, str) and value.startswith('{"output"'):
        try:
            inner = json.loads(value)
        except (ValueError, RecursionError):
            return value
        return string(mapping(inner).get("output")) or value
    return value
