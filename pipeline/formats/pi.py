"""pi: JSONL, a `session` header, then entries: messages, compactions, settings, extensions' own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pipeline.formats.blocks import ToolNames, parts_of, tool_answer
from pipeline.formats.jsonl import Record, head_records, lines, read_lines
from pipeline.formats.reader import ReadResult
from pipeline.formats.reading import AGENT, SYSTEM, USER, Part, Reading, Said, Skipped, Unknown
from pipeline.formats.shape import label, mapping, string

BOOKKEEPING = frozenset({"session", "model_change", "thinking_level_change", "custom", "label", "session_info"})
SUMMARIES = frozenset({"compaction", "branch_summary", "branchSummary", "compactionSummary"})
"""Written by the agent about what was said before: its words, whatever they report."""


class Pi:
    name = "pi"

    def sniff(self, head: str) -> bool:
        return any(_is_ours(record) for record in head_records(head))

    def read(self, text: str) -> ReadResult:
        reading = Reading("pi")
        read_lines(reading, lines(text), partial(_parts, reading, {}))
        return reading.result()


def _is_ours(record: Record) -> bool:
    kind = record.get("type")
    in_envelope = kind == "message" and "role" in mapping(record.get("message"))
    return in_envelope or (kind == "session" and {"id", "cwd"} <= record.keys())


def _parts(reading: Reading, names: ToolNames, record: Record) -> Iterator[Part]:
    kind = string(record.get("type"))
    if kind == "session":
        reading.names(session=record.get("id"), project=record.get("cwd"))
    if kind == "message":
        yield from _message(mapping(record.get("message")), names)
    elif kind in SUMMARIES:
        yield Said(AGENT, string(record.get("summary")))
    elif kind == "custom_message":  # put into the conversation by an extension
        yield from parts_of(record.get("content"), SYSTEM, names)
    elif kind in BOOKKEEPING:
        yield Skipped(kind)
    else:
        yield Unknown(f"unknown record type {label(kind)!r}")


def _message(message: Record, names: ToolNames) -> Iterator[Part]:
    role = string(message.get("role"))
    content = message.get("content")
    if role == "user":
        yield from parts_of(content, USER, names)
    elif role == "assistant":
        if message.get("stopReason") in ("aborted", "error") and not content:
            yield Skipped(string(message.get("stopReason")))
        yield from parts_of(content, AGENT, names)
    elif role == "toolResult":
        yield from tool_answer(content, string(message.get("toolName")))
    elif role == "bashExecution":  # a command the user ran; its output is no one's words
        yield from tool_answer(message.get("output"), "bash")
    elif role in SUMMARIES:
        yield Said(AGENT, string(message.get("summary")))
    elif role in ("custom", "hookMessage"):
        yield from parts_of(content, SYSTEM, names)
    else:
        yield Unknown(f"unknown role {label(role)!r}")
