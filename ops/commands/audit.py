"""afterword audit: what the answers to samples say about what the gate lets in."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from db import samples
from ops.access import acting_as, known_org
from ops.arguments import OnlyOrg, moment
from ops.output import AsJson, document, rows
from pipeline.precision import wilson

app = typer.Typer(no_args_is_help=True, help="Audits: how often what was let in was right.")

PRECISION = ("stamp", "prompt_revision", "rules_revision", "right", "wrong", "open", "precision", "interval")
TREND = ("stamp", "week", "decided", "approved", "changed", "refused", "share_approved")
CALIBRATION = ("stamp", "stated", "judged", "mean_stated", "right", "share_right", "interval")


@app.callback()
def audit() -> None:
    """A tenth of what becomes active without a person is opened for one, as a review of kind audit."""


@app.command()
def report(
    org: OnlyOrg = None,
    since: Annotated[str | None, typer.Option(help="answers since: an ISO time, or 90m, 2h, 3d ago")] = None,
    as_json: AsJson = False,
) -> None:
    """Precision of what was let in with its 95 % interval, approvals by week, and stated confidence against verdict.

    Example: afterword audit report --org acme --since 30d
    """
    at = moment(since) if since else None
    name = known_org(org).name if org else None
    with acting_as("operator") as conn:
        precision = [_precise(row) for row in samples.precision(conn, org=name, since=at)]
        trend = [_trend(row) for row in samples.trend(conn, org=name, since=at)]
        calibration = [_calibrated(row) for row in samples.calibration(conn, org=name, since=at)]
    if as_json:
        document({"precision": precision, "trend": trend, "calibration": calibration})
        return
    for title, found, columns in (
        ("Audits: was what the gate let in right?", precision, PRECISION),
        ("Held candidates, by the week they were decided in", trend, TREND),
        ("Stated confidence against verdict", calibration, CALIBRATION),
    ):
        typer.echo(f"{title}\n")
        rows([_shown(row) for row in found], columns, as_json=False, none="no answers yet")
        typer.echo()


def _precise(row: dict[str, Any]) -> dict[str, Any]:
    answered = row["right"] + row["wrong"]
    return row | {"precision": row["right"] / answered if answered else None,
                  "interval": wilson(row["right"], answered) if answered else None}  # fmt: skip


def _trend(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"share_approved": row["approved"] / row["decided"]}


def _calibrated(row: dict[str, Any]) -> dict[str, Any]:
    tenth, judged, right = row["tenth"], row["judged"], row["right"]
    return {
        "stamp": row["stamp"], "stated": f"{tenth / 10:.1f}-{(tenth + 1) / 10:.1f}", "judged": judged,
        "mean_stated": row["stated"], "right": right, "share_right": right / judged, "interval": wilson(right, judged),
    }  # fmt: skip


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    interval = row.get("interval")
    return row | {"interval": f"{interval[0]:.3f}-{interval[1]:.3f}" if interval else None}
