"""Any OpenAI-compatible `/embeddings` endpoint.

Through the OpenAI SDK, not pydantic-ai's embedding model: that one drops the `index` of each item, so an endpoint that
answers out of order would give memories each other's vectors; and it is async, where this port is not.

Failure handling: 408, 409, 425, 429, 5xx, a refused connection, a missed deadline and an answer that is no embedding
list raise ModelUnavailable, with Retry-After where the endpoint sent one; any other status raises ModelRefused; another
dimension than the stamp's raises SettingError. The SDK retries nothing, and follows no redirect: what is to be embedded
goes to the configured address only. Messages never repeat the endpoint's words, which may repeat a text.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pipeline.embedding.adapters.vectors import unit
from pipeline.embedding.port import Stamp, Vectors
from pipeline.errors import ModelRefused, ModelUnavailable, SettingError
from pipeline.session import storable

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI

WORTH_ANOTHER_TRY: Final = frozenset({408, 409, 425, 429})


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingEndpoint:
    """Where and what to ask. e5-like models need `query_prefix="query: "` and `passage_prefix="passage: "`.

    `batch_characters` stays below the 300,000 tokens OpenAI takes in one request. `timeout_seconds` is how long to wait
    for the connection, and then for each part of the answer.
    """

    model: str
    dimension: int
    base_url: str = "https://api.openai.com/v1"  # never None: the SDK would take OPENAI_BASE_URL
    api_key: str | None = field(default=None, repr=False)
    revision: str = "1"
    query_prefix: str = ""
    passage_prefix: str = ""
    batch_texts: int = 128
    batch_characters: int = 200_000
    timeout_seconds: float = 30.0

    @property
    def stamp(self) -> Stamp:
        """Other prefixes make another space, so they are part of the revision."""
        if not (self.query_prefix or self.passage_prefix):
            return Stamp("openai", self.model, self.revision, self.dimension)
        prefixes = hashlib.sha256(f"{self.query_prefix}\x1f{self.passage_prefix}".encode()).hexdigest()
        return Stamp("openai", self.model, f"{self.revision}-{prefixes[:8]}", self.dimension)


class OpenAIEmbedder:
    """Embeds through one endpoint; safe to share between threads. The client is made on first use, after any fork."""

    def __init__(self, endpoint: EmbeddingEndpoint) -> None:
        self._endpoint = endpoint
        self._client: OpenAI | None = None
        self._lock = Lock()

    @property
    def stamp(self) -> Stamp:
        return self._endpoint.stamp

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimension)."""
        rows = [self._ask(self._endpoint.passage_prefix, batch) for batch in self._batches(texts)]
        return np.concatenate(rows) if rows else np.empty((0, self._endpoint.dimension), np.float32)

    def _batches(self, texts: Sequence[str]) -> Iterator[Sequence[str]]:
        """In order, within both limits; a text longer than the second goes alone."""
        start, characters = 0, 0
        for at, text in enumerate(texts):
            length = len(self._endpoint.passage_prefix) + len(text)
            full = at - start == self._endpoint.batch_texts or characters + length > self._endpoint.batch_characters
            if at > start and full:
                yield texts[start:at]
                start, characters = at, 0
            characters += length
        if start < len(texts):
            yield texts[start:]

    def query(self, text: str) -> Vectors:
        """Shape (dimension,)."""
        return self._ask(self._endpoint.query_prefix, [text])[0]  # type: ignore[no-any-return]

    def close(self) -> None:
        """Closes the connections; the next call opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _connected(self) -> OpenAI:
        with self._lock:
            if self._client is None:
                self._client = _connect(self._endpoint)
            return self._client

    def _ask(self, prefix: str, texts: Sequence[str]) -> Vectors:
        client = self._connected()
        from openai import APIConnectionError, APIStatusError, OpenAIError

        inputs = [storable(prefix + text) for text in texts]
        try:
            # Floats, since not every compatible endpoint knows base64.
            answer = client.embeddings.create(input=inputs, model=self._endpoint.model, encoding_format="float")
        except APIStatusError as error:
            raise _refusal(error) from None
        except APIConnectionError as error:
            raise ModelUnavailable(f"no answer from the embedding endpoint ({type(error).__name__})") from None
        except (OpenAIError, ValueError) as error:
            raise ModelUnavailable(f"the embedding endpoint's answer is unreadable ({type(error).__name__})") from None
        return self._in_order(answer, len(inputs))

    def _in_order(self, answer: Any, expected: int) -> Vectors:
        try:
            by_index = {int(item.index): [float(value) for value in item.embedding] for item in answer.data}
        except (AttributeError, TypeError, ValueError):
            raise ModelUnavailable("the embedding endpoint's answer is no list of embeddings") from None
        if sorted(by_index) != list(range(expected)) or len(answer.data) != expected:
            raise ModelUnavailable(f"the embedding endpoint answered {len(answer.data)} vectors to {expected} texts")
        rows = [by_index[index] for index in range(expected)]
        self._check_dimension({len(row) for row in rows})
        return unit(rows)

    def _check_dimension(self, found: set[int]) -> None:
        if found != {self._endpoint.dimension}:
            raise SettingError(
                f"AFTERWORD_EMBEDDING_DIMENSION is {self._endpoint.dimension}, but {self._endpoint.model} answers with "
                f"vectors of {', '.join(map(str, sorted(found)))}"
            )


def _connect(endpoint: EmbeddingEndpoint) -> OpenAI:
    try:
        from openai import DefaultHttpxClient, OpenAI
    except ImportError as error:
        raise SettingError(
            f"AFTERWORD_EMBEDDER=openai needs the OpenAI client ({error}): pip install 'afterword-server[openai]'"
        ) from error
    return OpenAI(
        base_url=endpoint.base_url,
        api_key=endpoint.api_key or "unset",
        timeout=endpoint.timeout_seconds,
        max_retries=0,
        http_client=DefaultHttpxClient(follow_redirects=False),
    )


def _refusal(error: APIStatusError) -> ModelUnavailable | ModelRefused:
    code = error.code if isinstance(error.code, str) and re.fullmatch(r"[\w.-]{1,60}", error.code) else ""
    detail = f"the embedding endpoint answered {error.status_code}" + (f" ({code})" if code else "")
    if error.status_code >= 500 or error.status_code in WORTH_ANOTHER_TRY:
        return ModelUnavailable(detail, retry_after_seconds=retry_after_seconds(error.response.headers))
    return ModelRefused(detail)


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """Seconds of a Retry-After header in either form of RFC 9110 §10.2.3; a date counts from the answer's own Date."""
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d+)?", value):
        return float(value)
    with suppress(TypeError, ValueError):
        wait = parsedate_to_datetime(value) - parsedate_to_datetime(headers.get("date", ""))
        return max(0.0, wait.total_seconds())
    return None
