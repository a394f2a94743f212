"""afterword recall explain: what one recall handed out and why, what it left out, and what became of it since."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

import typer

from db import recalls, reviews
from db.connect import Connection
from ops.access import acting_reviewer, known_org
from ops.arguments import OrgName, only_id
from ops.output import AsJson, document, record, rows
from pipeline.recall.block import HOW_FOUND
from pipeline.recall.standing import Standing, since_then

COLUMNS = ("memory_id", "kind", "content", "combined_score", "vector_score", "vector_rank", "lexical_score",
           "lexical_rank", "allowed", "shown", "since_then")  # fmt: skip
LEFT_OUT = ("memory_id", "why", "vector_score", "vector_rank", "lexical_score", "lexical_rank")


def explain(
    recall: Annotated[str, typer.Argument(help="its id, or how it begins")],
    org: OrgName,
    text: Annotated[bool, typer.Option("--text", help="what each says; every look is in the ledger")] = False,
    as_json: AsJson = False,
) -> None:
    """One recall, or digest: each hit with its scores and its rank in each leg, why it was allowed, whether it stood in
    the block, and whether it is still what it was; then what both legs found and it did not hand out, the first ten.

    Without --text no content is shown. With it, as the org's reviewer sees it today: of what was erased nothing.
    Example: afterword recall explain 0192f3a4-77aa --org acme
    """
    with acting_reviewer(known_org(org)) as conn:
        id = only_id(lambda low, high: recalls.ids_between(conn, low, high), "recall", recall)
        found = _explained(conn, recalls.one(conn, id), with_text=text)
    if as_json:
        document(found)
    else:
        _print(found)


def _explained(conn: Connection, row: dict[str, Any], *, with_text: bool) -> dict[str, Any]:
    standing = recalls.standing(conn, [UUID(hit["id"]) for hit in row["hits"]])
    now = datetime.now(UTC)
    hits = [_hit(hit, row, standing[UUID(hit["id"])], now) for hit in row["hits"]]
    if with_text:
        hits = [hit | {"content": reviews.view_beside(conn, hit["memory_id"]).get("content")} for hit in hits]
    left_out = [_scores(item) | {"why": _why(item)} for item in row["passed_over"]]
    told = {key: row[key] for key in ("id", "at", "agent", "actor", "project", "mode", "as_of", "request", "excluded")}
    said = {"block_hash": row["block_hash"], "rendered_at": row["rendered_at"], "candidates": row["candidates"]}
    return told | said | {"hits": hits, "left_out": left_out}


def _hit(hit: Mapping[str, Any], row: Mapping[str, Any], memory: Standing, now: datetime) -> dict[str, Any]:
    shown = None if row["shown"] is None else memory.id in row["shown"]
    about = {"kind": memory.kind, "allowed": hit["allowed"], "shown": shown}
    about["since_then"] = since_then(memory, row["at"], now)
    return _scores(hit) | {"combined_score": hit.get("combined")} | about


def _scores(hit: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "memory_id": UUID(hit["id"]), "vector_score": hit.get("vector"), "vector_rank": hit.get("vector_rank"),
        "lexical_score": hit.get("lexical"), "lexical_rank": hit.get("lexical_rank"),
    }  # fmt: skip


def _why(item: Mapping[str, Any]) -> str:
    """Two reasons there are: others came before it, or a fact that cites this turn stands for it."""
    return f"a turn that {item['behind']} cites" if item["behind"] else "ranked below what was asked for"


def _print(found: dict[str, Any]) -> None:
    beside = ("hits", "left_out")
    how = f"{found['mode']}: {HOW_FOUND.get(found['mode'], 'What every session of the agent starts from.')}"
    record({key: value for key, value in found.items() if key not in beside} | {"mode": how})
    typer.echo()
    rows(found["hits"], COLUMNS, as_json=False, none="nothing was handed out")
    if found["left_out"]:
        more = found["candidates"] - len(found["hits"]) - len(found["left_out"])
        typer.echo(f"\nfound, and not handed out{f' (and {more} more)' if more > 0 else ''}:")
        rows(found["left_out"], LEFT_OUT, as_json=False, none="")
