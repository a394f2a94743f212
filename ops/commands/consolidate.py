"""afterword consolidate: the passes over what stands, by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Any

import typer

from db import passes as store
from db.connect import open_pool
from ops.access import acting_as, known_org, ring_bell
from ops.arguments import OrgName
from ops.compose import make_adviser
from ops.credentials import database_address
from ops.output import AsJson, rows
from ops.settings import load
from pipeline.errors import AfterwordError
from pipeline.passes.material import PassName

app = typer.Typer(
    no_args_is_help=True, help="Consolidation's passes: compaction, mining, amendment. They only propose."
)

COLUMNS = ("pass", "pieces", "answer", "proposed", "dropped")


@app.callback()
def _group() -> None:
    """A group of one command, so that there is room for another."""


@app.command()
def run(
    org: OrgName,
    only: Annotated[PassName | None, typer.Option("--pass", help="only this one; else all that the org wants")] = None,
    questions: Annotated[int, typer.Option(min=1, max=100, help="at most so many questions to a model a pass")] = 10,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="say what would be asked about, and ask nobody")] = False,
    as_json: AsJson = False,
) -> None:
    """Ask about what stands, now, and record what is proposed; each proposal waits for a person.

    Example: afterword consolidate run --org acme --pass compaction --dry-run
    """
    found = known_org(org)
    wanted = [name for name in store.wanted(tuple(found.settings.consolidation)) if only in (None, name)]
    if not wanted and not dry_run:
        what = only or PassName.COMPACTION
        raise AfterwordError(
            f"{org} wants {'no pass' if only is None else f'no {only}'}; to have it: "
            f"afterword org set {org} --consolidate {what} --reason WHY"
        )
    if dry_run:
        done = [line for name in ([only] if only else PassName) for line in _planned(found.id, name, questions)]
    else:
        done = list(_asked(found.id, wanted, questions))
        ring_bell("redaction")
    rows(done, COLUMNS, as_json=as_json, none="nothing to ask about")


def _planned(org: int, name: PassName, questions: int) -> Iterator[dict[str, Any]]:
    after = store.START
    with acting_as("worker") as conn:
        for _ in range(questions):
            material = store.select(conn, org, name, after)
            if material is None:
                return
            yield {"pass": name, "pieces": len(material.pieces), "answer": None, "namespace": material.namespace}
            after = material.after


def _asked(org: int, names: list[PassName], questions: int) -> Iterator[dict[str, Any]]:
    from workers.passes import step  # here, since it brings the metrics: see ops/commands/worker.py

    settings = load()
    adviser = make_adviser(settings)
    if adviser is None:
        raise AfterwordError("no model is chosen to ask: set AFTERWORD_EXTRACTOR, its model and its endpoint class")
    with open_pool(database_address(settings, "worker"), size=2, name="afterword-cli") as pool:
        for name in names:
            for _ in range(questions):
                with pool.connection() as conn:
                    turn = store.claim(conn, org=org, name=name)
                ran = step(pool, adviser, turn) if turn else None
                if ran is None:
                    break
                plain = asdict(ran)
                yield {"pass": plain.pop("name"), **plain}
                if ran.answer not in ("read", "unreadable"):
                    break
