"""afterword workspace: namespaces and the rules a person keeps in a file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from db import rules
from db.events import Org
from ops.access import acting_as, acting_reviewer, actor, known_org, ring_bell
from ops.arguments import OrgName
from ops.output import AsJson, document, rows, shown
from pipeline.manifest import Namespace
from pipeline.memory import Scope, content_hash
from pipeline.redaction.redactor import without_high
from pipeline.workspace import Change, Workspace, WorkspaceRefused, changes, parse

app = typer.Typer(no_args_is_help=True, help="Workspaces: namespaces, and the rules that a person keeps in a file.")

COLUMNS = ("name", "scope", "path", "title", "agents")


@app.command()
def show(org: OrgName, as_json: AsJson = False) -> None:
    """The namespaces of an org.

    Example: afterword workspace show --org acme
    """
    found = known_org(org)
    with acting_as("operator") as conn:
        manifest = rules.manifest(conn, found.id)
    rows([_row(place) for place in manifest], COLUMNS, as_json=as_json, none="no namespace")


@app.command()
def apply(
    file: Annotated[Path, typer.Argument(help="the workspace's YAML file", exists=True, dir_okay=False)],
    org: OrgName,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="say what would change, and change nothing")] = False,
    as_json: AsJson = False,
) -> None:
    """Make an org's namespaces and rules what the file says. Applying it again changes nothing.

    Rules come in as decided by whoever applies the file, past detection like any text. What stands in the org and not
    in the file stays: a rule goes by review forget.
    Example: afterword workspace apply rules.yaml --org acme --dry-run
    """
    found, wanted = known_org(org), _read(file)
    planned = [change for change in _planned(found, wanted) if not change.is_nothing]
    runs = [] if dry_run else [run for change in planned if (run := _carry_out(found, change))]
    if runs:
        ring_bell("redaction")
    if as_json:
        document({"applied": not dry_run, "runs": runs, "changes": [_change(change) for change in planned]})
        return
    for line in _lines(planned):
        typer.echo(line)
    typer.echo("nothing was changed" if dry_run or not planned else f"applied; rules are checked in {len(runs)} runs")


def _read(file: Path) -> Workspace:
    """Raises WorkspaceRefused for what is no YAML, or no workspace."""
    try:
        return parse(YAML(typ="safe", pure=True).load(file.read_text(encoding="utf-8")))
    except (YAMLError, UnicodeDecodeError) as error:
        raise WorkspaceRefused(f"{file} is no YAML: {str(error).splitlines()[0]}") from None


def _planned(org: Org, wanted: Workspace) -> list[Change]:
    masked = parse({"namespaces": [
        filed.model_dump() | {"rules": [without_high(rule) for rule in filed.rules]} for filed in wanted.namespaces
    ]})  # fmt: skip
    with acting_as("operator") as conn:
        manifest = rules.manifest(conn, org.id)
    standing: dict[str, Iterable[bytes]] = {}
    with acting_reviewer(org) as conn:
        for filed in masked.namespaces:
            standing[filed.name] = rules.standing(conn, filed.name, [content_hash(rule) for rule in filed.rules])
    return changes(masked, manifest, {name: frozenset(hashes) for name, hashes in standing.items()})


def _carry_out(org: Org, change: Change) -> Any:
    """The namespace first; then the run that carries its new rules, None where there are none."""
    if change.is_new or change.fields:
        with acting_as("operator") as conn:
            fields = list(change.fields) or ["created"]
            rules.write_namespace(conn, org, change.place, actor=actor(), changed=fields)
    if not change.rules:
        return None
    with acting_reviewer(org) as conn:
        return rules.record_rules(conn, change.place.name, change.rules)


def _lines(planned: Iterable[Change]) -> Iterable[str]:
    for change in planned:
        yield f"{'+' if change.is_new else ' '} namespace {change.place.name} ({_scope(change.place.scope)})"
        for name, (before, after) in change.fields.items():
            yield f"  ~ {name}: {shown(_plain(before))} -> {shown(_plain(after))}"
        for rule in change.rules:
            yield f"  + {shown(rule)}"


def _change(change: Change) -> dict[str, Any]:
    fields = {name: [_plain(before), _plain(after)] for name, (before, after) in change.fields.items()}
    return {"namespace": change.place.name, "new": change.is_new, "fields": fields, "rules": list(change.rules)}


def _row(place: Namespace) -> dict[str, Any]:
    return {"name": place.name, "scope": _scope(place.scope), "path": place.file, "title": place.title,
            "description": place.description, "preamble": place.preamble, "agents": list(place.agents)}  # fmt: skip


def _plain(value: Any) -> Any:
    return _scope(value) if isinstance(value, Scope) else value


def _scope(scope: Scope) -> str:
    return scope.kind + (f"={scope.value}" if scope.value else "")
