"""afterword near-duplicates: what was counted as a near duplicate of another memory, and taking that back."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from db import consolidation, overview, reviews
from ops.access import acting_as, acting_reviewer, known_org, ring_bell
from ops.arguments import Limit, OrgName, clean, one_id
from ops.commands.retyped import await_run, wait_option
from ops.output import AsJson, document, record, rows

app = typer.Typer(no_args_is_help=True, help="Near duplicates: what was counted as one, and taking that back.")

COLUMNS = ("repeat_id", "memory_id", "score", "kind", "at", "undone_at", "undone_by")

Repeat = Annotated[str, typer.Argument(help="the id of what was counted, or how it begins")]


@app.command("list")
def list_(org: OrgName, limit: Limit = 50, as_json: AsJson = False) -> None:
    """Pairs of which one was counted as a near duplicate of the other, newest first. No content is shown.

    Example: afterword near-duplicates list --org acme
    """
    found = known_org(org)
    with acting_as("operator") as conn:
        pairs = consolidation.near_duplicates(conn, found.id, limit=limit)
    rows(pairs, COLUMNS, as_json=as_json, none="nothing was counted as a near duplicate")


@app.command()
def show(repeat: Repeat, org: OrgName, as_json: AsJson = False) -> None:
    """What was counted, and the memory it was counted for, side by side. Both looks are ledgered.

    Example: afterword near-duplicates show 0192f3a4-77aa --org acme
    """
    found, id = known_org(org), _id(repeat)
    with acting_as("operator") as conn:
        kept = consolidation.counted_for(conn, found.id, id)
    with acting_reviewer(found) as conn:
        pair = [reviews.view_beside(conn, one) for one in (id, kept)]
    if as_json:
        document(pair)
        return
    for one in pair:
        record(one)


@app.command()
def undo(
    repeat: Repeat,
    org: OrgName,
    reason: Annotated[str, typer.Option(help="why it says something else", callback=clean)],
    no_wait: wait_option = False,
    as_json: AsJson = False,
) -> None:
    """It says something else: its text comes in again past detection and gate, and counts no more. Harmless to repeat.

    Example: afterword near-duplicates undo 0192f3a4-77aa --org acme --reason "another printer"
    """
    found, id = known_org(org), _id(repeat)
    with acting_reviewer(found) as conn:
        run = reviews.restore_repeat(conn, id, comment=reason)
    ring_bell("redaction")
    with acting_as("operator") as conn:
        state = None if no_wait else await_run(conn, run)
        new = overview.run_memories(conn, run)
    if as_json:
        document({"run": run, "checked": state is not None, "new": new})
    elif state is None:
        typer.echo(f"handed in as run {run}; see: afterword runs show {run}")
    for memory in () if as_json else new:
        typer.echo(f"it stands again as {memory['id']}, {memory['status']}")


def _id(text: str) -> UUID:
    with acting_as("operator") as conn:
        return one_id(conn, "memory", text)
