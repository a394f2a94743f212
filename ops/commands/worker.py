"""afterword worker: one stage or loop of the fleet, in the foreground."""

from __future__ import annotations

import os
import shutil
from enum import StrEnum
from typing import Annotated

import typer

from db.connect import connect
from db.samples import note_loaded
from ops import logs
from ops.compose import context, make_embedder, make_extractor, verified_detectors
from ops.credentials import database_address
from ops.probing import probe_apart
from ops.settings import Settings, explain, load
from ops.thresholds import records
from pipeline.dropping import refuse_unearned
from pipeline.errors import ModelUnavailable


class WorkerName(StrEnum):
    INGEST = "ingest"
    EXTRACTION = "extraction"
    REDACTION = "redaction"
    EMBEDDING = "embedding"
    CONSOLIDATION = "consolidation"
    REPLAY = "replay"
    HOUSEKEEPING = "housekeeping"


def worker(
    name: Annotated[WorkerName, typer.Argument(help="which worker")],
    processes: Annotated[int, typer.Option(min=1, help="how many processes")] = 1,
) -> None:
    """Run one worker until SIGTERM; /metrics on AFTERWORD_METRICS_PORT if that is set.

    Example: afterword worker redaction --processes 2
    """
    settings = load()
    logs.configure(settings.log_level, as_json=settings.log_json)
    log_settings(settings)
    _refuse_what_cannot_work(name, settings)
    folder = _metrics_folder(settings, name) if settings.metrics_port is not None else None
    # prometheus_client chooses by this variable when it is first imported, which the fleet does.
    from workers import fleet
    from workers.context import install

    install(context(settings))
    fleet.run(
        name, processes, metrics_port=settings.metrics_port, metrics_dir=folder, metrics_host=settings.metrics_host
    )


def log_settings(settings: Settings) -> None:
    """The same lines that `afterword check` prints, at boot."""
    import structlog

    chosen = {item.name: f"{item.value} ({item.layer})" for item in explain(settings) if item.layer != "default"}
    structlog.get_logger().info("settings", **chosen)


def _refuse_what_cannot_work(name: WorkerName, settings: Settings) -> None:
    """A stage whose port was not chosen says so now, not at its first run."""
    if name is WorkerName.EXTRACTION:
        make_extractor(settings)
    if name is WorkerName.EMBEDDING and make_embedder(settings) is not None:
        _refuse_another_space(settings)
    if name is WorkerName.REDACTION:
        verified_detectors(settings)
    if name is WorkerName.REDACTION and settings.confidence_thresholds:
        _refuse_unearned(settings)


def _refuse_another_space(settings: Settings) -> None:
    """An embedder that does not answer now keeps no worker from starting: its runs wait, and try again."""
    import structlog

    try:
        probe_apart(settings)
    except ModelUnavailable as error:
        structlog.get_logger().warning("embedder_unavailable", error=str(error))


def _refuse_unearned(settings: Settings) -> None:
    """Thresholds that nobody's verdicts bear out; those that are loaded are an entry in the ledger."""
    with connect(database_address(settings, "worker")) as conn:
        shown = records(conn, settings)
        refuse_unearned(shown)
        note_loaded(conn, shown, actor="redaction")


def _metrics_folder(settings: Settings, name: WorkerName) -> str:
    """Cleared at start: files of processes that are gone would count for ever."""
    folder = settings.home / "metrics" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
    return str(folder)
