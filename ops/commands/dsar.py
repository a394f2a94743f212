"""afterword dsar: what is held of a person, answered, exported, erased, or kept for a court."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from db import erasure as store
from ops import forgetting
from ops.access import acting_as, known_org
from ops.arguments import OrgName, Reason, pair
from ops.export import exported
from ops.forgetting import Asked, Held, acting_operator, asked, forget, held, how_searched
from ops.output import AsJson, document, record, rows
from ops.settings import Settings, load
from ops.witness import Registered, read_erasures
from pipeline.errors import SettingError
from pipeline.subjects import Name, sought_again, words

app = typer.Typer(no_args_is_help=True, help="A person's rights: what is held, export, erasure, legal hold.")

HOLD_COLUMNS = ("org", "subject", "reason", "actor", "at", "rows")

Subject = Annotated[
    str,
    typer.Option(metavar="TYPE:ID", help="user:u-17, person:\"ana silva\", email:..., phone:...",
                 callback=pair(":", "TYPE:ID")),
]  # fmt: skip
Texts = Annotated[
    list[str] | None, typer.Option("--text", help="search every store for this too, inside words and packed bodies")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="say what would be done; do nothing")]
Yes = Annotated[bool, typer.Option("--yes", help="do not ask")]


@app.command("held")
def held_(org: OrgName, subject: Subject, text: Texts = None, as_json: AsJson = False) -> None:
    """How much is held of somebody, by store; no content is shown. The question is an entry in the ledger.

    Example: afterword dsar held --org acme --subject "person:ana silva" --text ana@example.com
    """
    settings = load()
    who = asked(settings, known_org(org), _name(subject), text or [])
    found = held(settings, who)
    with acting_operator(who.org) as conn:
        store.answered(conn, who.who, "subject_looked_up", {"stores": found.stores})
    _show(who, found, as_json=as_json)


@app.command("forget")
def forget_(
    org: OrgName, subject: Subject, reason: Reason, text: Texts = None, dry_run: DryRun = False, yes: Yes = False,
    rewrite: Annotated[
        bool, typer.Option("--rewrite", help="write the tables anew, each locked meanwhile: no old bytes in free space")
    ] = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Erase somebody from every store, and print the receipt. Shows what would go and asks first. Exit code 1 when a
    legal hold kept anything.

    Example: afterword dsar forget --org acme --subject user:u-17 --reason "request 2026-114" --dry-run
    """
    settings = load()
    who = _asked(settings, org, subject, text, reason)
    found = held(settings, who)
    if settings.witness_dir is None:
        typer.echo("AFTERWORD_WITNESS_DIR is unset: after a restore nothing would know of this erasure", err=True)
    if dry_run or found.holds:
        _show(who, found, as_json=as_json)
        if found.holds and not dry_run:
            raise forgetting.KeptByHold(_kept(found))
        return
    if not yes:
        _ask(who, found)
    receipt = forget(settings, who, reason, rewrite=rewrite)
    _hand_over(receipt, as_json=as_json)


@app.command()
def export(
    org: OrgName, subject: Subject, reason: Reason,
    output: Annotated[Path, typer.Option(help="a new file for the JSON document (0600)", dir_okay=False)],
    text: Texts = None,
    without_names: Annotated[
        bool, typer.Option("--other-names-unmasked", help="go on though no detector of persons is healthy")
    ] = False,
) -> None:  # fmt: skip
    """Write what is held of somebody for an access request: others' names, numbers and addresses masked. Whose a number
    or an address is, nothing says: give their own with --text, or it is masked as another's. The export is an entry in
    the ledger before the file is written.

    Example: afterword dsar export --org acme --subject user:u-17 --reason "request 2026-113" --output ana.json
    """
    settings = load()
    who = _asked(settings, org, subject, text, reason)
    count = exported(settings, who, reason, output, names_masked=not without_names)
    typer.echo(f"{count} rows about {subject} are in {output}; it holds personal data: hand it over and delete it")


