"""afterword review: what waits for a person, and the person's decisions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any
from uuid import UUID

import typer

from db import overview, reviews, rules
from db.connect import Connection
from db.events import Org
from db.reviews import Act, Placement
from ops.access import acting_as, acting_reviewer, known_org, ring_bell
from ops.arguments import Limit, OrgName, clean, one_id, pair, scoped
from ops.commands.retyped import await_run, say_retyped, wait_option
from ops.output import AsJson, document, rows, with_evidence
from pipeline.extraction.wording.instructions import steering
from pipeline.extraction.wording.stakes import stakes
from pipeline.memory import Scope, ScopeKind

app = typer.Typer(
    no_args_is_help=True, help="Reviews: the inbox, and approve, edit, redirect, reject, correct, forget."
)

COLUMNS = ("memory_id", "drop_id", "review", "reasons", "cites", "kind", "classes", "high_stakes", "opened_at")

Memory = Annotated[str, typer.Argument(help="its id, or how it begins")]
Comment = Annotated[str | None, typer.Option("--reason", help="why; kept with the review", callback=clean)]
Text = Annotated[str, typer.Option("--text", help="what it should say; passes detection again", callback=clean)]


@app.command("list")
def list_(org: OrgName, limit: Limit = 50, as_json: AsJson = False) -> None:
    """Open reviews of an org, high stakes first, then oldest. No content is shown.

    Example: afterword review list --org acme
    """
    with acting_reviewer(known_org(org)) as conn:
        found = reviews.inbox(conn, limit=limit)
    rows(found, COLUMNS, as_json=as_json, none="nothing waits for a person")


@app.command()
def show(memory: Memory, org: OrgName, as_json: AsJson = False) -> None:
    """A memory as it is at rest, evidence beside it, and which of its words speak against it. The look is ledgered.

    What it would take the place of is shown beside it; each of those looks is ledgered too.
    Example: afterword review show 0192f3a4-77aa --org acme
    """
    found = _decide(memory, org, _with_replaced)
    found |= {"stakes": stakes(found["content"]), "steers_by": steering(f"{found['content']}\n{found['rationale']}")}
    with_evidence(found, as_json=as_json)


@app.command()
def approve(
    memory: Memory,
    org: OrgName,
    reason: Comment = None,
    namespace: Annotated[str | None, typer.Option(help="put it into this namespace of the org's manifest")] = None,
    scope: Annotated[
        str | None, typer.Option(metavar="KIND[=VALUE]", help="who may be given it: org, user=u-1, project=api")
    ] = None,
    subject: Annotated[
        str | None, typer.Option(metavar="TYPE:ID", help="whom it is about", callback=pair(":", "TYPE:ID"))
    ] = None,
    beside: Annotated[bool, typer.Option("--beside", help="though an active rule says nearly the same")] = False,
    as_json: AsJson = False,
) -> None:
    """Let a held memory in as it stands; what it replaces gives way. Repeating it is harmless.

    A rule that says nearly the same as an active one is refused, unless it replaces it.
    Example: afterword review approve 0192f3a4-77aa --org acme --subject "person:ana silva"
    """
    kind, value = scoped(scope)
    type_, _, id_ = subject.partition(":") if subject else (None, "", None)
    placement = Placement(namespace, kind, value, type_, id_)

    def act(conn: Connection, id: UUID) -> str:
        if not beside:
            rules.refuse_near(conn, id)
        return reviews.approve(conn, id, comment=reason, placement=placement)

    done = _decide(memory, org, act)
    ring_bell("embedding")
    _say(done, as_json=as_json)


@app.command()
def reject(
    memory: Memory,
    org: OrgName,
    reason: Annotated[str, typer.Option(help="why; a rejection needs one", callback=clean)],
    as_json: AsJson = False,
) -> None:
    """Keep a held memory out, or say in an audit that an active one is wrong. Repeating it is harmless.

    An audit alone moves nothing: the memory stays active, with a review of kind amend, until it is forgotten or
    corrected. Either of those answers the audit as well.
    Example: afterword review reject 0192f3a4-77aa --org acme --reason "a guess, not a decision"
    """
    done = _decide(memory, org, lambda conn, id: reviews.reject(conn, id, comment=reason))
    _say(done, as_json=as_json)
    if done.startswith("audit_"):
        typer.echo(f"it is still active; put it right: afterword review forget|correct {memory} --org {org}", err=True)


@app.command()
def forget(memory: Memory, org: OrgName, reason: Comment = None, as_json: AsJson = False) -> None:
    """Take a pending or active memory out of recall at once; its content is purged after 30 days.

    Example: afterword review forget 0192f3a4-77aa --org acme --reason "no longer true"
    """
    _say(_decide(memory, org, lambda conn, id: reviews.forget(conn, id, comment=reason)), as_json=as_json)


@app.command()
def edit(
    memory: Memory, org: OrgName, text: Text, reason: Comment = None, no_wait: wait_option = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Change what a held memory says; it stays held until it is approved.

    Example: afterword review edit 0192f3a4-77aa --org acme --text "Invoices are rounded half up."
    """
    _retype(memory, org, "edit", text, reason, no_wait=no_wait, as_json=as_json)


