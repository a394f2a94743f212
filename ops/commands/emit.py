"""afterword emit: session logs onto the stream."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel, ConfigDict, ValidationError
from redis import Redis
from rich.console import Console
from rich.progress import Progress

from db.connect import DatabaseDown
from db.orgs import UnknownOrg
from ops.access import known_org
from ops.credentials import redis_address
from ops.emitting import Outgoing, Sender, prepare, send, send_until_in
from ops.settings import load
from pipeline.errors import AfterwordError, FormatError, SettingError
from pipeline.formats import READERS

FORMATS = ", ".join(reader.name for reader in READERS)


class SessionEndHook(BaseModel):
    """What Claude Code writes to the standard input of a SessionEnd hook; fields we do not need are ignored."""

    model_config = ConfigDict(extra="ignore")

    session_id: str
    transcript_path: Path
    cwd: str | None = None


def emit(
    files: Annotated[list[Path] | None, typer.Argument(help="session logs, or folders of them")] = None,
    org: Annotated[str, typer.Option(help="the org whose session it was")] = "",
    format: Annotated[str, typer.Option(help=f"auto, or one of: {FORMATS}")] = "auto",
    hook: Annotated[str | None, typer.Option(help="claude-code: read its SessionEnd hook from standard input")] = None,
    agent: Annotated[str | None, typer.Option(help="the agent's name, where the log has none")] = None,
    session: Annotated[str | None, typer.Option(help="the session's id, where the log has none")] = None,
    project: Annotated[str | None, typer.Option(help="the project; default: what the log says")] = None,
    user: Annotated[str | None, typer.Option(help="whose session it was")] = None,
    space: Annotated[list[str] | None, typer.Option(help="a space of the org it belongs to")] = None,
    outcome: Annotated[str | None, typer.Option(help="succeeded, failed or unknown")] = None,
    timeout: Annotated[float, typer.Option(help="seconds to wait until all are in Postgres; 0: do not wait")] = 60.0,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON document")] = False,
) -> None:
    """Send ended sessions: read, scrub, put on the stream, wait until they are in Postgres, send again if not.

    Example: afterword emit ~/.claude/projects/*/*.jsonl --org acme
    """
    if not org:
        raise typer.BadParameter("--org is needed: the org whose sessions these are")
    sender = Sender(org, agent, session, project, user, tuple(space or ()), outcome)
    if hook is not None:
        files, sender = _from_hook(hook, sender)
    paths = list(expanded(files or []))
    if not paths:
        raise typer.BadParameter("no session logs given")
    outgoing, failed = prepare_all(paths, sender, format)
    if outgoing and hook is None:
        _warn_about(org)
    with Redis.from_url(redis_address(load(), "emitter")) as redis:
        if timeout > 0:
            rejected = _send_with_progress(redis, outgoing, timeout, quiet=as_json or hook is not None)
            outgoing = [event for event in outgoing if event.path not in rejected]
            failed |= {path: f"rejected as {reason}; see: afterword rejected list" for path, reason in rejected.items()}
        else:
            send(redis, outgoing)
    report(outgoing, failed, as_json=as_json)
    if failed:
        raise typer.Exit(1)


def _from_hook(hook: str, sender: Sender) -> tuple[list[Path], Sender]:
    if hook != "claude-code":
        raise typer.BadParameter(f"no such hook: {hook}; known: claude-code")
    try:
        said = SessionEndHook.model_validate_json(sys.stdin.read())
    except ValidationError as error:
        raise AfterwordError(f"not a SessionEnd hook on standard input: {_first(error)}") from None
    return [said.transcript_path.expanduser()], Sender(
        sender.org, sender.agent, sender.session or said.session_id, sender.project or said.cwd, sender.user,
        sender.spaces, sender.outcome,
    )  # fmt: skip


def _warn_about(org: str) -> None:
    """Why sessions of this org would become no memories, where a database can be asked; the stream cannot answer."""
    try:
        known = known_org(org)
    except UnknownOrg as error:
        typer.echo(f"warning: {error}, then: afterword replay --rejected unknown_org", err=True)
    except (DatabaseDown, SettingError):
        return
    else:
        if not known.settings.extraction:
            typer.echo(
                f"warning: extraction is off for {org}: what is sent now is skipped for good, also when it is sent "
                f"again. Enable it first: afterword extraction enable --org {org} --reason WHY",
                err=True,
            )


def expanded(paths: list[Path]) -> list[Path]:
    """Files as they are, folders as the files in them."""
    found: list[Path] = []
    for path in paths:
        found.extend(sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path])
    return found


def prepare_all(paths: list[Path], sender: Sender, format: str) -> tuple[list[Outgoing], dict[Path, str]]:
    """Events ready to be sent, and why the others are not."""
    outgoing, failed = [], {}
    for path in paths:
        try:
            outgoing.append(prepare(path, sender, format=format))
        except FormatError as error:
            failed[path] = str(error)
        except ValidationError as error:
            failed[path] = _first(error)
    return outgoing, failed


def _first(error: ValidationError) -> str:
    """The first thing wrong, by its field where it has one; never the value."""
    first = error.errors(include_input=False, include_url=False)[0]
    field = ".".join(map(str, first["loc"]))
    return f"{field}: {first['msg']}" if field else first["msg"]


def _send_with_progress(redis: Redis, outgoing: list[Outgoing], timeout: float, *, quiet: bool) -> dict[Path, str]:
    """The files whose events were rejected, and the reason of each."""
    rejected: dict[Path, str] = {}
    with Progress(console=Console(stderr=True), transient=True, disable=quiet) as progress:
        task = progress.add_task("sending sessions", total=len(outgoing))

        def arrived(event: Outgoing, reason: str | None) -> None:
            progress.advance(task)
            if reason is not None:
                rejected[event.path] = reason

        send_until_in(redis, outgoing, timeout_seconds=timeout, on_arrival=arrived)
    return rejected


def report(outgoing: list[Outgoing], failed: dict[Path, str], *, as_json: bool = False) -> None:
    """What reading each log gave, and what could not be sent and why."""
    rows = [
        {"file": str(event.path), "agent": event.result.agent, "turns": len(event.result.transcript.turns),
         "records": event.result.records, "read": event.result.read, "ignored": dict(event.result.ignored),
         "unread": [{"line": u.line_number, "reason": u.reason} for u in event.result.unread], "masks": event.masks,
         "sha256": event.sha256}
        for event in outgoing
    ]  # fmt: skip
    if as_json:
        typer.echo(json.dumps({"sent": rows, "failed": {str(path): why for path, why in failed.items()}}))
        return
    for event in outgoing:
        typer.echo(f"{event.path}: {_summary(event)}")
    for path, why in failed.items():
        typer.echo(f"{path}: not taken in: {why}", err=True)


def _summary(event: Outgoing) -> str:
    result = event.result
    parts = [f"{len(result.transcript.turns)} turns of {result.records} records"]
    counts = {"ignored": sum(result.ignored.values()), "unread": len(result.unread), "secrets masked": event.masks}
    parts += [f"{count} {name}" for name, count in counts.items() if count]
    parts += [f"line {unread.line_number}: {unread.reason}" for unread in result.unread[:5]]
    return ", ".join(parts)
