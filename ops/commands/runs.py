"""afterword runs: what became of each session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from db import orgs, overview
from ops.access import acting_as
from ops.arguments import Limit, OnlyOrg, one_id
from ops.output import AsJson, document, record, rows, shown
from pipeline.states import RunState

app = typer.Typer(no_args_is_help=True, help="Runs: each session's passage through the pipeline.")

COLUMNS = ("id", "org", "kind", "state", "session", "agent", "created_at", "error_code", "skip_reason", "waits_for")


@app.command("list")
def list_(
    org: OnlyOrg = None,
    state: Annotated[RunState | None, typer.Option(help="only this state")] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """Runs, newest first.

    Example: afterword runs list --org acme --state received
    """
    with acting_as("operator") as conn:
        if org is not None:
            orgs.get(conn, org)
        found = overview.runs(conn, org=org, state=state, limit=limit)
    rows(found, COLUMNS, as_json=as_json, none="no such runs")


@app.command()
def show(run: Annotated[str, typer.Argument(help="its id, or how it begins")], as_json: AsJson = False) -> None:
    """One run: where it stands, what became of each candidate, and its ledger in order. No content is shown.

    Example: afterword runs show 0192f3a4-77aa
    """
    with acting_as("operator") as conn:
        found = overview.run(conn, one_id(conn, "run", run))
    if as_json:
        document(found)
        return
    record({key: value for key, value in found.items() if not isinstance(value, list)})
    _say_candidates(found)
    _say_verdicts(found)
    typer.echo("\ntimeline")
    for entry in found["timeline"]:
        typer.echo(f"  {_entry(entry)}")


def _say_candidates(found: Mapping[str, Any]) -> None:
    typer.echo("\ncandidates")
    for memory in found["memories"]:
        typer.echo(f"  {memory['id']}  {memory['kind']}  {_fate(memory)}")
    for drop in found["drops"]:
        typer.echo(f"  {drop['id']}  dropped by rule {drop['rule']}; its content is kept")
    if not found["memories"] and not found["drops"]:
        typer.echo("  none" if found["state"] != RunState.RECEIVED else "  none yet: extraction comes next")


def _fate(memory: Mapping[str, Any]) -> str:
    said = [str(memory["status"])]
    if memory["superseded_by"]:
        said.append(f"gave way to {memory['superseded_by']}")
    if memory["hold_reasons"]:
        said.append(f"held for {shown(memory['hold_reasons'])}")
    if memory["classes"]:
        said.append(f"classes {shown(memory['classes'])}")
    if memory["occurrences"] > 1:
        said.append(f"seen {memory['occurrences']} times")
    return "; ".join(said)


def _say_verdicts(found: Mapping[str, Any]) -> None:
    for verdict in found["verdicts"]:
        typer.echo(f"  verdict on {verdict['memory_id']}: run {verdict['id']} is {verdict['state']}")
    for replay in found["replays"]:
        typer.echo(f"  replayed {shown(replay['at'])} by {shown(replay['actor'])}: {shown(replay['reason'])}")


def _entry(entry: Mapping[str, Any]) -> str:
    about = "" if entry["subject_kind"] == "run" else f" {entry['subject_id']}"
    return f"{shown(entry['at'])}  {entry['action']}{about}  by {shown(entry['actor'])}  {shown(entry['detail'])}"
