"""afterword check: the settings, validated without starting anything."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any

import typer

from db import orgs
from db.connect import DatabaseDown, DatabaseError, connect
from db.doors import LOGIN_ROLES, over_privileged
from ops.compose import make_embedder, make_extractor, verified_detectors, working_detectors
from ops.credentials import database_address, redis_address
from ops.output import rows
from ops.settings import Settings, explain, load
from ops.thresholds import dropping, records
from pipeline.dropping import missing
from pipeline.errors import AfterwordError, SettingError
from pipeline.org import OrgSettings
from pipeline.redaction.health import Health, look

_DECIDED = {"waived": "goes without", "activatable": "lets in with a subject"}


def check(as_json: Annotated[bool, typer.Option("--json", help="one JSON document")] = False) -> None:
    """Print each effective setting and where it came from, and what would keep a worker from starting.

    Starts nothing. Exit code 1 when something would refuse. A database that answers is asked whether each door's
    login is no more than it should be.
    Example: AFTERWORD_EMBEDDER=local afterword check
    """
    settings = load()
    thresholds = _thresholds(settings)
    faults = _faults(settings) + [f"{item['stamp']} lacks {lack}" for item in thresholds for lack in item["lacks"]]
    health = look(working_detectors(settings))
    down = sorted(name for name, is_up in health.up.items() if not is_up)
    faults += [f"detector {name} is down: it does not find its canaries" for name in down]
    uncovered = sorted(OrgSettings().uncovered(health))
    holding = _holding(settings, health)
    if as_json:
        document = {
            "settings": [item._asdict() for item in explain(settings)],
            "faults": faults,
            "uncovered": uncovered,
            "orgs": holding,
            "thresholds": thresholds,
        }
        typer.echo(json.dumps(document))
    else:
        _print(settings, faults, uncovered, holding)
        for item in thresholds:
            typer.echo(f"Threshold {item['stamp']}={item['threshold']:g}: {'; '.join(item['lacks']) or _earned(item)}")
    if faults:
        raise typer.Exit(1)


def _print(
    settings: Settings, faults: list[str], uncovered: list[str], holding: dict[str, dict[str, list[str]]]
) -> None:
    listed = [
        {"setting": f"AFTERWORD_{item.name.upper()}", "value": item.value, "from": item.layer}
        for item in explain(settings)
    ]
    rows(listed, ("setting", "value", "from"), as_json=False, none="")
    if uncovered:
        typer.echo(f"No detector covers {', '.join(uncovered)}: an org holds everything until they are waived.")
    for name, of in holding.items():
        without = (
            f"holds everything, since nothing covers {', '.join(of['uncovered'])}" if of["uncovered"] else "covered"
        )
        let = [f"{words} {', '.join(of[key])}" for key, words in _DECIDED.items() if of[key]]
        typer.echo("; ".join([f"Org {name} (languages: {', '.join(of['languages'])}): {without}", *let]))
    for fault in faults:
        typer.echo(f"error: {fault}", err=True)


def _holding(settings: Settings, health: Health) -> dict[str, dict[str, list[str]]]:
    """Each org's languages, what it holds everything for, waived and lets in; none where no database answers."""
    try:
        with connect(database_address(settings, "operator")) as conn:
            found = orgs.every(conn)
    except (SettingError, DatabaseError):
        return {}
    return {
        org.name: {
            "languages": sorted(org.settings.languages),
            "uncovered": sorted(org.settings.uncovered(health)),
            "waived": [f"{cls} by {who}" for cls, who in sorted(org.settings.waived_classes.items())],
            "activatable": sorted(org.settings.activatable_classes),
        }
        for org in found
    }


def _faults(settings: Settings) -> list[str]:
    probes: list[Callable[[], object]] = [
        lambda: make_extractor(settings),
        lambda: make_embedder(settings),
        lambda: verified_detectors(settings),
        lambda: redis_address(settings, "worker"),
        lambda: database_address(settings, "worker"),
    ]
    return list(dict.fromkeys(fault for probe in probes if (fault := _fault(probe)))) + _doors(settings)


def _thresholds(settings: Settings) -> list[dict[str, Any]]:
    """What each confidence threshold can show for itself; without a database, nothing can be shown."""
    if not settings.confidence_thresholds:
        return []
    try:
        with connect(database_address(settings, "operator")) as conn:
            return [asdict(record) | {"lacks": missing(record)} for record in records(conn, settings)]
    except (SettingError, DatabaseError) as error:
        lacks = [f"a database that can be asked ({str(error).splitlines()[0]})"]
        return [{"stamp": stamp, "threshold": threshold, "lacks": lacks}
                for stamp, threshold in dropping(settings).thresholds.items()]  # fmt: skip


def _earned(item: dict[str, Any]) -> str:
    return (
        f"{item['verdicts']} verdicts; of {item['samples']} answers below it, {item['right']} found it better left out"
    )


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
