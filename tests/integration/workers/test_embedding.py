"""Vectors: only for what is active, for whom an embedder was chosen, and one text's refusal is its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from pipeline.candidate import Kind
from pipeline.embedding.port import Embedder, Stamp, Vectors
from pipeline.errors import EmbedderUnset, ModelRefused, ModelUnavailable
from tests.fleet import Fleet, WordVectors, event
from tests.integration.workers.scripted import Echo
from tests.services import STAMP
from workers import metrics

FACT = "The search service stores its documents in Postgres."
RULE = "Always run the integration tests before a release."


def redacted(fleet: Fleet, said: str = FACT, session: str = "s", kind: Kind = Kind.FACT) -> None:
    fleet.install(extractor=Echo(kind))
    fleet.ingest(event(said, session=session))
    fleet.run("extraction", "redaction")


def unset() -> Embedder | None:
    raise EmbedderUnset


class Fails(WordVectors):
    """Raises for a batch in which `word` stands."""

    def __init__(self, error: Exception, word: str = "") -> None:
        self._error, self._word = error, word

    def passages(self, texts: Sequence[str]) -> Vectors:
        assert texts, "nobody asks for no vectors"
        if any(self._word in text for text in texts):
            raise self._error
        return super().passages(texts)


class Unregistered(WordVectors):
    stamp: Stamp = replace(STAMP, revision="2")


def outcome(fleet: Fleet) -> list[tuple[Any, ...]]:
    rows = fleet.rows("SELECT session, state, error_code, attempts FROM runs ORDER BY session")
    return [tuple(row.values()) for row in rows]


@pytest.mark.parametrize(
    ("embedder", "code", "names"),
    [(unset, "embedder_unset", "AFTERWORD_EMBEDDER"), (Unregistered, "internal", "afterword embed register")],
)
def test_where_no_embedder_can_be_used_the_run_dies_naming_the_way_out(
    fleet: Fleet, embedder: Callable[[], Embedder | None], code: str, names: str
) -> None:
    fleet.database.org("acme")
    redacted(fleet)
    fleet.install(embedder=embedder, attempts_max=2, backoff_first_seconds=60, backoff_cap_seconds=60)
    fleet.run("embedding")
    assert outcome(fleet) == [("s", "redacted", code, 1)]
    fleet.rows("UPDATE runs SET due_at = now() RETURNING id")
    fleet.run("embedding")
    assert outcome(fleet) == [("s", "dead_letter", code, 2)]
    assert names in fleet.rows("SELECT error_detail FROM runs")[0]["error_detail"]
    assert fleet.rows("SELECT status FROM memories") == [{"status": "active"}]


def test_the_choice_of_none_passes_on_and_is_counted(fleet: Fleet) -> None:
    fleet.database.org("acme")
    redacted(fleet)
    fleet.install(embedder=lambda: None)
    before = metrics.UNEMBEDDED._value.get()
    fleet.run()
    assert metrics.UNEMBEDDED._value.get() == before + 1
    assert outcome(fleet) == [("s", "consolidated", None, 0)]
    assert fleet.rows("SELECT memory_id FROM embeddings_1") == []


def test_what_is_pending_is_never_embedded(fleet: Fleet) -> None:
    fleet.database.org("acme")
    redacted(fleet, RULE, kind=Kind.RULE)
    fleet.install(embedder=lambda: Fails(AssertionError("asked for a pending memory")))
    fleet.run("embedding")
    assert outcome(fleet) == [("s", "embedded", None, 0)]
    assert fleet.rows("SELECT memory_id FROM embeddings_1") == []


def test_an_endpoint_that_is_away_costs_an_attempt_of_those_that_need_it(fleet: Fleet) -> None:
    fleet.database.org("acme")
    redacted(fleet, session="needs it")
    redacted(fleet, RULE, "does not", Kind.RULE)
    fleet.install(embedder=lambda: Fails(ModelUnavailable("429", retry_after_seconds=600)))
    fleet.run("embedding")
    assert outcome(fleet) == [("does not", "embedded", None, 0), ("needs it", "redacted", "embedder_unavailable", 1)]
    wait = fleet.rows("SELECT extract(epoch FROM due_at - now())::float AS s FROM runs WHERE state = 'redacted'")
    assert 500 < wait[0]["s"] <= 600


def test_a_text_the_endpoint_refuses_costs_its_own_run_alone(fleet: Fleet) -> None:
    fleet.database.org("acme")
    redacted(fleet, session="a")
    redacted(fleet, "The archive is kept on tape in the basement.", "b")
    fleet.install(embedder=lambda: Fails(ModelRefused("422"), "tape"))
    fleet.run("embedding")
    assert outcome(fleet) == [("a", "embedded", None, 0), ("b", "dead_letter", "embedder_unavailable", 1)]
    assert len(fleet.rows("SELECT memory_id FROM embeddings_1")) == 1
