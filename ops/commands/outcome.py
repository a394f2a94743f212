"""afterword outcome: what became of something, as an evaluation or a person says. Mined, never shown to an agent."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from db.outcomes import NewOutcome, send
from ops.access import acting_as, acting_reviewer, known_org
from ops.arguments import OrgName, clean, one_id
from ops.output import AsJson, document

app = typer.Typer(no_args_is_help=True, help="Outcomes: what became of something. Food for mining, never for a prompt.")


class Kind(StrEnum):
    """What a person or program may hand in; verdicts are written by the database."""

    RATING = "rating"
    EVAL = "eval"


@app.command()
def add(
    org: OrgName,
    score: Annotated[float, typer.Option(min=0, max=1, help="from 0, bad, to 1, good")],
    kind: Annotated[Kind, typer.Option(help="who says so: a person, or an evaluation")] = Kind.RATING,
    eval_run: Annotated[str | None, typer.Option(help="the evaluation's run, by its own id", callback=clean)] = None,
    memory: Annotated[str | None, typer.Option(help="the memory it is about, or how its id begins")] = None,
    agent: Annotated[str | None, typer.Option(help="the agent it is about")] = None,
    workflow: Annotated[str | None, typer.Option(help="the workflow it is about")] = None,
    comment: Annotated[str | None, typer.Option(help="what was good or bad", callback=clean)] = None,
    as_json: AsJson = False,
) -> None:
    """Hand an outcome in. It is kept for 30 days, or as long as the org says.

    Example: afterword outcome add --org acme --score 0.2 --agent support --comment "asked for the order number twice"
    """
    if kind is Kind.EVAL and eval_run is None:
        raise typer.BadParameter("an evaluation names its run: --eval-run")
    found = known_org(org)
    about = None
    if memory is not None:
        with acting_as("operator") as conn:
            about = one_id(conn, "memory", memory)
    outcome = NewOutcome(
        kind=kind.value, score=score, eval_run=eval_run, memory=about, agent=agent, workflow=workflow, comment=comment
    )
    id = send(lambda: acting_reviewer(found), outcome)
    if as_json:
        document({"id": id})
    else:
        typer.echo(f"kept as {id}")
