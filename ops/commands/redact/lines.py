"""Lines of JSON through detectors and gate: `{"id", "text"}` in, what was found out, in the same order.

Failure handling: a line that is no such object, or that a detector raises on, is answered with its number and the
error; the others are answered as ever. Read and answered in batches, so that a file of any size fits.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import typer

from pipeline.errors import DetectorDown
from pipeline.explaining import Explanation, Rules, explain_many
from pipeline.redaction.classes import tier_of
from pipeline.redaction.span import Detector, Span
from pipeline.session import storable

BATCH_LINES = 256
BATCH_CHARACTERS = 262_144
"""Whichever is full first; a model's batches are far smaller."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A line as read: its text, or why there is none."""

    number: int
    id: str | int | None
    text: str
    error: str | None = None


def explain_lines(source: Iterable[bytes], detectors: Sequence[Detector], rules: Rules) -> Iterator[bool]:
    """Prints a line for each line that is not blank; yields whether it could be answered."""
    for batch in _batches(_read(source)):
        found = iter(explain_many([line.text for line in batch if line.error is None], detectors, rules))
        answers = [(line, _refusal(line.error) if line.error else _told(next(found))) for line in batch]
        for line, told in answers:
            where = {"id": line.id} if "error" not in told else {"id": line.id, "line": line.number}
            typer.echo(json.dumps(where | told))
            yield "error" not in told


def answer(found: Explanation) -> dict[str, Any]:
    """What is told of a text: its spans, what the gate would do, and why."""
    return {"spans": [span_as_json(span) for span in found.spans], "gate": found.gate, "reasons": found.reasons}


def span_as_json(span: Span) -> dict[str, Any]:
    return {
        "class": span.cls, "tier": tier_of(span.cls), "start": span.start, "end": span.end,
        "detector": span.detector, "score": round(float(span.score), 4),
    }  # fmt: skip


def _told(found: Explanation | DetectorDown) -> dict[str, Any]:
    return _refusal(str(found)) if isinstance(found, DetectorDown) else answer(found)


def _refusal(why: str) -> dict[str, Any]:
    return {"error": why}


def _read(source: Iterable[bytes]) -> Iterator[_Line]:
    for number, raw in enumerate(source, start=1):
        if raw.strip():
            yield _line(number, raw)


def _line(number: int, raw: bytes) -> _Line:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):  # not UTF-8 is a ValueError too
        return _Line(number, None, "", "not JSON in UTF-8")
    if not isinstance(value, dict):
        return _Line(number, None, "", "not an object")
    id_, text = value.get("id"), value.get("text")
    if isinstance(id_, bool) or not isinstance(id_, str | int):
        return _Line(number, None, "", "id is missing, or no string or whole number")
    if not isinstance(text, str):
        return _Line(number, id_, "", "text is missing, or no string")
    return _Line(number, id_, storable(text))


def _batches(lines: Iterable[_Line]) -> Iterator[list[_Line]]:
    batch: list[_Line] = []
    characters = 0
    for line in lines:
        batch.append(line)
        characters += len(line.text)
        if len(batch) >= BATCH_LINES or characters >= BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch
