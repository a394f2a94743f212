"""afterword drops: what was kept out by rule, whether that was right, and the way back in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any
from uuid import UUID

import typer

from db import overview, reviews, samples
from db.connect import Connection
from ops.access import acting_as, acting_reviewer, known_org, ring_bell
from ops.arguments import Limit, OnlyOrg, OrgName, clean, one_id
from ops.commands.retyped import await_run, wait_option
from ops.output import AsJson, document, rows, with_evidence

app = typer.Typer(no_args_is_help=True, help="Drops: what was kept out, and was that right.")

COLUMNS = ("id", "org", "rule", "confidence", "threshold", "stamp", "review", "at", "restored_at")

Drop = Annotated[str, typer.Argument(help="its id, or how it begins")]


@app.command("list")
def list_(
    org: OnlyOrg = None,
    only_open: Annotated[bool, typer.Option("--open", help="only samples that wait for an answer")] = False,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """Drops, latest first, with rule, stated confidence and how their sample was answered. No content is shown.

    Example: afterword drops list --org acme --open
    """
    name = known_org(org).name if org else None
    with acting_as("operator") as conn:
        found = samples.drops(conn, org=name, only_open=only_open, limit=limit)
    rows(found, COLUMNS, as_json=as_json, none="nothing was dropped" if not only_open else "no sample waits")


@app.command()
def show(drop: Drop, org: OrgName, as_json: AsJson = False) -> None:
    """A drop as it was kept, evidence beside it. The look is an entry in the ledger.

    Example: afterword drops show 0192f3a4-77aa --org acme
    """
    found = _judge(drop, org, reviews.view_drop)
    with_evidence(found, as_json=as_json)


@app.command()
def confirm(
    drop: Drop,
    org: OrgName,
    reason: Annotated[str | None, typer.Option(help="why; kept with the review", callback=clean)] = None,
    as_json: AsJson = False,
) -> None:
    """Say of a sampled drop that leaving it out was right. Repeating it is harmless.

    Example: afterword drops confirm 0192f3a4-77aa --org acme
    """
    done = _judge(drop, org, lambda conn, id: reviews.confirm_drop(conn, id, comment=reason))
    if as_json:
        document({"done": done})
    else:
        typer.echo(done.replace("_", " "))


@app.command()
def restore(
    drop: Drop,
    org: OrgName,
    reason: Annotated[str, typer.Option(help="why; a restoration needs one", callback=clean)],
    no_wait: wait_option = False,
    as_json: AsJson = False,
) -> None:
    """Say that leaving it out was wrong: it passes detection and the gate like any other candidate, once.

    Example: afterword drops restore 0192f3a4-77aa --org acme --reason "the deadline was real"
    """
    run = _judge(drop, org, lambda conn, id: reviews.restore_drop(conn, id, comment=reason))
    ring_bell("redaction")
    with acting_as("operator") as conn:
        state = None if no_wait else await_run(conn, run)
        found = overview.run_memories(conn, run)
    if as_json:
        document({"run": run, "checked": state is not None, "memories": found})
    elif state is None:
        typer.echo(f"restored; it is checked by run {run}")
    elif not found:
        typer.echo(
            f"restored, and run {run} ended as {state['state']} without a memory; see: afterword runs show {run}"
        )
    for memory in () if as_json else found:
        held = f", held for {', '.join(memory['hold_reasons'])}" if memory["status"] == "pending" else ""
        typer.echo(f"restored; memory {memory['id']} is {memory['status']}{held}")


def _judge(drop: str, name: str, act: Callable[[Connection, UUID], Any]) -> Any:
    """One act of a reviewer of the org, in one transaction. Raises VerdictRefused."""
    org = known_org(name)
    with acting_as("operator") as conn:
        id = one_id(conn, "drop", drop)
    with acting_reviewer(org) as conn:
        return act(conn, id)
