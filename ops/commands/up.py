"""afterword up: everything on this machine, in the foreground."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import structlog
import typer

from ops import logs
from ops.commands.worker import WorkerName, log_settings
from ops.compose import context, make_embedder, make_extractor, verified_detectors
from ops.embedded.home import Home
from ops.settings import Settings, load
from ops.stack import bring_up_to_date, services
from ops.supervisor import Command, Supervisor
from pipeline.errors import AfterwordError

log = structlog.get_logger()


class AlreadyUp(AfterwordError):
    """Another afterword up runs on this AFTERWORD_HOME."""


def up(
    processes: Annotated[int, typer.Option(min=1, help="of extraction and of redaction; one of the others")] = 1,
) -> None:
    """Start what is not managed elsewhere, migrate, and keep the whole fleet running until SIGTERM or Ctrl-C.

    Data lies under AFTERWORD_HOME. With AFTERWORD_DATABASE_URL and AFTERWORD_REDIS_URL those servers are used instead.
    Example: AFTERWORD_EXTRACTOR=offline AFTERWORD_ALLOW_OFFLINE_EXTRACTOR=true AFTERWORD_EMBEDDER=local afterword up
    """
    settings = load()
    logs.configure(settings.log_level, as_json=settings.log_json)
    log_settings(settings)
    make_extractor(settings)
    make_embedder(settings)
    verified_detectors(settings)
    context(settings)  # what every worker would refuse is said once, before anything runs
    with Home(settings.home).only("up") as alone:
        if not alone:
            raise AlreadyUp(f"afterword up is running already with its data in {settings.home}")
        _keep_up(settings, processes)


def _keep_up(settings: Settings, processes: int) -> None:
    with services(settings) as revive:
        applied = bring_up_to_date(settings)
        log.info("ready", home=str(settings.home), migrations=len(applied))
        Supervisor(commands(settings, processes), look_after=revive).run()


def commands(settings: Settings, processes: int) -> list[Command]:
    """One child a worker. With AFTERWORD_METRICS_PORT set, each serves on a port of its own from there on."""
    table = []
    for number, name in enumerate(WorkerName):
        count = processes if name in (WorkerName.EXTRACTION, WorkerName.REDACTION) else 1
        environment = dict(os.environ)
        if settings.metrics_port is not None:
            environment["AFTERWORD_METRICS_PORT"] = str(settings.metrics_port + number)
        argv = [sys.executable, "-m", "ops.cli", "worker", name, "--processes", str(count)]
        table.append(Command(name, argv, environment))
    return table
