"""afterword redact rescan: have what older detectors stored looked at by today's. The redaction workers do it."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from db import orgs, reclassify
from db.connect import Connection
from ops.access import acting_as, actor, ring_bell
from ops.arguments import Limit, OnlyOrg, clean, moment
from ops.output import AsJson, document, rows
from pipeline.errors import AfterwordError

PAUSE_SECONDS = 0.5
STALLED_SECONDS = 90.0
SHOWN_MAX = 10_000
CHANGES = ("memory_id", "org", "status", "move", "classes_before", "classes", "reasons_before", "reasons")
REQUESTS = ("id", "kind", "org", "status", "counts", "actor", "reason", "digest", "requested_at", "finished_at")

NoWait = Annotated[bool, typer.Option("--no-wait", help="ask, and leave; see afterword redact rescans")]
Rate = Annotated[float, typer.Option(min=0.1, max=10_000, help="at most so many memories a second")]


class Stalled(AfterwordError):
    """Nobody carries the request out."""


class Unfinished(AfterwordError):
    """Not everything could be looked at."""


def rescan(
    since: Annotated[str | None, typer.Option(help="what was stored since: an ISO time, or 90m, 2h, 3d ago")] = None,
    org: OnlyOrg = None,
    rate: Rate = 200,
    reason: Annotated[str | None, typer.Option(help="why; stands in the ledger", callback=clean)] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="say what would change; change nothing")] = False,
    no_wait: NoWait = False,
    as_json: AsJson = False,
) -> None:
    """Have today's detectors look at all that older ones looked at, or none: memories in every status, the texts behind
    ledger entries, transcripts, envelopes. What an active memory hides is taken back for review; what waited for a
    detector alone is released.

    It goes on where it was if you leave, or a worker dies; what these detectors looked at they do not look at again.
    Exit code 1 where something could not be read. Example: afterword redact rescan --since 2h --dry-run
    """
    if not (reason or dry_run):
        raise typer.BadParameter("--reason is needed: it stands in the ledger of each memory that changes")
    with acting_as("operator") as conn:
        request = reclassify.ask(
            conn, "rescan", actor=actor(), reason=reason or "dry run", rate=rate, dry_run=dry_run,
            org_id=orgs.get(conn, org).id if org else None, since=moment(since) if since else None,
        )  # fmt: skip
        ended = followed(conn, request, quiet=as_json, wait=not no_wait)
        told(conn, ended, as_json=as_json)
    refuse_unfinished(ended)


def rescans(limit: Limit = 20, as_json: AsJson = False) -> None:
    """Rescans and reevaluations, latest first, with how far they are.

    Example: afterword redact rescans
    """
    with acting_as("operator") as conn:
        found = reclassify.requests(conn, limit=limit)
    rows(found, REQUESTS, as_json=as_json, none="no rescans yet")


def followed(conn: Connection, request: UUID, *, quiet: bool, wait: bool) -> dict[str, Any]:
    """Rings, and waits for the end if asked to, showing how far it is. Raises Stalled where nothing moves."""
    ring_bell("redaction")
    before, moved_at = None, time.monotonic()
    with _progress(quiet) as show:
        while True:
            (row,) = reclassify.requests(conn, id=request)
            show(row)
            if row["finished_at"] is not None or not wait:
                return row
            if (row["status"], row["store"], row["counts"]) != before:
                before, moved_at = (row["status"], row["store"], row["counts"]), time.monotonic()
            elif time.monotonic() - moved_at > STALLED_SECONDS:
                raise Stalled(f"request {request} is {row['status']} and does not move; is a redaction worker running? "
                              "It stays requested: see afterword redact rescans")  # fmt: skip
            time.sleep(PAUSE_SECONDS)


@contextmanager
def _progress(quiet: bool) -> Iterator[Any]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(
        *columns, console=Console(stderr=True), transient=True, disable=quiet or not sys.stderr.isatty()
    ) as progress:
        task = progress.add_task("requested", total=None)

        def show(row: Mapping[str, Any]) -> None:
            counts = row["counts"]
            progress.update(task, description=row["store"], completed=counts.get("looked", 0), total=counts.get("of"))

        yield show


def told(conn: Connection, ended: Mapping[str, Any], *, as_json: bool) -> None:
    """Every memory that changed, or would, and the counts."""
    changes = reclassify.changes(conn, ended["id"], limit=SHOWN_MAX)
    if as_json:
        document({**ended, "changes": changes})
        return
    rows(changes, CHANGES, as_json=False, none="no memory is decided otherwise")
    moves = Counter(change["move"] for change in changes)
    said = ", ".join(f"{number} {move}" for move, number in sorted(moves.items())) or "nothing"
    besides = {
        store: n for store in ("drops", "payloads", "transcripts", "envelopes") if (n := ended["counts"].get(store))
    }
    also = "".join(f"; {number} {store} masked or erased" for store, number in besides.items())
    would = "would change" if ended["dry_run"] or ended["kind"] == "reevaluate" else "changed"
    typer.echo(f"{ended['status']}: {ended['counts'].get('looked', 0)} looked at; {would}: {said}{also}")


def refuse_unfinished(ended: Mapping[str, Any]) -> None:
    failed, missed = ended["counts"].get("failed", 0), ended["counts"].get("missed", 0)
    if failed or missed:
        raise Unfinished(f"{failed} could not be read and {missed} were being decided upon; they are looked at by the "
                         "next rescan, and are in the log of the redaction workers")  # fmt: skip
