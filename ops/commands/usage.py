"""afterword usage: what was asked of models, what it cost, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any

import typer

from db import model_calls, orgs
from ops.access import acting_as
from ops.arguments import Limit, OnlyOrg, moment
from ops.output import AsJson, document, rows

app = typer.Typer(no_args_is_help=True, help="Usage: model calls, tokens, price, and the memories they made.")

COLUMNS = ("label", "calls", "failed", "unpriced", "input_tokens", "output_tokens", "usd", "runs", "memories", "active",
           "usd_per_active", "seconds_p50", "seconds_p95")  # fmt: skip
MEMORY_COLUMNS = ("memory", "org", "status", "run", "calls", "unpriced", "tokens", "usd")
SUMMED = ("calls", "failed", "unpriced", "input_tokens", "output_tokens", "runs", "memories", "active")
NONE = "no model was asked in that time; the offline extractor asks none"
DAYS = 30


class By(StrEnum):
    """What a row of the report stands for."""

    ORG = "org"
    MODEL = "model"
    DAY = "day"
    PURPOSE = "purpose"
    MEMORY = "memory"


@app.callback()
def usage() -> None:
    pass


@app.command()
def report(
    by: Annotated[By, typer.Option(help="a row for each of these")] = By.MODEL,
    org: OnlyOrg = None,
    since: Annotated[str | None, typer.Option(help=f"an ISO time or a span such as 7d; default {DAYS}d")] = None,
    until: Annotated[str | None, typer.Option(help="an ISO time or a span; default now")] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """Calls, tokens and US dollars, and what they came to for each memory. A price that is not known is not zero:
    `unpriced` counts such calls. A call that was never settled counts at what was reserved for it.

    Example: afterword usage report --by day --org acme --since 7d
    """
    end = moment(until) if until else datetime.now(UTC)
    start = moment(since) if since else end - timedelta(days=DAYS)
    with acting_as("operator") as conn:
        only = orgs.get(conn, org).id if org else None
        if by is By.MEMORY:
            found = model_calls.by_memory(conn, org=only, since=start, until=end, limit=limit)
        else:
            found = [_priced(row) for row in model_calls.report(conn, by=by, org=only, since=start, until=end)]
    if as_json:
        document(
            {"by": by, "since": start, "until": end, "rows": found, "total": _total(found) if by != By.MEMORY else None}
        )
        return
    shown = [*found, _total(found)] if by is not By.MEMORY and len(found) > 1 else found
    rows([_short(row) for row in shown], MEMORY_COLUMNS if by is By.MEMORY else COLUMNS, as_json=False, none=NONE)


def _priced(row: dict[str, Any]) -> dict[str, Any]:
    known = row["usd"] is not None and row["active"]
    return row | {"usd_per_active": row["usd"] / row["active"] if known else None}


def _total(found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    priced = [row["usd"] for row in found if row["usd"] is not None]
    total = {"label": "total", **{key: sum(row[key] for row in found) for key in SUMMED}}
    return _priced(total | {"usd": sum(priced, Decimal(0)) if priced else None})


def _short(row: dict[str, Any]) -> dict[str, Any]:
    return {key: f"{value:.6f}" if isinstance(value, Decimal) else value for key, value in row.items()}
