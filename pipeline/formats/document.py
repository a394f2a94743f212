"""Logs that are one JSON document around a list of messages; of a truncated one, what stands before the break."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

_DECODER = json.JSONDecoder()
_BETWEEN = re.compile(r"[\s,]*")
_ELEMENT_END = re.compile(r"\s*[,\]]")


@dataclass(frozen=True, slots=True)
class Document:
    """`fields` of the document, `items` of its list, and the reason if it breaks off after them."""

    fields: dict[str, Any] = field(default_factory=dict)
    items: list[Any] = field(default_factory=list)
    broken: str | None = None


def document(text: str, keys: Iterable[str]) -> Document:
    """The document in `text`: a list, or an object whose list stands under the first of `keys` that is there."""
    text = text.removeprefix("\ufeff")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _salvaged(text, keys)
    if isinstance(value, list):
        return Document(items=value)
    fields = value if isinstance(value, dict) else {}
    for key in keys:
        if isinstance(fields.get(key), list):
            return Document(fields, fields[key])
    return Document(fields, broken="no list of messages")


def has_keys(head: str, *keys: str) -> bool:
    """Do all `keys` stand in `head` as keys of an object? Inside a JSON string their quotes would be escaped."""
    return all(re.search(rf'"{re.escape(key)}"\s*:', head) for key in keys)


def _salvaged(text: str, keys: Iterable[str]) -> Document:
    start = _list_start(text, keys)
    if start is None:
        return Document(broken="not JSON")
    items = []
    position = start
    while position < len(text):
        position = _skip(text, position)
        try:
            item, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            break
        if not _ELEMENT_END.match(text, position):  # a number or word may itself be cut short
            break
        items.append(item)
    return Document(_fields_before(text[:start]), items, "truncated or not JSON from here")


def _skip(text: str, position: int) -> int:
    between = _BETWEEN.match(text, position)
    return between.end() if between else position


def _list_start(text: str, keys: Iterable[str]) -> int | None:
    if text.lstrip().startswith("["):
        return text.index("[") + 1
    found = (re.search(rf'"{re.escape(key)}"\s*:\s*\[', text) for key in keys)
    return next((match.end() for match in found if match), None)


def _fields_before(head: str) -> dict[str, Any]:
    try:
        value = json.loads(head + "]}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
