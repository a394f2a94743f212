"""Lines of JSON asked of memory: `{"id", "query", ...}` in, a recall out, in the same order.

    {"id": 7, "query": "which database", "limit": 3, "kind": ["fact"]}
    -> {"id": 7, "recall_id": "...", "mode": "hybrid", "hits": [...], "excluded": {}, ...}

Failure handling: a line that is no such object, or whose question is refused, is answered with its number and the
error; the others are answered as ever. Each is a transaction of its own, printed once it is recorded, before the
next is read. Where the database goes down the command stops: what was printed was asked, the rest was not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import typer
from pydantic import ValidationError

from db.events import Org
from db.recall import QuestionRefused
from db.tokens import Bearer
from ops.access import Door, door_of
from ops.commands.recall.asking import Answer, Asked, Meaning, answer, document_of, meaning
from ops.masking import Masker
from ops.output import document
from ops.settings import Settings
from pipeline.errors import ModelRefused, ModelUnavailable


@dataclass(frozen=True, slots=True)
class _Line:
    """A line as read: what it asks, or why it asks nothing."""

    number: int
    id: Any
    asked: Asked | None
    error: str | None = None


def answer_lines(
    source: Iterable[bytes], org: Org, bearer: Bearer, defaults: Mapping[str, Any], budget: int | None,
    settings: Settings,
) -> Iterator[bool]:  # fmt: skip
    """Prints a line for each line that is not blank; yields whether it could be answered."""
    means, masker = meaning(settings), Masker(settings)
    with door_of(org, bearer) as door:
        for line in _read(source, defaults):
            given = _given(door, line, means, budget)
            document(_told(line, given, masker, means))
            yield isinstance(given, Answer)


def _given(door: Door, line: _Line, means: Meaning, budget: int | None) -> Answer | str:
    """The answer, or the error in words."""
    if line.asked is None:
        return line.error or ""
    try:
        question = line.asked.question(means.vector(line.asked.query), means.stamp)
        with door() as conn:
            return answer(conn, question, budget)
    except typer.BadParameter as error:
        return error.message
    except (QuestionRefused, ModelRefused, ModelUnavailable) as error:
        return str(error)


def _told(line: _Line, given: Answer | str, masker: Masker, means: Meaning) -> dict[str, Any]:
    if isinstance(given, str):
        return {"id": line.id, "line": line.number, "error": given}
    return {"id": line.id} | document_of(*given.masked(masker.anew(given.texts)), means.missing_because)


def _read(source: Iterable[bytes], defaults: Mapping[str, Any]) -> Iterator[_Line]:
    for number, raw in enumerate(source, start=1):
        if raw.strip():
            yield _line(number, raw, defaults)


def _line(number: int, raw: bytes, defaults: Mapping[str, Any]) -> _Line:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):  # not UTF-8 is a ValueError too
        return _Line(number, None, None, "not JSON in UTF-8")
    if not isinstance(value, dict):
        return _Line(number, None, None, "not an object")
    id_ = value.pop("id", None)
    if isinstance(id_, bool) or not isinstance(id_, str | int | None):
        return _Line(number, None, None, "id is no string or whole number")
    try:
        return _Line(number, id_, Asked.model_validate({**defaults, **value}, strict=True))
    except ValidationError as error:
        return _Line(number, id_, None, "; ".join(_fault(fault) for fault in error.errors(include_input=False)))


def _fault(fault: Mapping[str, Any]) -> str:
    where = ".".join(str(part) for part in fault["loc"])
    return f"{where}: {fault['msg'][:1].lower()}{fault['msg'][1:]}"
