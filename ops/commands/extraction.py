"""afterword extraction: whether an org's sessions are read at all."""

from __future__ import annotations

import typer

from db import orgs
from ops.access import acting_as, actor
from ops.arguments import OrgName, Reason
from ops.commands.org import ChangedMeanwhile
from ops.output import AsJson, document

app = typer.Typer(no_args_is_help=True, help="Extraction by org: off until somebody says why it should be on.")


@app.command()
def enable(org: OrgName, reason: Reason, as_json: AsJson = False) -> None:
    """Let an org's sessions be read for memories, from now on; sessions that were skipped stay skipped.

    Example: afterword extraction enable --org acme --reason "pilot agreed with the works council"
    """
    _switch(org, True, reason, as_json=as_json)


@app.command()
def disable(org: OrgName, reason: Reason, as_json: AsJson = False) -> None:
    """Stop reading an org's sessions: later ones are skipped and their transcripts not kept.

    Example: afterword extraction disable --org acme --reason "pilot ended"
    """
    _switch(org, False, reason, as_json=as_json)


def _switch(name: str, on: bool, reason: str, *, as_json: bool) -> None:
    with acting_as("operator") as conn:
        org = orgs.get(conn, name)
        changed = org.settings.extraction != on
        wanted = org.settings.model_copy(update={"extraction": on})
        if not orgs.change(conn, org, wanted, actor=actor(), reason=reason):
            raise ChangedMeanwhile
    if as_json:
        document({"org": name, "extraction": on, "changed": changed})
    else:
        typer.echo(f"extraction is {'on' if on else 'off'} for {name}{'' if changed else ', as it was'}")
