"""afterword check: the settings, validated without starting anything."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from db.connect import DatabaseDown, connect
from db.doors import LOGIN_ROLES, over_privileged
from ops.compose import make_embedder, make_extractor
from ops.credentials import database_address, redis_address
from ops.settings import Settings, explain, load
from pipeline.errors import AfterwordError, SettingError
from pipeline.redaction.canary import healthy_classes
from pipeline.redaction.classes import REQUIRED_BY_DEFAULT
from pipeline.redaction.detectors import ALL


def check(as_json: Annotated[bool, typer.Option("--json", help="one JSON document")] = False) -> None:
    """Print each effective setting and where it came from, and what would keep a worker from starting.

    Starts nothing. Exit code 1 when something would refuse. A database that answers is asked whether each door's
    login is no more than it should be.
    Example: AFTERWORD_EMBEDDER=local afterword check
    """
    settings = load()
    faults = _faults(settings)
    uncovered = sorted(REQUIRED_BY_DEFAULT - healthy_classes(ALL))
    if as_json:
        document = {
            "settings": [item._asdict() for item in explain(settings)],
            "faults": faults,
            "uncovered": uncovered,
        }
        typer.echo(json.dumps(document))
    else:
        _print(settings, faults, uncovered)
    if faults:
        raise typer.Exit(1)


def _print(settings: Settings, faults: list[str], uncovered: list[str]) -> None:
    table = Table("setting", "value", "from")
    for item in explain(settings):
        table.add_row(f"AFTERWORD_{item.name.upper()}", item.value, item.layer)
    Console().print(table)
    if uncovered:
        typer.echo(f"No detector covers {', '.join(uncovered)}: an org holds everything until they are waived.")
    for fault in faults:
        typer.echo(f"error: {fault}", err=True)


def _faults(settings: Settings) -> list[str]:
    probes: list[Callable[[], object]] = [
        lambda: make_extractor(settings),
        lambda: make_embedder(settings),
        lambda: redis_address(settings, "worker"),
        lambda: database_address(settings, "worker"),
    ]
    return list(dict.fromkeys(fault for probe in probes if (fault := _fault(probe)))) + _doors(settings)


def _fault(probe: Callable[[], object]) -> str | None:
    try:
        probe()
    except AfterwordError as error:
        return str(error)
    return None


def _doors(settings: Settings) -> list[str]:
    """What each login can do beyond its role; nothing where the database does not answer.

    A process that is not given a login's password is not that door.
    """
    faults: list[str] = []
    for role in LOGIN_ROLES:
        try:
            with connect(database_address(settings, role)) as conn:
                faults.extend(over_privileged(conn))
        except SettingError:
            continue
        except DatabaseDown:
            return faults
    return faults
