"""Afterword's own: a transcript (`{"turns": [...]}`), an event that carries one, or JSONL with one turn a line.

A turn's trust is the sender's claim, lowered where its role cannot bear it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from pipeline.formats.document import document, has_keys
from pipeline.formats.jsonl import head_records, lines
from pipeline.formats.reader import ReadResult
from pipeline.formats.reading import Part, Reading, Said, Unknown, Voice
from pipeline.formats.shape import label, mapping
from pipeline.session import Turn

_TURN_KEYS = {"role", "text", "trust"}


class Afterword:
    name = "afterword"

    def sniff(self, head: str) -> bool:
        return _is_lines(head) or (has_keys(head, "turns") and ("[]" in head or has_keys(head, "role", "trust")))

    def read(self, text: str) -> ReadResult:
        reading = Reading("afterword")
        if _is_lines(text):
            for line in lines(text):
                if line.reason:
                    reading.fail(line.number, line.reason)
                else:
                    reading.record(line.number, _parts(line.record), reading.time(line.record.get("at")))
        else:
            _read_document(reading, text)
        return reading.result()


def _is_lines(head: str) -> bool:
    return any(record.keys() >= _TURN_KEYS for record in head_records(head))


def _read_document(reading: Reading, text: str) -> None:
    found = document(text, ("turns",))
    fields, items, broken = found.fields, found.items, found.broken
    inner = mapping(fields.get("transcript")).get("turns")
    if isinstance(inner, list):
        items, broken = inner, None
    reading.names(**{key: fields.get(key) for key in ("session", "project", "user", "agent")})
    reading.time(fields.get("ended_at"))
    for number, item in enumerate(items, start=1):
        reading.record(number, _parts(item), reading.time(mapping(item).get("at")))
    if broken:
        reading.fail(len(items) + 1, broken)


def _parts(item: Any) -> Iterator[Part]:
    try:
        turn = Turn.model_validate(item)
    except ValidationError as error:
        yield Unknown(_reason(error))
        return
    yield Said(Voice(turn.role, turn.trust), turn.text, turn.tool, turn.at, turn.name)


def _reason(error: ValidationError) -> str:
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    return f"not a turn: {label('.'.join(map(str, first['loc'])))} {first['type']}"
