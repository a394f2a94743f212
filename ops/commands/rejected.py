"""afterword rejected: events that could not become runs, kept scrubbed until they are purged."""

from __future__ import annotations

from typing import Annotated

import typer

from db import overview
from ops.access import acting_as
from ops.arguments import Limit, one_id
from ops.masking import Masker
from ops.output import AsJson, document, record, rows
from ops.settings import load
from pipeline.intake import MAX_KEPT_BYTES, RejectReason
from pipeline.transcripts import inflate

app = typer.Typer(no_args_is_help=True, help="Rejected events: what could not become a run, with its reason.")

COLUMNS = ("id", "reason", "detail", "deliveries", "at", "replayed_at", "purge_after")


@app.command("list")
def list_(
    reason: Annotated[RejectReason | None, typer.Option(help="only this reason")] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """Rejected events, latest first. After a fix, try them again with: afterword replay --rejected REASON.

    Example: afterword rejected list --reason unknown_org
    """
    with acting_as("operator") as conn:
        found = overview.rejected(conn, reason=reason, limit=limit)
    rows(found, COLUMNS, as_json=as_json, none="no rejected events")


@app.command()
def show(event: Annotated[str, typer.Argument(help="its id, or how it begins")], as_json: AsJson = False) -> None:
    """One rejected event with its original, every span that a detector finds masked.

    Example: afterword rejected show 0192f3a4-77aa
    """
    with acting_as("operator") as conn:
        found = overview.rejected_event(conn, one_id(conn, "rejected_event", event))
    body = found.pop("body")
    original = Masker(load())(inflate(body, MAX_KEPT_BYTES).decode()) if body else ""
    if as_json:
        document(found | {"original": original})
        return
    record(found)
    record({"original": original or "not kept: it may be what ended its consumers"})
