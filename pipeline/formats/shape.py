"""Fields of a foreign record, taken without trust: a value of another type reads as absent, nothing raises."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

MILLISECONDS_FROM = 100_000_000_000
"""A number of this size or more counts milliseconds: as seconds it would lie after the year 5138."""

LABEL_CHARS = 60
"""A foreign name that becomes a counter's label is cut to this length."""


def mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def label(value: Any) -> str:
    """A foreign record's type as a counter's name; `?` when it has none."""
    return string(value)[:LABEL_CHARS] or "?"


def instant(value: Any) -> datetime | None:
    """ISO 8601 text (without a zone: UTC) or a Unix time in seconds or milliseconds; None for anything else."""
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if value >= MILLISECONDS_FROM else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def output_text(value: Any) -> str:
    """What a tool answered, as text: a string, content blocks, a record with streams, else its JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        texts = [item if isinstance(item, str) else string(mapping(item).get("text")) for item in value]
        return "\n".join(text for text in texts if text)
    streams = [string(mapping(value).get(key)) for key in ("output", "stdout", "stderr", "text", "content", "error")]
    if any(streams):
        return "\n".join(stream for stream in streams if stream)
    return "" if value in (None, {}) else _json(value)


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:  # parsed at a shallower stack than this one
        return ""
