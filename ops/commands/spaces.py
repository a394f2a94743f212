"""afterword embed migrate, switch, drop: another embedding space takes over while sessions come in."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from db import embedding, spaces
from db.connect import Connection
from ops.access import acting_as, actor
from ops.arguments import Reason
from ops.compose import make_embedder
from ops.output import AsJson, document
from ops.settings import Settings, load
from pipeline.embedding.port import Embedder, Vectors
from pipeline.errors import ModelUnavailable, SettingError

BATCH = 64
TRIES = 6
"""An embedder that does not answer is asked again after 1, 2, 4, 8 and 16 seconds, or after as long as it says."""

To = Annotated[int, typer.Option("--to", help="the space's number: afterword embed status")]


def migrate(
    to: To,
    rate: Annotated[float | None, typer.Option(min=0.1, help="texts a second at most; default: as fast as it goes")]
    = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="say what there is to do, and do nothing")] = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Fill another space beside the current one, with the chosen embedder. Recall goes on in the current one.

    Stopping it loses nothing: the next call goes on where this one ended. What comes in meanwhile is caught up with at
    the end, and once more by a call after the switch.
    Example: AFTERWORD_EMBEDDER=local afterword embed migrate --to 2
    """
    settings = load()
    embedder = _embedder_of(settings, to)
    with acting_as("worker", settings) as conn:
        current = embedding.current_stamp(conn)
        assert current is not None  # `to` is registered, and the first one became current
        wanted = spaces.count_unfilled(conn, to, current[0])
        filled = 0
        if not dry_run:
            with spaces.filling(conn, to), _progress(wanted, quiet=as_json) as show:
                for more in _filled(conn, embedder, to, current[0], rate):
                    filled += more
                    show(filled)
        left = spaces.count_unfilled(conn, to, current[0])
    if as_json:
        document({"space": to, "current": current[0], "wanted": wanted, "filled": filled, "left": left})
    else:
        typer.echo(_outcome(to, current[0], wanted, filled, left, dry_run=dry_run))


def switch(
    to: To,
    reason: Reason,
    uncalibrated: Annotated[bool, typer.Option(help="though nobody measured what a cosine is worth in it")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="say what keeps it, and do nothing")] = False,
    as_json: AsJson = False,
) -> None:
    """Let recall and the workers use another space. Refused while a memory could no longer be found by vector.

    Workers and doors go on with the settings they started with: restart them with the embedder of the new space. Until
    then their runs wait at `redacted`, found by words.
    Example: afterword embed switch --to 2 --reason "a model that knows Japanese"
    """
    with acting_as("operator") as conn:
        missing = spaces.gap(conn, to)
        switched = False if dry_run else spaces.switch(
            conn, to, uncalibrated=uncalibrated, actor=actor(), reason=reason
        )  # fmt: skip
    if as_json:
        document({"space": to, "missing": missing, "switched": switched})
    elif dry_run:
        typer.echo(f"{missing:,} memories have no vector in space {to} yet")
    elif switched:
        typer.echo(
            f"space {to} is the current one: restart workers and doors with its embedder, then once more "
            f"afterword embed migrate --to {to}"
        )
    else:
        typer.echo(f"space {to} is the current one, as it was")


def drop(
    space: Annotated[int, typer.Argument(help="its number: afterword embed status")],
    reason: Reason,
    yes: Annotated[bool, typer.Option("--yes", help="do not ask")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete a space's vectors and its table; never those of the current one.

    Example: afterword embed drop 1 --reason "space 2 has served for a month" --yes
    """
    if not yes:
        typer.confirm(f"delete every vector of space {space}? They can only be made again", abort=True)
    with acting_as("operator") as conn:
        dropped = spaces.drop(conn, space, actor=actor(), reason=reason)
    if as_json:
        document({"space": space, "dropped": dropped})
    else:
        typer.echo(f"space {space} is gone{'' if dropped else ', as it was'}")


def _embedder_of(settings: Settings, to: int) -> Embedder:
    """The chosen embedder, if it is the one of that space."""
    embedder = make_embedder(settings)
    if embedder is None:
        raise SettingError("AFTERWORD_EMBEDDER=none embeds nothing: choose the embedder of the space to fill.")
    with acting_as("worker", settings) as conn:
        number = embedding.stamp_id(conn, embedder.stamp)
    if number is None:
        raise SettingError(f"{embedder.stamp} is not registered: afterword embed register")
    if number != to:
        raise SettingError(
            f"AFTERWORD_EMBEDDER is that of space {number}: set that of space {to} here, and leave the workers' alone."
        )
    return embedder


def _filled(conn: Connection, embedder: Embedder, stamp: int, current: int, rate: float | None) -> Iterator[int]:
    """New vectors batch by batch, from the first memory on until a whole pass finds none."""
    after, found = spaces.START, False
    while True:
        batch = spaces.unfilled(conn, stamp, current, after=after, limit=BATCH)
        if not batch:
            if after == spaces.START or not found:
                return
            after, found = spaces.START, False
            continue
        began = time.monotonic()
        vectors = _embedded(embedder, [one.content for one in batch])
        new = spaces.fill(conn, stamp, [one.id for one in batch], vectors)
        after, found = batch[-1].id, found or new > 0
        yield new
        if rate:
            time.sleep(max(0.0, len(batch) / rate - (time.monotonic() - began)))


def _embedded(embedder: Embedder, texts: list[str]) -> Vectors:
    """Raises ModelUnavailable when the last try failed, ModelRefused at once."""
    for attempt in range(TRIES):
        try:
            return embedder.passages(texts)
        except ModelUnavailable as error:
            if attempt == TRIES - 1:
                raise
            time.sleep(error.retry_after_seconds or 2.0**attempt)
    raise AssertionError("unreachable: the last attempt raises")


@contextmanager
def _progress(total: int, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=quiet or not sys.stderr.isatty()) as progress:
        task = progress.add_task("", total=total)
        yield lambda done: progress.update(task, completed=done, total=max(total, done))


def _outcome(to: int, current: int, wanted: int, filled: int, left: int, *, dry_run: bool) -> str:
    if dry_run:
        return f"{wanted:,} memories have no vector in space {to}"
    said = f"{filled:,} vectors were made in space {to}; {left:,} memories are without"
    if to == current or left:
        return said
    return f"{said}; next: afterword embed calibrate, then afterword embed switch --to {to} --reason WHY"
