"""afterword replay: ask for dead letters, or rejected events, to be tried again. The replay worker does it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import typer

from db import orgs, overview, replays
from db.connect import Connection
from db.replays import REPLAYS_WITHOUT_FORCE, Selector
from ops.access import acting_as, actor
from ops.arguments import Limit, OnlyOrg, clean, moment, one_id
from ops.output import AsJson, document, rows, shown
from pipeline.errors import AfterwordError
from pipeline.intake import RejectReason
from pipeline.outcome import ErrorCode

app = typer.Typer()

COLUMNS = ("id", "status", "selector", "rearmed", "refused", "died_again", "rate_per_second", "cap", "actor", "reason",
           "requested_at")  # fmt: skip
PAUSE_SECONDS = 0.5
GRACE_SECONDS = 60.0
NAMED_MAX = 20
LOOKED_AT = 100_000


class NothingToReplay(AfterwordError):
    """Nothing that may be replayed matches."""


class StillDying(AfterwordError):
    """The replay did not finish."""


@app.callback(invoke_without_command=True)
def replay(
    context: typer.Context,
    run: Annotated[str | None, typer.Option(help="this run alone, by id")] = None,
    code: Annotated[ErrorCode | None, typer.Option(help="what died of this code")] = None,
    since: Annotated[str | None, typer.Option(help="what died since: an ISO time, or 90m, 2h, 3d ago")] = None,
    rejected: Annotated[str | None, typer.Option(help="rejected events of this reason, or with this id")] = None,
    org: OnlyOrg = None,
    rate: Annotated[float, typer.Option(min=0.01, max=1_000, help="at most so many a second")] = 1.0,
    cap: Annotated[int, typer.Option(min=1, max=100_000, help="at most so many in all")] = 100,
    force: Annotated[bool, typer.Option("--force", help="those replayed three times already, too")] = False,
    reason: Annotated[str | None, typer.Option(help="why; stands in the ledger of each run", callback=clean)] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="say what would be replayed; ask for nothing")] = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="until the replay has ended; exit code 1 unless it finished")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Ask for a replay. It is carried out by the replay worker at the rate, org by org, and stops by itself when a
    third of it dies again of the same code.

    Example: afterword replay --code model_refused --reason "key renewed" --rate 1 --cap 20 --wait
    """
    if context.invoked_subcommand is not None:
        return
    if not (reason or dry_run):
        raise typer.BadParameter("--reason is needed: it stands in the ledger of each run")
    if rejected is not None and (run or code or since or org):
        raise typer.BadParameter("--rejected stands alone: a rejected event has no run, code or org")
    with acting_as("operator") as conn:
        selector = _selector(conn, run, code, moment(since) if since else None, rejected, org)
        asked = _matching(conn, selector, cap=cap, force=force)
        if not dry_run:
            if not asked["replayable"]:
                raise NothingToReplay(_why_nothing(asked))
            asked["replay"] = replays.request(
                conn, selector, actor=actor(), reason=reason or "", rate=rate, cap=cap, force=force
            )
        if not as_json:
            _say(asked)
        if wait and not dry_run:
            asked |= {"ended": _ended(conn, asked["replay"], cap / rate + GRACE_SECONDS)}
    if as_json:
        document(asked)
    _judge(asked, as_json=as_json)


@app.command("list")
def list_(limit: Limit = 20, as_json: AsJson = False) -> None:
    """Replays, latest first, with what became of them.

    Example: afterword replay list
    """
    with acting_as("operator") as conn:
        found = replays.listed(conn, limit=limit)
    rows(found, COLUMNS, as_json=as_json, none="no replays yet")


def _selector(
    conn: Connection, run: str | None, code: str | None, since: datetime | None, rejected: str | None, org: str | None
) -> Selector:
    if not (run or code or since or rejected):
        raise typer.BadParameter("say which: --run, --code, --since or --rejected")
    if org is not None:
        orgs.get(conn, org)
    if rejected is not None and rejected not in set(RejectReason):
        rejected = str(one_id(conn, "rejected_event", rejected))
    return Selector(one_id(conn, "run", run) if run else None, code, org, since, rejected)


def _matching(conn: Connection, selector: Selector, *, cap: int, force: bool) -> dict[str, Any]:
    """What the request would take, and what it would pass over: runs replayed three times, unless forced."""
    base = {"selector": selector.as_json(), "replay": None}
    if selector.rejected is not None:
        found = overview.rejected_left(conn, selector.rejected)
        return base | {"replayable": found[:cap], "refused": []}
    dead = replays.matching(conn, selector, cap=LOOKED_AT)
    refused = [row for row in dead if row["replays"] >= REPLAYS_WITHOUT_FORCE and not force]
    passed = [row for row in dead if row["replays"] < REPLAYS_WITHOUT_FORCE or force]
    return base | {"replayable": passed[:cap], "refused": refused}


def _why_nothing(asked: dict[str, Any]) -> str:
    if asked["refused"]:
        named = ", ".join(str(row["id"]) for row in asked["refused"][:NAMED_MAX])
        return f"every match was replayed {REPLAYS_WITHOUT_FORCE} times already: {named}; --force replays them again"
    return f"nothing matches {shown(asked['selector'])}"


def _say(asked: dict[str, Any]) -> None:
    _name("would be replayed" if asked["replay"] is None else "asked for", asked["replayable"])
    if asked["refused"]:
        _name(f"passed over, replayed {REPLAYS_WITHOUT_FORCE} times already (--force takes them)", asked["refused"])
    if asked["replay"] is not None:
        typer.echo(f"replay {asked['replay']} is requested; see afterword replay list")


def _name(what: str, found: Sequence[dict[str, Any]]) -> None:
    typer.echo(f"{len(found)} {what}")
    for row in found[:NAMED_MAX]:
        typer.echo("  " + "  ".join(shown(value) for value in row.values()))
    if len(found) > NAMED_MAX:
        typer.echo(f"  and {len(found) - NAMED_MAX} more")


def _ended(conn: Connection, replay: UUID, within_seconds: float) -> dict[str, Any]:
    """The replay as it ended, or as it stands when time is up."""
    deadline = time.monotonic() + within_seconds
    while (row := overview.replay(conn, replay))["finished_at"] is None and time.monotonic() < deadline:
        time.sleep(PAUSE_SECONDS)
    return row


def _judge(asked: dict[str, Any], *, as_json: bool) -> None:
    row = asked.get("ended")
    if row is None:
        return
    if row["status"] != "finished":
        seen = f"{row['rearmed']} replayed, {row['died_again']} died again"
        if row["status"] == "stopped":
            raise StillDying(f"the replay stopped by itself ({seen}): the cause is still there")
        raise StillDying(f"the replay is {row['status']} still ({seen}); is a replay worker running?")
    if not as_json:
        typer.echo(f"finished: {row['rearmed']} replayed, {row['refused']} refused, {row['died_again']} died again")
