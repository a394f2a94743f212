"""afterword migrate: a database brought to this release."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from ops.settings import load
from ops.stack import bring_up_to_date, services


def migrate(as_json: Annotated[bool, typer.Option("--json", help="one JSON document")] = False) -> None:
    """Create the roles and apply the migrations that are missing; harmless when repeated. Forward only.

    A managed server needs AFTERWORD_DATABASE_ADMIN_URL, a login that may create roles and extensions.
    """
    settings = load()
    with services(settings):
        applied = bring_up_to_date(settings)
    if as_json:
        typer.echo(json.dumps({"applied": applied}))
    else:
        typer.echo("\n".join(f"applied {name}" for name in applied) or "nothing to apply")
