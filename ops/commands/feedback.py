"""afterword feedback: a person's correction of an agent, as a candidate for a rule."""

from __future__ import annotations

from typing import Annotated

import typer

from db import rules
from ops.access import acting_as, acting_reviewer, known_org, ring_bell
from ops.arguments import OrgName, clean, scoped
from ops.output import AsJson, document
from pipeline.manifest import NamespaceRefused, admit, file_under
from pipeline.memory import Scope, ScopeKind

app = typer.Typer(no_args_is_help=True, help="Feedback: a person's correction, as a candidate for a rule.")


@app.command()
def add(
    text: Annotated[str, typer.Argument(help="what should be done from now on", callback=clean)],
    org: OrgName,
    namespace: Annotated[
        str | None, typer.Option(help="file it here; unset: where its words say, else in default")
    ] = None,
    scope: Annotated[
        str | None, typer.Option(metavar="KIND[=VALUE]", help="for whom; unset: whom the namespace is for")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Record a correction. It waits for approval as a rule does; said again, it is counted where it was said first.

    Example: afterword feedback add "Ask for the order number once, not twice." --org acme --namespace support
    """
    kind, value = scoped(scope)
    found = known_org(org)
    with acting_as("operator") as conn:
        manifest = rules.manifest(conn, found.id)
    chosen = namespace or file_under(text, manifest)
    place = next((one for one in manifest if one.name == chosen), None)
    wanted = Scope(ScopeKind(kind), value) if kind else place.scope if place else Scope(ScopeKind.ORG)
    refused = None
    with acting_reviewer(found) as conn:  # a refusal is on record, so that it must be committed
        try:
            run = rules.record_feedback(conn, text, chosen, wanted)
        except NamespaceRefused as error:
            refused = error
    if refused is not None:
        admit(chosen, manifest)
        raise refused
    ring_bell("redaction")
    if as_json:
        document({"run": run, "namespace": chosen})
    else:
        typer.echo(f"recorded for {chosen} as run {run}; it waits for approval: afterword review list --org {org}")
