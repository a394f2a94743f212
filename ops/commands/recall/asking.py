"""A question as it is typed or read, made into one with a vector, asked, and shown without what detectors find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from db import embedding
from db import recall as store
from db.connect import Connection
from db.recall import Fusion, Narrowing, Question
from ops.access import acting_as
from ops.arguments import moment, pair
from ops.compose import make_embedder
from ops.masking import NAME, Masker
from ops.settings import Settings
from pipeline.embedding.port import Embedder, Stamp, Vectors
from pipeline.errors import SettingError
from pipeline.memory import Subject
from pipeline.recall.block import Block, render
from pipeline.recall.hit import Recall
from pipeline.redaction.classes import PERSON


class Asked(BaseModel):
    """A question and what it is narrowed to, in the words of the options."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    query: str
    limit: int = Field(5, ge=1, le=50)
    as_of: str | None = None
    kind: list[str] | None = None
    scope: str | None = None
    about: str | None = None
    since: str | None = None
    until: str | None = None
    fusion: Fusion = "weighted"

    def question(self, vector: Vectors | None, stamp: int | None) -> Question:
        """Raises typer.BadParameter for a time or pair that is none."""
        as_of = moment(self.as_of) if self.as_of else None
        return Question(self.query, vector, stamp, self.limit, as_of, self.narrowing(), self.fusion)

    def narrowing(self) -> Narrowing:
        scope_kind, _, path = (self.scope or "").partition("=")
        type_, _, id_ = (pair(":", "TYPE:ID")(self.about) or "").partition(":")
        return Narrowing(
            kinds=tuple(self.kind) if self.kind else None,
            scope_kind=scope_kind or None,
            scope_path=path or None,
            subject=Subject(type_, id_) if self.about else None,
            since=moment(self.since) if self.since else None,
            until=moment(self.until) if self.until else None,
        )


@dataclass(frozen=True, slots=True)
class Meaning:
    """What gives a question its vector, and the number of the stamp it is of; or why there is none."""

    embedder: Embedder | None
    stamp: int | None
    missing_because: str | None

    def vector(self, text: str) -> Vectors | None:
        """Raises ModelUnavailable, ModelRefused."""
        return None if self.embedder is None else self.embedder.query(text)


def meaning(settings: Settings, *, make: Callable[[Settings], Embedder | None] = make_embedder) -> Meaning:
    """Raises SettingError where what is stored is of another stamp."""
    if settings.embedder in (None, "none"):
        return Meaning(None, None, f"AFTERWORD_EMBEDDER is {settings.embedder or 'unset'}")
    embedder = make(settings)
    assert embedder is not None
    with acting_as("operator", settings) as conn:
        current = embedding.current_stamp(conn)
    if current is None:
        return Meaning(None, None, "no embedding space is registered (afterword embed register)")
    number, registered = current
    if registered != embedder.stamp:
        raise SettingError(
            f"AFTERWORD_EMBEDDER={settings.embedder} embeds as {named(embedder.stamp)}, and what is stored is "
            f"{named(registered)}: vectors of two stamps are never compared. Set the embedder to the registered one."
        )
    return Meaning(embedder, number, None)


def named(stamp: Stamp) -> str:
    return f"{stamp.provider} {stamp.model} {stamp.revision} ({stamp.dimension})"


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found, and the block as a prompt gets it where one was asked for."""

    found: Recall
    block: Block | None

    @property
    def texts(self) -> list[str]:
        return [hit.content for hit in self.found.hits] + ([self.block.text] if self.block else [])

    def masked(self, masker: Masker) -> tuple[Recall, dict[str, Any] | None]:
        """The same hits and block with every span masked; the block's hash stays that of what an agent would get."""
        names = [hit.subject.id for hit in self.found.hits if hit.subject and hit.subject.type == PERSON]
        hits = tuple(
            replace(
                hit,
                content=masker(hit.content, names=names),
                subject=replace(hit.subject, id=NAME) if hit.subject and hit.subject.type == PERSON else hit.subject,
            )
            for hit in self.found.hits
        )
        return replace(self.found, hits=hits), self._masked_block(masker, names)

    def _masked_block(self, masker: Masker, names: list[str]) -> dict[str, Any] | None:
        if self.block is None:
            return None
        shown = {"sha256": self.block.sha256.hex(), "text": masker(self.block.text, names=names)}
        return asdict(self.block) | shown


def answer(conn: Connection, question: Question, block_tokens: int | None) -> Answer:
    """Ask as the transaction's agent; with a budget of tokens the block is rendered, and that recorded too."""
    found = store.recall(conn, question)
    if block_tokens is None:
        return Answer(found, None)
    made = render(found, block_tokens, memories_max=question.max_hits)
    store.rendered(conn, found.recall_id, made.sha256, made.included)
    return Answer(found, made)


def document_of(found: Recall, block: dict[str, Any] | None, missing_because: str | None) -> dict[str, Any]:
    """What is told of a recall in JSON."""
    return asdict(found) | {"lexical_because": missing_because, "block": block}
