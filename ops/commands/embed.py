"""afterword embed: embedding spaces, and how much of the store is in them."""

from __future__ import annotations

import typer

from db import overview
from db.migrate import register_stamp
from ops.access import acting_as
from ops.commands.recall import named
from ops.compose import make_embedder
from ops.credentials import database_admin_address
from ops.output import AsJson, document, rows
from ops.settings import load
from pipeline.embedding.port import Stamp
from pipeline.errors import SettingError

app = typer.Typer(no_args_is_help=True, help="Embedding spaces: register the embedder's, see what is embedded.")

STAMP_COLUMNS = ("id", "provider", "model", "revision", "dimension", "is_current", "registered_at")
COVERAGE_COLUMNS = ("org", "embedded", "missing", "ann", "counted_at")


@app.command()
def register(as_json: AsJson = False) -> None:
    """Make the table of the chosen embedder's vectors; the first becomes the current space. Harmless when repeated.

    Example: AFTERWORD_EMBEDDER=local afterword embed register
    """
    settings = load()
    embedder = make_embedder(settings)
    if embedder is None:
        raise SettingError("AFTERWORD_EMBEDDER=none embeds nothing: there is no space to register.")
    number = register_stamp(database_admin_address(settings), embedder.stamp)
    if as_json:
        document({"id": number, "stamp": embedder.stamp})
    else:
        typer.echo(f"{named(embedder.stamp)} is space {number}")


@app.command()
def status(as_json: AsJson = False) -> None:
    """The registered spaces, whether the chosen embedder is the current one, and the coverage by org.

    Example: afterword embed status
    """
    settings = load()
    with acting_as("operator", settings) as conn:
        stamps, coverage = overview.stamps(conn), overview.coverage(conn)
    embedder = None if settings.embedder in (None, "none") else make_embedder(settings)
    chosen = embedder.stamp if embedder else None
    verdict = _verdict(settings.embedder, chosen, next((row for row in stamps if row["is_current"]), None))
    if as_json:
        document({"embedder": settings.embedder, "verdict": verdict, "stamps": stamps, "coverage": coverage})
        return
    rows(stamps, STAMP_COLUMNS, as_json=False, none="no space is registered: afterword embed register")
    rows(coverage, COVERAGE_COLUMNS, as_json=False, none="nothing is counted yet; housekeeping does it")
    typer.echo(verdict)


def _verdict(setting: str | None, chosen: Stamp | None, current: dict[str, object] | None) -> str:
    if chosen is None:
        return f"AFTERWORD_EMBEDDER is {setting or 'unset'}: recall is lexical"
    if current is None:
        return f"{named(chosen)} is not registered: afterword embed register"
    same = all(current[field] == getattr(chosen, field) for field in ("provider", "model", "revision", "dimension"))
    return f"{named(chosen)} is {'the current space' if same else 'not the current space: recall refuses'}"
