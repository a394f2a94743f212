"""Logs with one JSON record a line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pipeline.formats.reading import Part, Reading

HEAD_RECORDS = 50
"""How many lines are looked at to tell a format."""

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Line:
    """Line `number` (from 1): its record, or the reason why it is none."""

    number: int
    record: Record
    reason: str | None = None


def lines(text: str) -> Iterator[Line]:
    """Every line that is not blank. Only LF and CRLF end a line: JSON strings may hold U+2028 and its like raw."""
    rows = text.removeprefix("\ufeff").split("\n")
    final = max((number for number, row in enumerate(rows, start=1) if row.strip()), default=0)
    for number, row in enumerate(rows, start=1):
        if row.strip():
            yield _line(number, row, "truncated line" if number == final else "not JSON")


def _line(number: int, row: str, broken: str) -> Line:
    try:
        value = json.loads(row)
    except ValueError:
        return Line(number, {}, broken)
    except RecursionError:
        return Line(number, {}, "nested too deeply")
    return Line(number, value) if isinstance(value, dict) else Line(number, {}, "not an object")


def head_records(head: str) -> list[Record]:
    """The records among the first lines; none if most lines are none, as in a document spread over lines."""
    rows = [row for row in head.removeprefix("\ufeff").split("\n", HEAD_RECORDS)[:HEAD_RECORDS] if row.strip()]
    records = [line.record for line in (_line(1, row, "") for row in rows) if line.record]
    return records if 2 * len(records) >= len(rows) else []


def read_lines(
    reading: Reading, source: Iterable[Line], parts: Callable[[Record], Iterable[Part]], time_key: str = "timestamp"
) -> None:
    """Account for every line, its parts given by `parts`."""
    for line in source:
        if line.reason:
            reading.fail(line.number, line.reason)
        else:
            reading.record(line.number, parts(line.record), reading.time(line.record.get(time_key)))
