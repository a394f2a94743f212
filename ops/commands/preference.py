"""afterword preference: what a signed-in user wants, in that user's layer alone."""

from __future__ import annotations

from typing import Annotated

import typer

from db import overview, rules
from db.tokens import Bearer
from ops.access import acting_as, actor, granted_to, known_org, ring_bell
from ops.arguments import OrgName, clean, one_id
from ops.commands.retyped import await_run, wait_option
from ops.output import AsJson, document

app = typer.Typer(no_args_is_help=True, help="Preferences: what a user wants, decided by them and taken back by them.")

User = Annotated[str, typer.Option(help="whose it is: nobody else is given it")]


@app.command()
def add(
    text: Annotated[str, typer.Argument(help="how they want to be served", callback=clean)],
    org: OrgName,
    user: User,
    no_wait: wait_option = False,
    as_json: AsJson = False,
) -> None:
    """Remember it for this user. It passes detection like any text; unless that holds it, it is active at once.

    Example: afterword preference add "Answer in Portuguese." --org acme --user u-17
    """
    found = known_org(org)
    with granted_to(found, Bearer(role="agent", actor=actor(), user=user)) as conn:
        run = rules.remember_preference(conn, text)
    ring_bell("redaction")
    with acting_as("operator") as conn:
        state = None if no_wait else await_run(conn, run)
        made = overview.run_memories(conn, run)
    if as_json:
        document({"run": run, "checked": state is not None, "memories": made})
    elif state is None:
        typer.echo(f"handed in as run {run}; see: afterword runs show {run}")
    for memory in () if as_json else made:
        held = f", held for {', '.join(memory['hold_reasons'])}" if memory["status"] == "pending" else ""
        typer.echo(f"preference {memory['id']} is {memory['status']}{held}")


@app.command()
def revoke(
    memory: Annotated[str, typer.Argument(help="its id, or how it begins")],
    org: OrgName,
    user: User,
    as_json: AsJson = False,
) -> None:
    """Take it back, as the same user. It is handed out no more; its text is purged after 30 days.

    Example: afterword preference revoke 0192f3a4-77aa --org acme --user u-17
    """
    found = known_org(org)
    with acting_as("operator") as conn:
        id = one_id(conn, "memory", memory)
    with granted_to(found, Bearer(role="agent", actor=actor(), user=user)) as conn:
        done = rules.revoke_preference(conn, id)
    if as_json:
        document({"done": done})
    else:
        typer.echo(done.replace("_", " "))
