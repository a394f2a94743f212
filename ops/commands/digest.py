"""afterword digest: what every session of an agent starts from."""

from __future__ import annotations

from typing import Annotated

import typer

from db import digest as store
from db.tokens import Bearer
from ops.access import actor, granted_to, known_org
from ops.arguments import OrgName
from ops.masking import Masker
from ops.output import AsJson, document
from ops.settings import load
from pipeline.recall.digest import CHARACTERS_MAX


def digest(
    org: OrgName,
    agent: Annotated[str, typer.Option(help="as this agent")],
    user: Annotated[str | None, typer.Option(help="for this user")] = None,
    workflow: Annotated[str | None, typer.Option(help="in this workflow")] = None,
    project: Annotated[str | None, typer.Option(help="in this project")] = None,
    characters: Annotated[
        int, typer.Option(min=1_000, max=100_000, help="the budget of the whole text")
    ] = CHARACTERS_MAX,
    as_json: AsJson = False,
) -> None:
    """The digest as the agent would get it: requirements that people approved, by file. It is recorded as a recall.

    What a detector finds is masked here; the agent is given the text as it stands. An empty digest is said aloud.
    Example: afterword digest --org acme --agent support --user u-17
    """
    found = known_org(org)
    bearer = Bearer(role="agent", actor=actor(), agent=agent, user=user, project=project, workflow=workflow)
    with granted_to(found, bearer) as conn:
        handed = store.digest(conn, characters_max=characters)
    made = handed.digest
    text = Masker(load(), [made.text])(made.text) if made.text else ""
    if as_json:
        document({"recall": handed.recall_id, "text": text, "sha256": made.sha256.hex(),
                  "included": list(made.included), "omitted": list(made.omitted)})  # fmt: skip
    elif text:
        typer.echo(text)
    if not made.included:
        typer.echo(f"the digest of {agent} is empty: no approved rule of {org} is for it", err=True)
