"""afterword recall log: what was handed out, when and to whom."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from db import recalls
from ops.access import acting_reviewer, known_org
from ops.arguments import Limit, OrgName, moment, one_id
from ops.output import AsJson, document, rows

COLUMNS = ("id", "at", "agent", "actor", "project", "mode", "hits", "shown", "best", "block_hash")


def log(
    org: OrgName,
    since: Annotated[str | None, typer.Option(help="from then on: an ISO time, or 90m, 2h, 3d ago")] = None,
    until: Annotated[str | None, typer.Option(help="before then")] = None,
    agent: Annotated[str | None, typer.Option(help="only to this agent")] = None,
    memory: Annotated[str | None, typer.Option(help="only those that handed out this memory")] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """The recalls of an org, digests too, newest first: ids, scores, and the hash of the block that was rendered. No
    content, and no question: it is not kept. `shown` counts the hits that stood in the block.

    Example: afterword recall log --org acme --since 2d --agent support-bot
    """
    start, end = moment(since) if since else None, moment(until) if until else None
    with acting_reviewer(known_org(org)) as conn:
        only = one_id(conn, "memory", memory) if memory else None
        found = recalls.log(conn, since=start, until=end, agent=agent, memory=only, limit=limit)
    if as_json:
        document(found)
    else:
        rows([_short(row) for row in found], COLUMNS, as_json=False, none="nothing was recalled in that time")


def _short(row: dict[str, Any]) -> dict[str, Any]:
    counted = {
        "hits": len(row["hits"]),
        "shown": None if row["shown"] is None else len(row["shown"]),
        "best": row["hits"][0].get("combined") if row["hits"] else None,
        "block_hash": row["block_hash"].hex()[:12] if row["block_hash"] else None,
    }
    return row | counted
