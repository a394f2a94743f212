"""An embedder that does not keep its stamp's promise is refused before anything of it is stored."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from pipeline.embedding.adapters.openai import EmbeddingEndpoint, OpenAIEmbedder
from pipeline.embedding.port import Stamp, Vectors
from pipeline.embedding.probe import probe
from pipeline.errors import ModelUnavailable, SettingError
from tests.doubles.embedding_server import EmbeddingServer, Failure, Line
from tests.doubles.embedding_server import Vectors as Answers
from tests.fleet import WordVectors


class Scaled(WordVectors):
    def passages(self, texts: Sequence[str]) -> Vectors:
        return super().passages(texts) * np.float32(1.01)


class Constant(WordVectors):
    def passages(self, texts: Sequence[str]) -> Vectors:
        return np.repeat(super().passages(texts[:1]), len(texts), axis=0)


class Shorter(WordVectors):
    stamp = Stamp("test", "words", "1", 9)


class ShorterQuestions(WordVectors):
    def query(self, text: str) -> Vectors:
        return super().query(text)[:-1]


def test_what_keeps_its_promise_passes() -> None:
    probe(WordVectors())


@pytest.mark.parametrize(
    ("embedder", "said"),
    [
        (Scaled(), "not normalised; one has length 1.01"),
        (Constant(), "two different texts have the same vector"),
        (Shorter(), "vectors of length 8 for a stamp of dimension 9. Set AFTERWORD_EMBEDDING_DIMENSION"),
        (ShorterQuestions(), "vectors of length 7 for a stamp of dimension 8"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_does_not_is_named(embedder: WordVectors, said: str) -> None:
    with pytest.raises(SettingError, match=said):
        probe(embedder)


@pytest.mark.parametrize(
    ("line", "error", "said"),
    [
        (Answers(6), SettingError, "AFTERWORD_EMBEDDING_DIMENSION is 8, but m-1 answers with vectors of 6"),
        (Failure(401), SettingError, "a first text could not be embedded: the embedding endpoint answered 401"),
        (Failure(503), ModelUnavailable, "answered 503"),
    ],
)
def test_an_endpoint_is_tried(line: Line, error: type[Exception], said: str) -> None:
    with EmbeddingServer([line]) as server:
        model = OpenAIEmbedder(EmbeddingEndpoint(model="m-1", dimension=8, base_url=server.base_url))
        with pytest.raises(error, match=said):
            probe(model)
        model.close()
