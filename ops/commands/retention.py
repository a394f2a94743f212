"""afterword retention: what is kept, why and for how long; what is past its date, and its purge."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Annotated, Any

import typer

from db import orgs, retention
from db.connect import Connection
from db.events import Org
from ops.access import acting_as, actor
from ops.arguments import OnlyOrg, OrgName, Reason
from ops.commands.org import ChangedMeanwhile
from ops.output import AsJson, document, rows
from pipeline.retention import BY_ORG, REGISTRY, RetentionRefused, checked

app = typer.Typer(no_args_is_help=True, help="Retention: what is kept, why, for how long, and the purge of the rest.")

KEPT_COLUMNS = ("name", "table", "days", "purpose", "subject")
DUE_COLUMNS = ("store", "org", "due", "held", "since")
DryRun = Annotated[bool, typer.Option("--dry-run", help="say what would be done; do nothing")]


@app.command()
def show(org: OnlyOrg = None, as_json: AsJson = False) -> None:
    """Every class of data that is kept: where, why, for how many days; and what is past its date.

    Example: afterword retention show --org acme
    """
    with acting_as("operator") as conn:
        known = orgs.get(conn, org) if org else None
        due = [asdict(item) for item in retention.due(conn, known)]
    kept = [_kept(asdict(item), known) for item in REGISTRY]
    if as_json:
        document({"org": org, "kept": kept, "past_date": due})
        return
    rows(kept, KEPT_COLUMNS, as_json=False, none="")
    typer.echo("\npast its date")
    rows(due, DUE_COLUMNS, as_json=False, none="nothing")


def _kept(item: dict[str, Any], org: Org | None) -> dict[str, Any]:
    """One class with its days: the org's own, else the default; none where it goes with something else."""
    keeps = item.pop("keeps")
    default = keeps.days if keeps else None
    own = org.settings.retention if org else {}
    return item | {"days": own.get(item["name"], default), "default_days": default, "by_org": item["name"] in BY_ORG}


@app.command()
def run(org: OnlyOrg = None, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Purge what is past its date, a batch a transaction; housekeeping does the same by itself, all day. What a legal
    hold keeps is passed over and counted. Harmless when repeated or stopped half-way.

    Example: afterword retention run --dry-run
    """
    with acting_as("operator") as conn:
        known = orgs.get(conn, org) if org else None
        before = retention.due(conn, known)
        held = [asdict(item) for item in before if item.held]
        would = Counter({(item.store, item.org): item.due for item in before if item.due})
        found = would if dry_run else _purged(conn, known)
    counts = [{"store": store, "org": of, "rows": n} for (store, of), n in sorted(found.items(), key=str)]
    if as_json:
        document({"dry_run": dry_run, "purged": counts, "held": held})
        return
    rows(counts, ("store", "org", "rows"), as_json=False, none="nothing is past its date")
    for item in held:
        typer.echo(f"{item['held']} of {item['store']} are kept by a legal hold")
    if dry_run and counts:
        typer.echo("nothing was done: leave --dry-run away to purge this")


def _purged(conn: Connection, org: Org | None) -> Counter[tuple[str, str | None]]:
    done: Counter[tuple[str, str | None]] = Counter()
    while batch := retention.purge_batch(conn, actor=actor(), org=org):
        done += batch
    return done


@app.command("set")
def set_(
    org: OrgName,
    reason: Reason,
    days: Annotated[
        list[str], typer.Option("--days", metavar="CLASS=DAYS", help=f"or CLASS=default; of {', '.join(BY_ORG)}")
    ],
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Let an org keep a class of data for longer or shorter, not below 30 days. Shorter holds for what it has, at once;
    longer holds for what comes, since nothing that is kept until a date is kept longer. Entered in the ledger.

    Example: afterword retention set --org acme --days facts=60 --reason "agreed with the works council" --dry-run
    """
    with acting_as("operator") as conn, conn.transaction(force_rollback=dry_run):
        known = orgs.get(conn, org)
        wanted = checked(_wanted(known.settings.retention, days))
        changes = wanted != known.settings.retention
        settings = known.settings.model_copy(update={"retention": wanted})
        if not orgs.change(conn, known, settings, actor=actor(), reason=reason):
            raise ChangedMeanwhile
        sooner = retention.shortened(conn, known) if changes else {}
    if as_json:
        document({"org": org, "dry_run": dry_run, "retention": wanted, "changed": changes, "ends_sooner": sooner})
        return
    typer.echo(f"{org} {'would keep' if dry_run else 'keeps'} {_worded(wanted)}")
    for store, n in sooner.items():
        if n:
            typer.echo(f"{n} of {store} {'would end' if dry_run else 'end'} sooner than before")


def _wanted(standing: dict[str, int], asked: list[str]) -> dict[str, int]:
    wanted = dict(standing)
    for text in asked:
        name, _, number = text.partition("=")
        if number == "default":
            checked({name: 30})  # the name alone
            wanted.pop(name, None)
        elif number.isdecimal():
            wanted[name] = int(number)
        else:
            raise RetentionRefused(f"{text!r} is not CLASS=DAYS or CLASS=default, such as facts=60")
    return wanted


def _worded(days: dict[str, int]) -> str:
    own = ", ".join(f"{name} for {count} days" for name, count in sorted(days.items()))
    return f"{own}; the rest as by default" if own else "everything as by default"
