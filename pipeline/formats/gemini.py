"""Gemini CLI: a JSON document (or JSONL) of messages with `type`, or a saved `history` of API contents."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from pipeline.formats.document import document, has_keys
from pipeline.formats.jsonl import Record, head_records, lines, read_lines
from pipeline.formats.messages import message_time
from pipeline.formats.reader import ReadResult
from pipeline.formats.reading import AGENT, SYSTEM, TOOL, USER, Part, Reading, Said, Skipped, Unknown, Voice
from pipeline.formats.shape import label, mapping, output_text, sequence, string

VOICES = {"user": USER, "gemini": AGENT, "model": AGENT}
NOTICES = frozenset({"info", "error", "warning", "system", "about", "quit"})
FILES_FROM = "--- Content from referenced files ---"
"""Starts the files that `@path` pulled into a user's message."""

SETUP = "This is the Gemini CLI."
"""Starts the message that describes the machine to the model."""


class Gemini:
    name = "gemini"

    def sniff(self, head: str) -> bool:
        if any("projectHash" in record and "sessionId" in record for record in head_records(head)):
            return True
        session = has_keys(head, "messages", "sessionId", "projectHash")
        return session or (has_keys(head, "role", "parts") and not has_keys(head, "content"))

    def read(self, text: str) -> ReadResult:
        reading = Reading("gemini")
        if any("messages" not in record and "history" not in record for record in head_records(text)):
            source = list(lines(text))
            latest = {string(line.record.get("id")): line.record for line in source}
            read_lines(reading, source, partial(_line, reading, latest))
        else:
            _read_document(reading, text)
        return reading.result()


def _read_document(reading: Reading, text: str) -> None:
    found = document(text, ("messages", "history"))
    reading.names(session=found.fields.get("sessionId"), project=found.fields.get("cwd"))
    for key in ("startTime", "start_time", "lastUpdated"):
        reading.time(found.fields.get(key))
    for number, item in enumerate(found.items, start=1):
        message = mapping(item)
        when = message_time(message) or message.get("ts")
        reading.record(number, _parts(message), reading.time(when))
    if found.broken:
        reading.fail(len(found.items) + 1, found.broken)


def _line(reading: Reading, latest: dict[str, Record], record: Record) -> Iterator[Part]:
    """A line of the JSONL form: a message that grew (a tool answered) is written again under its id."""
    if "projectHash" in record:
        reading.names(session=record.get("sessionId"))
        yield Skipped("session")
    elif any(key.startswith("$") for key in record):
        yield Skipped("update")  # rewinds and changed fields of the session
    elif "id" in record and latest[string(record.get("id"))] is not record:
        yield Skipped("superseded")
    else:
        yield from _parts(record)


def _parts(message: dict[str, Any]) -> Iterator[Part]:
    kind = string(message.get("type")) or string(message.get("role"))
    if kind in NOTICES:
        yield Skipped(kind)
        return
    if kind not in VOICES:
        yield Unknown(f"unknown message type {label(kind)!r}")
        return
    content = message.get("content", message.get("parts"))
    for piece in [content] if isinstance(content, str) else sequence(content):
        yield from _piece(piece, VOICES[kind])
    if message.get("thoughts"):
        yield Skipped("thinking")
    for call in sequence(message.get("toolCalls")):
        yield Skipped("tool_call")
        yield from _answers(mapping(call))
    if not content:
        yield Skipped("empty")


def _piece(piece: Any, voice: Voice) -> Iterator[Part]:
    fields = mapping(piece)
    answer = mapping(fields.get("functionResponse"))
    text = piece if isinstance(piece, str) else string(fields.get("text"))
    if answer:
        yield Said(TOOL, output_text(answer.get("response")), string(answer.get("name")) or None)
    elif "functionCall" in fields:
        yield Skipped("tool_call")
    elif fields.get("thought"):
        yield Skipped("thinking")
    elif text:
        yield from _said(text, voice)
    else:
        yield Skipped(label(next(iter(fields), "empty")))


def _said(text: str, voice: Voice) -> Iterator[Part]:
    """A user's text without the files and set-up that came in its message."""
    if voice != USER:
        yield Said(voice, text)
    elif text.startswith(SETUP):
        yield Said(SYSTEM, text)
    else:
        own, marker, files = text.partition(FILES_FROM)
        yield Said(USER, own)
        if marker:
            yield Said(TOOL, files, "attachment:file")


def _answers(call: dict[str, Any]) -> Iterator[Part]:
    tool = string(call.get("name")) or None
    responses = [
        output_text(mapping(mapping(item).get("functionResponse")).get("response"))
        for item in sequence(call.get("result"))
    ]
    text = "\n".join(filter(None, responses)) or output_text(call.get("resultDisplay"))
    yield Said(TOOL, text, tool)
