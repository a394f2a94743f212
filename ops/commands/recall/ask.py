"""afterword recall: what an agent would be given for a query, with scores and the reason for each line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer

from db.tokens import Bearer
from ops.access import actor, granted_to, known_org
from ops.arguments import OrgName, pair
from ops.commands.recall.asking import Asked, answer, document_of, meaning
from ops.commands.recall.lines import answer_lines
from ops.masking import Masker
from ops.output import AsJson, document, record, rows, shown
from ops.settings import load
from pipeline.errors import AfterwordError
from pipeline.recall.block import HOW_FOUND, NOTHING
from pipeline.recall.hit import Hit, Recall

COLUMNS = ("memory_id", "content", "session", "turns", "combined_score", "vector_score", "vector_rank", "lexical_score",
           "lexical_rank", "allowed")  # fmt: skip


class Fused(StrEnum):
    """The fusions there are."""

    WEIGHTED = "weighted"
    RRF = "rrf"


class NoSuchFile(AfterwordError):
    """There is no file of that name; for standard input give - or nothing."""


def ask(
    org: OrgName,
    query: Annotated[
        str, typer.Argument(metavar="QUESTION", help="what is asked; with --jsonl: a file, or - for standard input")
    ] = "-",
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
    jsonl: Annotated[bool, typer.Option("--jsonl", help='lines of {"id", "query"} in, a line of JSON out for each')]
    = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Recall as an agent of the org would. The recall is recorded, and with --block what was shown, too.

    What a detector finds in a memory is masked here, names of whom it is about too; the agent is given the memory as it
    stands. With --jsonl a line may have every option of a question by its name (limit, as_of, kind, scope, about,
    since, until, fusion); one that cannot be answered is answered with its error, and exit code 1 says there was one.
    Example: afterword recall "which database for search" --org acme --project api
    """
    asked = {"query": query, "limit": limit, "as_of": as_of, "kind": kind, "scope": scope, "about": about,
             "since": since, "until": until, "fusion": fusion.value}  # fmt: skip
    bearer = Bearer(role="agent", actor=actor(), agent=agent, user=user, project=project)
    budget = tokens if block else None
    if jsonl:
        _many(query, org, bearer, asked, budget)
    else:
        _one(Asked.model_validate(asked), org, bearer, budget, as_json=as_json)


def _one(asked: Asked, org: str, bearer: Bearer, budget: int | None, *, as_json: bool) -> None:
    if asked.query == "-":
        raise typer.BadParameter('a question is needed: afterword recall "which database for search" --org acme')
    asked.question(None, None)  # what is mistyped is said before a model is loaded
    known, settings = known_org(org), load()
    means = meaning(settings)
    question = asked.question(means.vector(asked.query), means.stamp)
    with granted_to(known, bearer) as conn:
        given = answer(conn, question, budget)
    _print(*given.masked(Masker(settings, given.texts)), means.missing_because, as_json=as_json)


def _many(source: str, org: str, bearer: Bearer, asked: dict[str, Any], budget: int | None) -> None:
    """Answer a file of questions; exit code 1 where one could not be."""
    known, settings = known_org(org), load()
    defaults = {key: value for key, value in asked.items() if key != "query"}
    Asked.model_validate(defaults | {"query": ""}).question(None, None)
    with _opened(source) as lines:
        answered = answer_lines(lines, known, bearer, defaults, budget, settings)
        if sum(not good for good in answered):
            raise typer.Exit(1)


@contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    if name == "-":
        yield sys.stdin.buffer
        return
    if not Path(name).exists() or Path(name).is_dir():
        raise NoSuchFile(f"no such file: {name}. For standard input give - or nothing.")
    with open(name, "rb") as file:
        yield file


def _print(found: Recall, block: dict[str, Any] | None, missing_because: str | None, *, as_json: bool) -> None:
    if as_json:
        document(document_of(found, block, missing_because))
        return
    if block is not None:
        typer.echo(block["text"])
        return
    rows([_row(hit) for hit in found.hits], COLUMNS, as_json=False, none=NOTHING)
    said = f"{found.mode}: {HOW_FOUND[found.mode]}" if found.hits else found.mode
    typer.echo(f"\n{said}{f' No vectors: {missing_because}.' if missing_because else ''}")
    record({"recall": found.recall_id, "left out": dict(found.excluded)})


def _row(hit: Hit) -> dict[str, Any]:
    return asdict(hit) | {"allowed": shown(hit.allowed)}
