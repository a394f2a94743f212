"""Copilot CLI: JSONL of events, `{type: "user.message", data, timestamp}` a line."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pipeline.formats.blocks import ToolNames, remember_call, tool_answer
from pipeline.formats.jsonl import Record, head_records, lines, read_lines
from pipeline.formats.reader import ReadResult
from pipeline.formats.reading import AGENT, SYSTEM, USER, Part, Reading, Said, Skipped, Unknown, Voice
from pipeline.formats.shape import label, mapping, sequence, string

FAMILIES = ("session.", "hook.", "assistant.", "system.", "tool.", "subagent.", "skill.", "user.")
"""Families of events; of each, what no rule reads is the program's own and is skipped under its full name."""


class Copilot:
    name = "copilot"

    def sniff(self, head: str) -> bool:
        return any(_is_ours(record) for record in head_records(head))

    def read(self, text: str) -> ReadResult:
        reading = Reading("copilot")
        read_lines(reading, lines(text), partial(_parts, reading, {}))
        return reading.result()


def _is_ours(record: Record) -> bool:
    return isinstance(record.get("data"), dict) and string(record.get("type")).startswith(FAMILIES)


def _parts(reading: Reading, names: ToolNames, record: Record) -> Iterator[Part]:
    kind = string(record.get("type"))
    data = mapping(record.get("data"))
    if kind == "session.start":
        reading.names(session=data.get("sessionId"), project=mapping(data.get("context")).get("cwd"))
    if kind == "user.message":
        yield Said(_voice(data), string(data.get("content")))
        if data.get("attachments"):
            yield Skipped("attachment")
    elif kind == "assistant.message":
        for request in sequence(data.get("toolRequests")):
            remember_call(names, mapping(request).get("toolCallId"), mapping(request).get("name"))
            yield Skipped("tool_call")
        yield Said(AGENT, string(data.get("content")))
    elif kind == "tool.execution_start":
        remember_call(names, data.get("toolCallId"), data.get("toolName"))
        yield Skipped(kind)
    elif kind == "tool.execution_complete":
        result = mapping(data.get("result")) or mapping(data.get("error"))
        yield from tool_answer(
            result.get("content") or result.get("message"), names.get(string(data.get("toolCallId")))
        )
    elif kind == "session.compaction_complete":
        yield Said(AGENT, string(data.get("summaryContent")))
    elif kind.startswith(FAMILIES) or kind == "abort":
        yield Skipped(label(kind))
    else:
        yield Unknown(f"unknown record type {label(kind)!r}")


def _voice(data: Record) -> Voice:
    """A task given to a subagent is the agent's; a message with another source than the user is the program's."""
    if data.get("parentAgentTaskId"):
        return AGENT
    return USER if data.get("source") in (None, "", "user") else SYSTEM
