"""What is held of somebody, as a document for them: their own data whole, what names or identifies others masked."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from db import erasure, export
from db.connect import Connection
from db.erasure import Found
from ops.access import acting_as
from ops.compose import context
from ops.forgetting import Asked, acting_operator, held
from ops.output import as_document
from ops.settings import Settings
from pipeline.errors import AfterwordError, DetectorDown
from pipeline.redaction.classes import PERSON, PERSONAL, ClassTier, tier_of
from pipeline.redaction.health import look
from pipeline.redaction.redactor import Inspector
from pipeline.redaction.span import Span, mask
from pipeline.session import Turn
from pipeline.subjects import USER, Name, Sought
from pipeline.transcripts import unpack

_CAN_NAME = frozenset({"content", "rationale", "evidence", "comment", "event", "text", "subject_id", "author",
                       "scope_value", "user_id", "session", "agent", "workflow", "eval_run"})  # fmt: skip


def exported(settings: Settings, asked: Asked, reason: str, output: Path, *, names_masked: bool) -> int:
    """Write the document to a new file; returns how many rows it has. Raises DetectorDown where nothing could mask the
    names of others and that was not waived, AfterwordError where the file is there.
    """
    if output.exists():
        raise AfterwordError(f"{output} is there already; an export is written to a new file")
    masked = _Masked(_inspector(settings, asked, names_masked=names_masked), asked.who)
    found = held(settings, asked)
    with acting_as("worker", settings) as conn:
        stores = {name: [masked.row(row) for row in rows] for name, rows in _rows(conn, asked, found.found)}
    counts = {name: len(rows) for name, rows in stores.items()}
    with acting_operator(asked.org) as conn:
        detail = {"stores": counts, "reason": reason, "names_masked": names_masked}
        entry = erasure.answered(conn, asked.who, "subject_exported", detail)
    head = {"org": asked.org.name, "at": datetime.now(UTC), "ledger_entry": entry, "others_masked": names_masked,
            "waiting": found.redis.counts()}  # fmt: skip
    descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as out:
        out.write(as_document(head | stores))
    return sum(counts.values())


def _inspector(settings: Settings, asked: Asked, *, names_masked: bool) -> Inspector:
    detectors = context(settings).detectors
    health = look(detectors)
    if names_masked and not health.covers(PERSON, asked.org.settings.languages):
        raise DetectorDown(
            "no healthy detector covers the class person: the names of others would stand in the export. Load one, or "
            "say --other-names-unmasked and mask by hand"
        )
    return Inspector(health.answering)


def _rows(conn: Connection, asked: Asked, found: Found) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    yield "memories", export.memories(conn, found)
    yield "sessions", [_session(row, asked.who) for row in export.runs(conn, found)]
    yield "drops", export.drops(conn, found)
    yield "reviews", export.reviews(conn, found)
    yield "outcomes", export.outcomes(conn, found)
    yield "handed_out", export.recalls(conn, asked.org.id, found)


def _session(row: dict[str, Any], who: Sought) -> dict[str, Any]:
    """Their own turns, and those that name them: the rest of a session is others' business."""
    body = row.pop("body")
    turns = unpack(body).turns if body else ()
    own = bool(row["user_id"]) and who.is_named(Name(USER, row["user_id"]))
    theirs = [(number, turn) for number, turn in enumerate(turns) if _is_theirs(turn, who, own=own)]
    return row | {"turns": [{"turn": number, "role": t.role, "at": t.at, "text": t.text} for number, t in theirs]}


def _is_theirs(turn: Turn, who: Sought, *, own: bool) -> bool:
    return (own and turn.role == "user") or who.stands_in([turn.text])


@dataclass(frozen=True)
class _Masked:
    inspect: Inspector
    who: Sought

    def row(self, row: dict[str, Any]) -> dict[str, Any]:
        return {name: self._value(value) if name in _CAN_NAME or name == "turns" else value
                for name, value in row.items()}  # fmt: skip

    def _value(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._value(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._value(item) for item in value]
        return self._text(value) if isinstance(value, str) else value

    def _text(self, text: str) -> str:
        return mask(text, (span for span in self.inspect(text).spans if self._is_anothers(text, span)))

    def _is_anothers(self, text: str, span: Span) -> bool:
        found = text[span.start : span.end]
        if self.who.is_named(Name(span.cls, found)) or self.who.stands_in([found]):
            return False
        if span.cls == PERSON and self.who.is_around(text, span.start, span.end):
            return False
        return span.cls in PERSONAL or tier_of(span.cls) is ClassTier.HIGH
