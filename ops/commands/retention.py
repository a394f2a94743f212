"""afterword retention: what is kept, why, and for how long."""

from __future__ import annotations

from dataclasses import asdict

import typer

from ops.output import AsJson, document, rows
from pipeline.retention import REGISTRY

app = typer.Typer(no_args_is_help=True, help="Retention: what is kept, why, and for how long.")

COLUMNS = ("name", "table", "days", "purpose", "subject")


@app.callback()
def group() -> None:
    """A group, however few its commands."""


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """Every class of data that is kept: where, why, for how many days, and how it leads to a person.

    Example: afterword retention list
    """
    found = [asdict(item) | {"days": item.keeps.days if item.keeps else None} for item in REGISTRY]
    if as_json:
        document([{key: value for key, value in item.items() if key != "keeps"} for item in found])
        return
    rows(found, COLUMNS, as_json=False, none="")
