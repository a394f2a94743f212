"""afterword org: tenants, and what their governance has decided."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any, get_args

import typer

from db import embedding, model_calls, orgs, overview
from db.connect import Connection
from db.events import Org
from ops.access import acting_as, actor
from ops.arguments import Reason
from ops.compose import working_detectors
from ops.output import AsJson, document, record
from ops.settings import load
from pipeline.errors import AfterwordError
from pipeline.org import Consolidating, OrgSettings
from pipeline.provenance import EndpointClass
from pipeline.redaction.classes import REQUIRED_BY_DEFAULT, ClassTier, tier_of
from pipeline.redaction.health import look

app = typer.Typer(no_args_is_help=True, help="Orgs: tenants and their ledgered settings.")

ALL = sorted(REQUIRED_BY_DEFAULT)
LOW = [cls for cls in ALL if tier_of(cls) is ClassTier.LOW]
CONSOLIDATING = sorted(get_args(Consolidating))
ENDPOINTS = [str(one) for one in EndpointClass]
LANGUAGE = re.compile(r"[a-z]{2,3}")
NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,99}")  # the CHECK of orgs.name

Texts = list[str] | None


class ChangedMeanwhile(AfterwordError):
    """Somebody else changed this org meanwhile; look at it with org show, then decide again."""


@app.command()
def create(name: str, as_json: AsJson = False) -> None:
    """Create an org. It extracts nothing until extraction is enabled, and holds everything no detector covers.

    Example: afterword org create acme
    """
    if not NAME.fullmatch(name):
        raise AfterwordError(f"{name!r} is no name for an org: lower-case letters, digits, '.', '_', '-'; at most 100")
    with acting_as("operator") as conn:
        created = orgs.create(conn, name, actor=actor())
    if as_json:
        document({"org": name, "created": created})
    elif created:
        typer.echo(f"created {name}; extraction is off: afterword extraction enable --org {name} --reason WHY")
        _say_uncovered(name, OrgSettings())
    else:
        typer.echo(f"{name} stands already")


@app.command()
def show(name: str, as_json: AsJson = False) -> None:
    """An org's settings, spaces and counts.

    Example: afterword org show acme
    """
    with acting_as("operator") as conn:
        _print(_described(conn, orgs.get(conn, name)), as_json=as_json)


@app.command("set")
def set_(
    name: str,
    reason: Reason,
    waive: Annotated[
        Texts, typer.Option(metavar="CLASS", help=f"go without a detector for it: {', '.join(ALL)}")
    ] = None,
    unwaive: Annotated[Texts, typer.Option(metavar="CLASS", help="take a waiver back")] = None,
    require: Annotated[
        Texts, typer.Option(metavar="CLASS", help="hold everything while no healthy detector covers it")
    ] = None,
    activate_low: Annotated[
        Texts, typer.Option(metavar="CLASS", help=f"may be active once a subject is named: {', '.join(LOW)}")
    ] = None,
    hold_low: Annotated[Texts, typer.Option(metavar="CLASS", help="take --activate-low back")] = None,
    language: Annotated[
        Texts, typer.Option(metavar="CODE", help="a required class must be covered in it too: en, pt, de")
    ] = None,
    drop_language: Annotated[Texts, typer.Option(metavar="CODE", help="take --language back")] = None,
    budget_tokens: Annotated[
        str | None, typer.Option(metavar="N|none", help="tokens a day (UTC) for its model calls; runs wait at the cap")
    ] = None,
    budget_usd: Annotated[
        str | None, typer.Option(metavar="X|none", help="US dollars a day, of calls whose price is known; likewise")
    ] = None,
    allow_endpoint: Annotated[
        Texts, typer.Option(metavar="CLASS", help=f"models there may read its sessions: {', '.join(EndpointClass)}")
    ] = None,
    refuse_endpoint: Annotated[Texts, typer.Option(metavar="CLASS", help="take --allow-endpoint back")] = None,
    turns: Annotated[
        bool | None, typer.Option("--turns/--no-turns", help="what is said is searchable too: redacted, gated, 30 days")
    ] = None,
    consolidate: Annotated[
        Texts, typer.Option(metavar="WHAT", help=f"have consolidation do it: {', '.join(CONSOLIDATING)}")
    ] = None,
    leave: Annotated[Texts, typer.Option(metavar="WHAT", help="take --consolidate back")] = None,
    space: Annotated[Texts, typer.Option(metavar="NAME:TIER", help="add one: semantic or episodic")] = None,
    as_json: AsJson = False,
) -> None:
    """Change what an org's governance has decided; each change is an entry in the ledger, with its reason.

    Example: afterword org set acme --waive person --waive dob --reason "no NER here; reviewers look for names"
    """
    for option, given, known in (
        ("--waive", waive, ALL), ("--unwaive", unwaive, ALL), ("--require", require, ALL),
        ("--activate-low", activate_low, LOW), ("--hold-low", hold_low, LOW),
        ("--allow-endpoint", allow_endpoint, ENDPOINTS), ("--refuse-endpoint", refuse_endpoint, ENDPOINTS),
        ("--consolidate", consolidate, CONSOLIDATING), ("--leave", leave, CONSOLIDATING),
    ):  # fmt: skip
        _refuse_unknown(option, given, known)
    with acting_as("operator") as conn:
        org = orgs.get(conn, name)
        spaces = [_space(conn, org, text) for text in space or ()]
        wanted = _changed(org.settings, waive or (), unwaive or (), require or (), activate_low or (), hold_low or ())
        wanted = _speaking(wanted, language or (), drop_language or ())
        wanted = _admitting(wanted, allow_endpoint or (), refuse_endpoint or ())
        wanted = _paying(wanted, budget_tokens, budget_usd)
        wanted = wanted if turns is None else wanted.model_copy(update={"turns": turns})
        wanted = _consolidating(conn, wanted, consolidate or (), leave or ())
        with conn.transaction():
            if not orgs.change(conn, org, wanted, actor=actor(), reason=reason):
                raise ChangedMeanwhile
            for space_name, tier in spaces:
                orgs.create_space(conn, org, space_name, tier, actor=actor(), reason=reason)
        _print(_described(conn, orgs.get(conn, name)), as_json=as_json)


def _refuse_unknown(option: str, given: Sequence[str] | None, known: Sequence[str]) -> None:
    if unknown := sorted(set(given or ()) - set(known)):
        raise AfterwordError(f"{option} does not take {', '.join(unknown)}; it takes {', '.join(known)}")


def _changed(
    before: OrgSettings, waive: Sequence[str], unwaive: Sequence[str], require: Sequence[str],
    activate_low: Sequence[str], hold_low: Sequence[str],
) -> OrgSettings:  # fmt: skip
    standing = {cls: who for cls, who in before.waived_classes.items() if cls not in unwaive}
    return before.model_copy(
        update={
            "waived_classes": dict.fromkeys(waive, actor()) | standing,
            "required_classes": before.required_classes | set(require),
            "activatable_classes": (before.activatable_classes | set(activate_low)) - set(hold_low),
        }
    )


def _speaking(settings: OrgSettings, more: Sequence[str], less: Sequence[str]) -> OrgSettings:
    if unknown := sorted(code for code in more if not LANGUAGE.fullmatch(code)):
        raise AfterwordError(f"--language does not take {', '.join(unknown)}; it takes codes of ISO 639: en, pt, yue")
    if not (left := (settings.languages | set(more)) - set(less)):
        raise AfterwordError("an org speaks at least one language: name another by --language first")
    return settings.model_copy(update={"languages": left})


def _admitting(settings: OrgSettings, more: Sequence[str], less: Sequence[str]) -> OrgSettings:
    admitted = (settings.endpoint_classes | set(map(EndpointClass, more))) - set(map(EndpointClass, less))
    return settings.model_copy(update={"endpoint_classes": admitted})


def _paying(settings: OrgSettings, tokens: str | None, usd: str | None) -> OrgSettings:
    update: dict[str, float | None] = {}
    if tokens is not None:
        update["budget_tokens_a_day"] = None if tokens == "none" else _number("--budget-tokens", tokens, int)
    if usd is not None:
        update["budget_usd_a_day"] = None if usd == "none" else _number("--budget-usd", usd, float)
    return settings.model_copy(update=update)


def _consolidating(conn: Connection, settings: OrgSettings, more: Sequence[str], less: Sequence[str]) -> OrgSettings:
    current = embedding.current_stamp(conn)
    if "near_duplicates" in more and not (current and "passage" in embedding.calibrated(conn, current[0])):
        raise AfterwordError(
            "near duplicates need a calibrated stamp, or nobody knows what near is: afterword embed calibrate"
        )
    return settings.model_copy(update={"consolidation": (settings.consolidation | set(more)) - set(less)})


def _number(option: str, text: str, kind: Callable[[str], float]) -> float:
    try:
        number = kind(text)
    except ValueError:
        number = -1
    if not 0 <= number < math.inf:
        raise typer.BadParameter(f"{option} takes a number from 0, or none: not {text!r}")
    return number


def _space(conn: Connection, org: Org, text: str) -> tuple[str, str]:
    name, _, tier = text.rpartition(":")
    if not name or tier not in ("semantic", "episodic"):
        raise typer.BadParameter(f"{text!r} is not NAME:semantic or NAME:episodic")
    standing = overview.spaces(conn, org.id).get(name, tier)
    if standing != tier:
        raise AfterwordError(f"space {name} of {org.name} is {standing} already; a space does not change its tier")
    return name, tier


def _described(conn: Connection, org: Org) -> dict[str, Any]:
    settings = org.settings.model_dump(mode="json")
    plain = {key: sorted(value) if isinstance(value, list) else value for key, value in settings.items()}
    used = model_calls.of_day(conn, org.id)
    spaces = overview.spaces(conn, org.id)
    return {"org": org.name, **plain, **used, "spaces": spaces, **overview.counts(conn, org.name)}


def _print(described: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        document(described)
        return
    record(described)
    settings = OrgSettings(**{key: described[key] for key in OrgSettings.model_fields})
    if not _say_uncovered(described["org"], settings) and (held := described["held_for"].get("detector_unavailable")):
        typer.echo(
            f"{held} are held as detector_unavailable from before; after an outage: afterword redact rescan; after a "
            f"waiver or another language: afterword reevaluate --org {described['org']}"
        )


def _say_uncovered(name: str, settings: OrgSettings) -> bool:
    """Names the classes for which this org holds everything, and how it goes without them; False if there are none."""
    if uncovered := sorted(settings.uncovered(look(working_detectors(load())))):
        waived = " ".join(f"--waive {cls}" for cls in uncovered)
        typer.echo(
            f"it holds everything, since no detector covers {', '.join(uncovered)}; "
            f"to go without them: afterword org set {name} {waived} --reason WHY"
        )
    return bool(uncovered)
