"""afterword ledger: the record of every decision, verified and read."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from db import ledger as store
from ops.access import acting_as, actor
from ops.arguments import NotFound, Reason
from ops.output import AsJson, document, record, rows
from ops.settings import load
from ops.witness import last_common, read_seals, restores, say_restored
from pipeline.errors import SettingError

app = typer.Typer(no_args_is_help=True, help="The ledger: every decision, append-only, sealed.")

COLUMNS = ("id", "at", "subject_kind", "actor", "action", "detail")


@app.command()
def verify(
    witness: Annotated[
        Path | None, typer.Option(help="folder of seals.jsonl; default: AFTERWORD_WITNESS_DIR", file_okay=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Recompute every entry and every seal, and compare with the witness outside the database. Exit code 1 at the
    first break, which is named.

    Example: afterword ledger verify --witness /mnt/worm/afterword
    """
    settings = load()
    folder = witness or settings.witness_dir
    # Read first: a seal made while the database is read would be missing in a file read before it, never here.
    witnessed = read_seals(folder) if folder else []
    with acting_as("operator", settings) as conn:
        verdict = store.verify(conn, witnessed)
    times = restores(folder) if folder else 0
    if as_json:
        document(asdict(verdict) | {"witness": folder, "restores": times})
        return
    if times:
        typer.echo(f"the witness says that the database was restored {times} times; see runbooks/restore.md")
    typer.echo(
        f"{verdict.entries} entries verify, {verdict.sealed} of them sealed; "
        + (f"{verdict.witnessed} seals stand in the witness at {folder}" if folder else "no witness: set "
           "AFTERWORD_WITNESS_DIR, since whoever cuts the ledger's tail can cut the seals beside it")
    )  # fmt: skip


@app.command()
def restored(
    reason: Reason,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="say what was lost; write nothing")] = False,
    as_json: AsJson = False,
) -> None:
    """Say in the witness that the database was restored from a physical backup: the seals made after that backup are
    lost, and the witness goes on from the last one that stands in both. Harmless when nothing was lost.

    Example: afterword ledger restored --reason "disk of pg-1 failed, backup of 03:00" --dry-run
    """
    settings = load()
    if settings.witness_dir is None:
        raise SettingError("AFTERWORD_WITNESS_DIR is unset: there is no witness that could disagree with the database.")
    witnessed = read_seals(settings.witness_dir)
    with acting_as("operator", settings) as conn:
        last = last_common(witnessed, store.seals(conn))
        lost = [seal for seal in witnessed if last is None or seal.below > last.below]
        found = {"seals_lost": len(lost), "since": lost[0].at if lost else None, "last_kept": last and last.id}
        if lost and not dry_run:
            store.record(conn, org_id=None, subject=("installation", "restore"), actor=actor(),
                         action="ledger_restored", detail={"seals_lost": len(lost), "reason": reason})  # fmt: skip
            say_restored(settings.witness_dir, last, by=actor(), reason=reason, lost=len(lost))
    document(found) if as_json else record(found)


@app.command()
def show(
    subject: Annotated[str, typer.Argument(help="the id of a run or memory, or the name of an org or space")],
    as_json: AsJson = False,
) -> None:
    """Every entry about a subject, oldest first.

    Example: afterword ledger show 0192f3a4-77aa-7c31-9d0e-6a1f0e6f2b11
    """
    with acting_as("operator") as conn:
        found = store.timeline(conn, [subject])
    if not found:
        raise NotFound(f"the ledger holds nothing about {subject!r}; it knows runs and memories by their whole id")
    rows(found, COLUMNS, as_json=as_json, none="")
