"""What became of a text that a person typed: it goes through redaction like any other, in a run of its own."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from uuid import UUID

import typer

from db import overview
from db.connect import Connection
from db.reviews import Act
from ops.output import document, shown
from pipeline.errors import AfterwordError
from pipeline.states import MemoryStatus, RunState

WAIT_SECONDS = 30.0
PAUSE_SECONDS = 0.1

wait_option = Annotated[bool, typer.Option("--no-wait", help="hand the text in and return; else until it was checked")]


class NotChecked(AfterwordError):
    """The text was handed in and is not checked yet."""


def await_run(conn: Connection, run: UUID, *, within_seconds: float = WAIT_SECONDS) -> Mapping[str, Any]:
    """The run once redaction is done with it. Raises NotChecked when it died, or when time is up."""
    deadline = time.monotonic() + within_seconds
    while (row := overview.run_state(conn, run))["state"] == RunState.EXTRACTED:
        if time.monotonic() >= deadline:
            raise NotChecked(
                f"the text was handed in as run {run} and is not checked after {within_seconds:.0f} s; is a redaction "
                f"worker running? See: afterword runs show {run}"
            )
        time.sleep(PAUSE_SECONDS)
    if row["state"] == RunState.DEAD_LETTER:
        raise NotChecked(f"the text was not checked: run {run} died of {row['error_code']}; the memory is unchanged")
    return row


def say_retyped(
    act: Act, run: UUID | None, state: Mapping[str, Any] | None, became: Mapping[str, Any],
    new: Sequence[Mapping[str, Any]], *, as_json: bool,
) -> None:  # fmt: skip
    """Say where the memory, and for a correction the new one, stands."""
    if as_json:
        document({"act": act, "run": run, "checked": state is not None, "memory": became, "new": list(new)})
    elif run is None:
        typer.echo(f"that very text was handed in before; the memory is {_stands(became)}")
    elif state is None:
        typer.echo(f"handed in as run {run}; see: afterword runs show {run}")
    else:
        typer.echo(f"checked; the memory is {_stands(became)}")
        for memory in new:
            typer.echo(f"the correction {memory['id']} is {_stands(memory)}")


def _stands(memory: Mapping[str, Any]) -> str:
    if memory["status"] == MemoryStatus.PENDING:
        return f"pending, held for {shown(memory['hold_reasons'])}"
    return str(memory["status"])
