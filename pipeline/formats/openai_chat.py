"""Chat completion messages: `{"messages": [...]}`, a bare list, or JSONL with one message a line.

A system prompt is kept as a system turn: in a bare list of messages only its deployer can have put it there, and it
says what the session was about. It is untrusted, so nothing is remembered on its word alone.
"""

from __future__ import annotations

from typing import Any

from pipeline.formats.blocks import ToolNames
from pipeline.formats.document import document, has_keys
from pipeline.formats.jsonl import Line, head_records, lines
from pipeline.formats.messages import SILENT_ROLES, TOOL_ROLES, VOICES, message_parts, message_time
from pipeline.formats.reader import ReadResult
from pipeline.formats.reading import Reading
from pipeline.formats.shape import string

ROLES = TOOL_ROLES | SILENT_ROLES | VOICES.keys()


class OpenAIChat:
    name = "openai_chat"

    def sniff(self, head: str) -> bool:
        if any(string(record.get("role")) in ROLES for record in head_records(head)):
            return True
        in_a_list = has_keys(head, "messages") or head.removeprefix("\ufeff").lstrip().startswith("[")
        return in_a_list and has_keys(head, "role")

    def read(self, text: str) -> ReadResult:
        reading = Reading("openai-chat")
        if any("role" in record for record in head_records(text)):
            _read_lines(reading, text)
        else:
            read_document(reading, text)
        return reading.result()


def read_document(reading: Reading, text: str) -> dict[str, Any]:
    """Account for a document's messages; answers the fields around them."""
    found = document(text, ("messages",))
    names: ToolNames = {}
    fields = found.fields
    reading.names(
        session=fields.get("session_id") or fields.get("conversation_id") or fields.get("id"),
        project=fields.get("cwd") or fields.get("project"),
        user=fields.get("user"),
        agent=fields.get("agent"),
    )
    for number, message in enumerate(found.items, start=1):
        reading.record(number, message_parts(message, names), reading.time(message_time(message)))
    if found.broken:
        reading.fail(len(found.items) + 1, found.broken)
    return fields


def _read_lines(reading: Reading, text: str) -> None:
    names: ToolNames = {}
    for line in lines(text):
        if reason := line.reason or _not_a_message(line):
            reading.fail(line.number, reason)
            continue
        reading.names(session=line.record.get("session_id"), user=line.record.get("user"))
        reading.record(line.number, message_parts(line.record, names), reading.time(message_time(line.record)))


def _not_a_message(line: Line) -> str | None:
    return "a conversation of its own: one file each" if "messages" in line.record else None
