"""afterword embed: embedding spaces, how much of the store is in them, and the change from one to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from db import embedding, overview
from db.migrate import Storage, register_stamp
from ops.access import acting_as, actor
from ops.commands import spaces
from ops.commands.recall.asking import named
from ops.compose import make_embedder
from ops.credentials import database_admin_address
from ops.output import AsJson, document, rows
from ops.probing import probe_apart
from ops.settings import load
from pipeline.embedding.calibration import Calibration, measure
from pipeline.embedding.port import Stamp
from pipeline.errors import SettingError

app = typer.Typer(no_args_is_help=True, help="Embedding spaces: register the embedder's, see what is embedded.")

app.command()(spaces.migrate)
app.command()(spaces.switch)
app.command()(spaces.drop)

STAMP_COLUMNS = (
    "id", "provider", "model", "revision", "dimension", "is_current", "embedded", "missing", "indexed", "calibrated",
    "size", "registered_at",
)  # fmt: skip
CALIBRATION_COLUMNS = ("side", "source", "pairs", "seed", "p50", "p90", "p99", "p999", "mean", "sd")
COVERAGE_COLUMNS = ("space", "org", "embedded", "missing", "ann", "counted_at")


@app.command()
def register(
    half: Annotated[
        bool | None,
        typer.Option("--half/--single", help="precision stored; default: half above 2,000 dimensions, else single"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make the table of the chosen embedder's vectors; the first becomes the current space. Harmless when repeated.

    The embedder is tried first: with vectors of another length than its dimension, no table is made. Half precision
    takes half the room and costs next to no recall (docs/measurements.md); above 2,000 dimensions only it can be
    indexed, and above 4,000 every search is exact.
    Example: AFTERWORD_EMBEDDER=local afterword embed register
    """
    settings = load()
    embedder = make_embedder(settings)
    if embedder is None:
        raise SettingError("AFTERWORD_EMBEDDER=none embeds nothing: there is no space to register.")
    probe_apart(settings)
    storage: Storage | None = None if half is None else "halfvec" if half else "vector"
    number = register_stamp(database_admin_address(settings), embedder.stamp, storage)
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


@app.command()
def calibrate(
    seed: Annotated[int, typer.Option(help="draws the same memories again")] = 1,
    sample: Annotated[int, typer.Option(min=100, max=2_000, help="memories to draw")] = 600,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="measure and show, store nothing")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure what a cosine is worth here: the spread of pairs of memories that have nothing to do with each other.

    Recall's floor and the one `similarity` go by the newest figures; without any they go by words and ranks alone.
    Example: afterword embed calibrate --dry-run
    """
    settings = load()
    embedder = make_embedder(settings)
    if embedder is None:
        raise SettingError("AFTERWORD_EMBEDDER=none embeds nothing: there is nothing to calibrate.")
    with acting_as("worker", settings) as conn:
        stamp = embedding.stamp_id(conn, embedder.stamp)
        if stamp is None:
            raise SettingError(f"{named(embedder.stamp)} is not registered: afterword embed register")
        before = embedding.calibrated(conn, stamp)
        texts, vectors = embedding.drawn(conn, stamp, seed=seed, limit=sample)
        measured = measure(texts, vectors, embedder, seed=seed)
        if not dry_run:
            embedding.calibrate(conn, stamp, measured, actor=actor())
    _say_calibration([*before.values(), *measured], stored=not dry_run, as_json=as_json)


def _say_calibration(found: Sequence[Calibration], *, stored: bool, as_json: bool) -> None:
    if as_json:
        document({"stored": stored, "calibrations": [asdict(one) for one in found]})
        return
    rows([asdict(one) for one in found], CALIBRATION_COLUMNS, as_json=False, none="")
    typer.echo("the newest of each side count from now on" if stored else "nothing was stored")


def _verdict(setting: str | None, chosen: Stamp | None, current: dict[str, object] | None) -> str:
    if chosen is None:
        return f"AFTERWORD_EMBEDDER is {setting or 'unset'}: recall is lexical"
    if current is None:
        return f"{named(chosen)} is not registered: afterword embed register"
    same = all(current[field] == getattr(chosen, field) for field in ("provider", "model", "revision", "dimension"))
    return f"{named(chosen)} is {'the current space' if same else 'not the current space: recall refuses'}"
