"""Hermes: one JSON document a session, chat completion messages inside session fields."""

from __future__ import annotations

from pipeline.formats.document import has_keys
from pipeline.formats.openai_chat import read_document
from pipeline.formats.reader import ReadResult
from pipeline.formats.reading import Reading
from pipeline.formats.shape import mapping


class Hermes:
    name = "hermes"

    def sniff(self, head: str) -> bool:
        return has_keys(head, "session_id", "session_start") and has_keys(head, "messages", "role")

    def read(self, text: str) -> ReadResult:
        reading = Reading("hermes")
        fields = read_document(reading, text)
        reading.names(project=mapping(fields.get("model_config")).get("cwd"), user=fields.get("user_id"))
        reading.time(fields.get("session_start"))
        reading.time(fields.get("last_updated"))
        return reading.result()