@app.command()
def redirect(
    memory: Memory, org: OrgName, text: Text, reason: Comment = None, no_wait: wait_option = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Change what a held memory says and let it in, in one act; it stays held where the new text is held.

    Example: afterword review redirect 0192f3a4-77aa --org acme --text "Invoices are rounded half up."
    """
    _retype(memory, org, "redirect", text, reason, no_wait=no_wait, as_json=as_json)


@app.command()
def correct(
    memory: Memory, org: OrgName, text: Text, reason: Comment = None, no_wait: wait_option = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Put a new memory in the place of a pending or active one; the old one stays as what was believed.

    Example: afterword review correct 0192f3a4-77aa --org acme --text "The staging host is stage-2."
    """
    _retype(memory, org, "correct", text, reason, no_wait=no_wait, as_json=as_json)


@app.command()
def rehome(
    memory: Memory,
    org: OrgName,
    namespace: Annotated[str, typer.Option(help="the namespace it belongs in, of the org's manifest")],
    reason: Annotated[str, typer.Option(help="why; a move needs one", callback=clean)],
    scope: Annotated[
        str | None, typer.Option(metavar="KIND[=VALUE]", help="who may be given it; unset: whom the namespace is for")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Move a rule that was filed in the wrong place. It stays what it is, decided and all. Repeating it is harmless.

    Example: afterword review rehome 0192f3a4-77aa --org acme --namespace review --reason "it is about reviews"
    """
    kind, value = scoped(scope)
    wanted = None if kind is None else Scope(ScopeKind(kind), value)
    done = _decide(memory, org, lambda conn, id: rules.rehome(conn, id, namespace, wanted, comment=reason))
    _say(done, as_json=as_json)


def _decide(memory: str, name: str, act: Callable[[Connection, UUID], Any]) -> Any:
    """One act of a reviewer of the org, in one transaction. Raises VerdictRefused."""
    org = known_org(name)
    id = _memory_id(memory)
    with acting_reviewer(org) as conn:
        return act(conn, id)


def _with_replaced(conn: Connection, id: UUID) -> dict[str, Any]:
    """The memory, and of what it would replace: id, status, text, and when it was said."""
    found = reviews.view(conn, id)
    found["replaces"] = [reviews.view_beside(conn, old) for old in found["replaces"]]
    return found


def _memory_id(text: str) -> UUID:
    with acting_as("operator") as conn:
        return one_id(conn, "memory", text)


def _say(done: str, *, as_json: bool) -> None:
    if as_json:
        document({"done": done})
    else:
        typer.echo(done.replace("_", " "))


def _retype(
    memory: str, name: str, act: Act, text: str, reason: str | None, *, no_wait: bool, as_json: bool
) -> None:  # fmt: skip
    org: Org = known_org(name)
    id = _memory_id(memory)
    with acting_reviewer(org) as conn:
        run = reviews.retype(conn, id, act, text, comment=reason)
    if run is not None:
        ring_bell("redaction")
    with acting_as("operator") as conn:
        state = await_run(conn, run) if run is not None and not no_wait else None
        became = overview.memory(conn, id)
        new = overview.run_memories(conn, run) if run is not None else []
    say_retyped(act, run, state, became, new, as_json=as_json)
