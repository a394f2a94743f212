"""afterword reevaluate: what classifier and gate would decide of stored memories today; applied by a second person."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from db import orgs, reclassify
from db.connect import Connection, DatabaseError
from ops.access import acting_as, actor
from ops.arguments import OnlyOrg, clean, one_id
from ops.commands.rescan import NoWait, Rate, followed, refuse_unfinished, told
from ops.output import AsJson
from pipeline.errors import AfterwordError


class NotApplied(AfterwordError):
    """The plan was not applied."""


def reevaluate(
    org: OnlyOrg = None,
    apply: Annotated[str | None, typer.Option(metavar="PLAN", help="carry this plan out, by its id")] = None,
    digest: Annotated[str | None, typer.Option(help="the plan's digest, as you were shown it")] = None,
    by: Annotated[str | None, typer.Option(help="who you are, where this machine's account does not say")] = None,
    rate: Rate = 200,
    reason: Annotated[str | None, typer.Option(help="why; stands in the ledger", callback=clean)] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only show; without --apply nothing else is done")] = False,
    no_wait: NoWait = False,
    as_json: AsJson = False,
) -> None:
    """Show which decisions about stored memories classifier and gate would make otherwise today. Nothing is changed.

    It is kept as a plan, with a digest. Another person carries it out: --apply PLAN --digest DIGEST. What no longer
    comes out as it was shown is left. Example: afterword reevaluate --org acme
    """
    person = by or actor()
    if apply is None:
        _plan(org, person, rate, reason, wait=not no_wait, as_json=as_json)
        return
    if dry_run or org is not None:
        raise typer.BadParameter("--apply carries a plan out as it was shown: it takes no --dry-run and no --org")
    if not (reason and digest):
        raise typer.BadParameter("--apply needs --digest, as you were shown it, and --reason")
    _apply(apply, digest, person, rate, reason, wait=not no_wait, as_json=as_json)


def _plan(org: str | None, person: str, rate: float, reason: str | None, *, wait: bool, as_json: bool) -> None:
    with acting_as("operator") as conn:
        plan = reclassify.ask(
            conn, "reevaluate", actor=person, reason=reason or "to see what differs", rate=rate,
            org_id=orgs.get(conn, org).id if org else None,
        )  # fmt: skip
        ended = followed(conn, plan, quiet=as_json, wait=wait)
        told(conn, ended, as_json=as_json)
        differs = bool(reclassify.changes(conn, plan, limit=1))
    if differs and not as_json:
        typer.echo(f"another person applies it: afterword reevaluate --apply {plan} --digest {ended['digest']} "
                   "--reason WHY")  # fmt: skip
    refuse_unfinished(ended)


def _apply(apply: str, digest: str, person: str, rate: float, reason: str, *, wait: bool, as_json: bool) -> None:
    with acting_as("operator") as conn:
        plan = _planned(conn, apply, digest, person)
        try:
            request = reclassify.ask(
                conn, "apply", actor=person, reason=reason, rate=rate,
                plan=(plan["id"], plan["actor"], bytes.fromhex(plan["digest"])),
            )  # fmt: skip
        except DatabaseError as error:
            raise NotApplied(_REFUSALS.get(error.diag.constraint_name or "", str(error.diag.message_primary))) from None
        ended = followed(conn, request, quiet=as_json, wait=wait)
        told(conn, ended, as_json=as_json)
    if ended["status"] == "stopped":
        raise NotApplied("the plan's rows are not those that were confirmed: nothing was changed")
    if not as_json and (differs := ended["counts"].get("differs_now")):
        typer.echo(f"{differs} left, which come out otherwise by now; see what differs: afterword reevaluate")
    refuse_unfinished(ended)


_REFUSALS = {
    "two_people": "the plan is your own: another person has to apply it (--by NAME says who, if not this account)",
    "reclassifications_plan_id_key": "this plan was applied already; see afterword redact rescans",
}


def _planned(conn: Connection, text: str, digest: str, person: str) -> dict[str, Any]:
    found = reclassify.requests(conn, id=one_id(conn, "reclassification", text))
    plan = found[0]
    if plan["kind"] != "reevaluate" or plan["digest"] is None:
        raise NotApplied(f"{plan['id']} is no finished plan but a {plan['kind']} that is {plan['status']}")
    if plan["digest"] != digest.lower():
        raise NotApplied("the digest is not that of this plan; look at it again: afterword reevaluate")
    return plan
