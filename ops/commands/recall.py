"""afterword recall: what an agent would be given for a query, with scores and the reason for each line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from enum import StrEnum
from typing import Annotated, Any

import typer

from db import embedding
from db import recall as store
from db.connect import Connection
from db.recall import Narrowing, Question
from db.tokens import Bearer
from ops.access import acting_as, actor, granted_to, known_org
from ops.arguments import OrgName, moment, pair
from ops.compose import make_embedder
from ops.masking import NAME, Masker
from ops.output import AsJson, document, record, rows, shown
from ops.settings import Settings, load
from pipeline.embedding.port import Embedder, Stamp, Vectors
from pipeline.errors import SettingError
from pipeline.memory import Subject
from pipeline.recall.block import HOW_FOUND, NOTHING, Block, render
from pipeline.recall.hit import Hit, Recall
from pipeline.redaction.classes import PERSON

COLUMNS = ("memory_id", "content", "session", "turns", "combined_score", "vector_score", "vector_rank", "lexical_score",
           "lexical_rank", "allowed")  # fmt: skip


class Fused(StrEnum):
    """The fusions there are."""

    WEIGHTED = "weighted"
    RRF = "rrf"


def recall(
    query: Annotated[str, typer.Argument(help="what is asked")],
    org: OrgName,
    as_of: Annotated[str | None, typer.Option(help="what was valid then: an ISO time, or 90m, 2h, 3d ago")] = None,
    agent: Annotated[str, typer.Option(help="as this agent")] = "afterword-cli",
    user: Annotated[str | None, typer.Option(help="for this user")] = None,
    project: Annotated[str | None, typer.Option(help="in this project")] = None,
    kind: Annotated[list[str] | None, typer.Option(help="only these: fact, preference, rule, turn")] = None,
    scope: Annotated[
        str | None, typer.Option(metavar="KIND[=PATH]", help="only of this scope: project, project=acme (and below it)")
    ] = None,
    about: Annotated[
        str | None, typer.Option(metavar="TYPE:ID", help="only about this subject", callback=pair(":", "TYPE:ID"))
    ] = None,
    since: Annotated[str | None, typer.Option(help="only what was observed from then on")] = None,
    until: Annotated[str | None, typer.Option(help="only what was observed before")] = None,
    fusion: Annotated[Fused, typer.Option(help="how words and meaning are weighed")] = Fused.WEIGHTED,
    limit: Annotated[int, typer.Option(min=1, max=50, help="at most so many memories")] = 5,
    block: Annotated[bool, typer.Option("--block", help="the fenced block as a prompt would get it")] = False,
    tokens: Annotated[int, typer.Option(min=100, help="with --block: the budget of the whole block")] = 2_000,
    as_json: AsJson = False,
) -> None:
    """Recall as an agent of the org would. The recall is recorded, and with --block what was shown, too.

    What a detector finds in a memory is masked here, names of whom it is about too; the agent is given the memory as it
    stands.
    Example: afterword recall "which database for search" --org acme --project api
    """
    at = moment(as_of) if as_of else None
    narrowed = _narrowed(kind, scope, about, since, until)
    known = known_org(org)
    vector, stamp, why_not = _vector(load(), query)
    bearer = Bearer(role="agent", actor=actor(), agent=agent, user=user, project=project)
    with granted_to(known, bearer) as conn:
        found = store.recall(conn, Question(query, vector, stamp, limit, at, narrowed, fusion.value))
        made = _rendered(conn, found, tokens, limit) if block else None
    _print(*_masked(found, made), why_not, as_json=as_json)


def _narrowed(
    kinds: list[str] | None, scope: str | None, about: str | None, since: str | None, until: str | None
) -> Narrowing:
    scope_kind, _, path = (scope or "").partition("=")
    type_, _, id_ = (about or "").partition(":")
    return Narrowing(
        kinds=tuple(kinds) if kinds else None,
        scope_kind=scope_kind or None,
        scope_path=path or None,
        subject=Subject(type_, id_) if about else None,
        since=moment(since) if since else None,
        until=moment(until) if until else None,
    )


def _vector(
    settings: Settings, query: str, *, make: Callable[[Settings], Embedder | None] = make_embedder
) -> tuple[Vectors | None, int | None, str | None]:
    """The query's vector and its stamp's number, or why there is none. Raises SettingError for another stamp."""
    if settings.embedder in (None, "none"):
        return None, None, f"AFTERWORD_EMBEDDER is {settings.embedder or 'unset'}"
    embedder = make(settings)
    assert embedder is not None
    with acting_as("operator", settings) as conn:
        current = embedding.current_stamp(conn)
    if current is None:
        return None, None, "no embedding space is registered (afterword embed register)"
    number, registered = current
    if registered != embedder.stamp:
        raise SettingError(
            f"AFTERWORD_EMBEDDER={settings.embedder} embeds as {named(embedder.stamp)}, and what is stored is "
            f"{named(registered)}: vectors of two stamps are never compared. Set the embedder to the registered one."
        )
    return embedder.query(query), number, None


def named(stamp: Stamp) -> str:
    return f"{stamp.provider} {stamp.model} {stamp.revision} ({stamp.dimension})"


def _rendered(conn: Connection, found: Recall, tokens: int, limit: int) -> Block:
    made = render(found, tokens, memories_max=limit)
    store.rendered(conn, found.recall_id, made.sha256)
    return made


def _masked(found: Recall, block: Block | None) -> tuple[Recall, dict[str, Any] | None]:
    """The same hits and block with every span masked; the block's hash stays that of what an agent would get."""
    texts = [hit.content for hit in found.hits] + ([block.text] if block else [])
    masker = Masker(load(), texts)
    names = [hit.subject.id for hit in found.hits if hit.subject and hit.subject.type == PERSON]
    hits = tuple(
        replace(
            hit,
            content=masker(hit.content, names=names),
            subject=replace(hit.subject, id=NAME) if hit.subject and hit.subject.type == PERSON else hit.subject,
        )
        for hit in found.hits
    )
    shown = asdict(block) | {"sha256": block.sha256.hex(), "text": masker(block.text, names=names)} if block else None
    return replace(found, hits=hits), shown


def _print(found: Recall, block: dict[str, Any] | None, why_not: str | None, *, as_json: bool) -> None:
    if as_json:
        document(asdict(found) | {"lexical_because": why_not, "block": block})
        return
    if block is not None:
        typer.echo(block["text"])
        return
    rows([_row(hit) for hit in found.hits], COLUMNS, as_json=False, none=NOTHING)
    said = f"{found.mode}: {HOW_FOUND[found.mode]}" if found.hits else found.mode
    typer.echo(f"\n{said}{f' No vectors: {why_not}.' if why_not else ''}")
    record({"recall": found.recall_id, "left out": dict(found.excluded)})


def _row(hit: Hit) -> dict[str, Any]:
    return asdict(hit) | {"allowed": shown(hit.allowed)}
