"""What a command prints: a table on a terminal, tab-separated lines in a pipe, one JSON document when asked."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pipeline.recall.visible import one_line

AsJson = Annotated[bool, typer.Option("--json", help="one JSON document instead of text")]


def document(value: object) -> None:
    """`value` as one JSON document; times in ISO 8601, UTC."""
    typer.echo(json.dumps(value, default=_plain, ensure_ascii=sys.stdout.isatty()))


def as_document(value: object) -> str:
    """The same for a file."""
    return json.dumps(value, default=_plain, ensure_ascii=False, indent=1) + "\n"


def rows(items: Iterable[Mapping[str, Any]], columns: Sequence[str], *, as_json: bool, none: str) -> None:
    """Rows with these columns; JSON has every field. `none` is said where there is no row."""
    found = list(items)
    if as_json:
        document(found)
    elif not found:
        typer.echo(none)
    elif sys.stdout.isatty():
        _table(found, columns)
    else:
        typer.echo("\t".join(columns))
        for item in found:
            typer.echo("\t".join(shown(item.get(column)) for column in columns))


def record(item: Mapping[str, Any]) -> None:
    """One thing, a line a field; absent fields are left out."""
    width = max((len(key) for key in item), default=0)
    for key, value in item.items():
        if value not in (None, "", [], {}, ()):
            typer.echo(f"{key:<{width}}  {shown(value)}")


def with_evidence(item: Mapping[str, Any], *, as_json: bool) -> None:
    """One thing, what it would replace, and the evidence for it, a record each."""
    if as_json:
        document(item)
        return
    beside = ("replaces", "evidence")
    record({key: value for key, value in item.items() if key not in beside})
    for key in beside:
        for one in item.get(key, ()):
            record({key: one})


def shown(value: object) -> str:
    """`value` on one line, with nothing in it that a terminal would obey."""
    if value is None:
        return "-"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds").removesuffix("+00:00")
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, (list, tuple, set, frozenset)):
        return ", ".join(shown(item) for item in value) or "-"
    if isinstance(value, Mapping):
        return " ".join(f"{shown(key)}={shown(item)}" for key, item in value.items()) or "-"
    return one_line(str(value))


def _table(items: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """The columns that tell something; a terminal has no room for the others."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    told = [column for column in columns if any(item.get(column) is not None for item in items)]
    for column in told:
        is_id = any(isinstance(item.get(column), UUID) for item in items)  # kept whole, to be copied
        table.add_column(column.replace("_", " "), overflow="fold", no_wrap=is_id)
    for item in items:
        table.add_row(*(Text(shown(item.get(column))) for column in told))
    Console().print(table)


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return value.hex() if isinstance(value, bytes) else str(value)