@app.command()
def reapply(dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Erase again what was erased before a backup was restored, from the register outside the database. Harmless when
    repeated.

    Example: afterword dsar reapply --dry-run
    """
    settings = load()
    if settings.witness_dir is None:
        raise SettingError(
            "AFTERWORD_WITNESS_DIR is unset: the register of erasures is kept there, not in the database."
        )
    done = [_reapplied(item, dry_run=dry_run) for item in read_erasures(settings.witness_dir)]
    rows(done, ("erasure", "org", "at", "stores", "kept"), as_json=as_json, none="the register holds no erasure")
    if any(item["kept"] for item in done):
        raise typer.Exit(1)


@app.command()
def hold(org: OrgName, subject: Subject, reason: Reason, text: Texts = None, as_json: AsJson = False) -> None:
    """Keep everything about somebody, against retention and erasure, until the hold is released. Runs that name them
    later come under it too.

    Example: afterword dsar hold --org acme --subject user:u-17 --reason "case 12 O 4/26"
    """
    settings = load()
    who = _asked(settings, org, subject, text, reason)
    found = held(settings, who)
    with acting_operator(who.org) as conn:
        placed = store.place_hold(conn, who.who, reason, found.found)
    done = {"hold": placed, "stores": found.stores}
    document(done) if as_json else record(done)


@app.command()
def unhold(org: OrgName, subject: Subject, reason: Reason, as_json: AsJson = False) -> None:
    """Release a hold; what retention or an erasure would have taken meanwhile goes when they next run.

    Example: afterword dsar unhold --org acme --subject user:u-17 --reason "case closed"
    """
    who = _asked(load(), org, subject, None, reason)
    with acting_operator(who.org) as conn:
        released = store.release_hold(conn, who.who, reason)
    if released is None:
        raise forgetting.NoHold
    document({"released": released}) if as_json else record({"released": released})


@app.command()
def holds(as_json: AsJson = False) -> None:
    """Every open legal hold; subjects as keyed hashes.

    Example: afterword dsar holds
    """
    with acting_as("operator") as conn:
        found = store.holds(conn)
    rows(found, HOLD_COLUMNS, as_json=as_json, none="no legal holds")


def _asked(settings: Settings, org: str, subject: str, text: list[str] | None, reason: str) -> Asked:
    """What is asked, for a reason that may be written where nothing is ever erased."""
    name = _name(subject)
    who = asked(settings, known_org(org), name, text or [])
    if who.who.stands_in([reason]) or f" {' '.join(words(name.id))} " in f" {' '.join(words(reason))} ":
        raise typer.BadParameter("the reason stands in the ledger for good: it must not name whom it is about")
    return who


def _name(subject: str) -> Name:
    type_, _, id_ = subject.partition(":")
    return Name(type_.strip(), id_.strip())


def _show(who: Asked, found: Held, *, as_json: bool) -> None:
    shown: dict[str, Any] = {
        "org": who.org.name, "subject": who.who.hash.hex(), "searched": how_searched(who), "stores": found.stores,
        "under_legal_hold": found.held_rows, "holds": found.holds,
    }  # fmt: skip
    if as_json:
        document(shown)
    else:
        record(shown if found.stores else shown | {"stores": "nothing is held"})


def _kept(found: Held) -> str:
    why = "; ".join(f"{item['reason']} (by {item['actor']})" for item in found.holds)
    return f"nothing was erased: a legal hold keeps it: {why}. Release it first with: afterword dsar unhold"


def _ask(who: Asked, found: Held) -> None:
    if not sys.stdin.isatty():
        raise typer.BadParameter("erasing cannot be undone: look with --dry-run, then add --yes")
    _show(who, found, as_json=False)
    typer.confirm("Erase all of this?", abort=True)


def _hand_over(receipt: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        document(receipt)
    else:
        record(receipt)
        until = receipt["wal_and_backups_until"]
        typer.echo(f"WAL and backups hold what was erased until {until}; after a restore, run: afterword dsar reapply")
    if receipt["kept"]:
        raise typer.Exit(1)


def _reapplied(item: Registered, *, dry_run: bool) -> dict[str, Any]:
    settings = load()
    org = known_org(item.org)
    keyring = asked(settings, org, Name("erasure", str(item.id)), []).who.keyring
    who = Asked(org, sought_again(keyring, item.hash, item.needles))
    if dry_run:
        found = held(settings, who, item.rows)
        return {"erasure": item.id, "org": org.name, "at": item.at, "stores": found.stores, "kept": found.holds}
    receipt = forget(settings, who, "applied again after a restore", id=item.id, at=item.at, known=item.rows)
    return {"erasure": item.id, "org": org.name, "at": item.at, "stores": receipt["stores"], "kept": receipt["kept"]}
