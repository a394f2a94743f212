"""afterword dead-letters: runs that ended in an error and wait for a decision."""

from __future__ import annotations

from typing import Annotated

import typer

from db import orgs, overview
from ops.access import acting_as
from ops.arguments import Limit, OnlyOrg
from ops.output import AsJson, rows
from pipeline.outcome import ErrorCode

app = typer.Typer(no_args_is_help=True, help="Dead letters: runs that died, each with the state it died in and why.")

COLUMNS = ("id", "org", "session", "died_in", "error_code", "error_detail", "replays", "state_at")


@app.command("list")
def list_(
    org: OnlyOrg = None,
    code: Annotated[ErrorCode | None, typer.Option(help="only this error code")] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """Dead letters, latest first. Replay them with: afterword replay.

    Example: afterword dead-letters list --org acme --code model_unavailable
    """
    with acting_as("operator") as conn:
        if org is not None:
            orgs.get(conn, org)
        found = overview.dead_letters(conn, org=org, code=code, limit=limit)
    rows(found, COLUMNS, as_json=as_json, none="no dead letters")
