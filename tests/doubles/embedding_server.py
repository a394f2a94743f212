"""An embeddings endpoint that answers by script: the real wire format over HTTP on 127.0.0.1, nothing mocked.

    with EmbeddingServer([Failure(429, retry_after="7"), Vectors(8)]) as server:
        ... server.base_url ... server.requests

Each request takes the next line of the script; the last line answers all further requests. A text's vector is spread
from its SHA-256, so that a test can tell which text a row belongs to.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any, Self


@dataclass(frozen=True)
class Vectors:
    """Well-formed vectors of this dimension, not normalised; in order, or from the last text to the first."""

    dimension: int
    reverse: bool = False
    drop: int = 0  # how many to leave out


@dataclass(frozen=True)
class Rows:
    """Exactly these embeddings, whatever was asked."""

    rows: Sequence[Sequence[float]]


@dataclass(frozen=True)
class Failure:
    """A status with an OpenAI error body."""

    status: int
    retry_after: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Garbage:
    """Status 200 and a body that is no list of embeddings."""

    body: bytes = b"<html>proxy</html>"
    content_type: str = "text/html"


@dataclass(frozen=True)
class Hang:
    """No answer at all."""


Line = Vectors | Rows | Failure | Garbage | Hang


def vector_of(text: str, dimension: int) -> list[float]:
    """What `Vectors` answers to `text`: `dimension` (at most 32) numbers between 1 and 256."""
    return [float(byte + 1) for byte in hashlib.sha256(text.encode()).digest()[:dimension]]


class EmbeddingServer:
    """The endpoint; `requests` holds the decoded bodies in order of arrival."""

    def __init__(self, script: Sequence[Line]) -> None:
        self.requests: list[dict[str, Any]] = []
        self.script, self.lock, self.closing = list(script), Lock(), Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def take(self, request: dict[str, Any]) -> Line:
        with self.lock:
            self.requests.append(request)
            return self.script.pop(0) if len(self.script) > 1 else self.script[0]


def _items(line: Vectors | Rows, texts: Sequence[str]) -> list[dict[str, Any]]:
    rows = line.rows if isinstance(line, Rows) else [vector_of(text, line.dimension) for text in texts]
    items = [{"object": "embedding", "index": index, "embedding": list(row)} for index, row in enumerate(rows)]
    if isinstance(line, Vectors):
        items = items[line.drop :]
        return items[::-1] if line.reverse else items
    return items


def _handler(server: EmbeddingServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            request["path"], request["authorization"] = self.path, self.headers.get("Authorization")
            line = server.take(request)
            if isinstance(line, Hang):
                server.closing.wait(30)
            elif isinstance(line, Failure):
                error = {"message": f"refused: {request['input']}", "type": "t", "code": "scripted_failure"}
                extra = dict(line.headers) | ({"Retry-After": line.retry_after} if line.retry_after else {})
                self.answer(line.status, json.dumps({"error": error}).encode(), "application/json", extra)
            elif isinstance(line, Garbage):
                self.answer(200, line.body, line.content_type, {})
            else:
                data = {"object": "list", "data": _items(line, request["input"]), "model": request["model"]}
                self.answer(200, json.dumps(data).encode(), "application/json", {})

        def answer(self, status: int, body: bytes, content_type: str, extra: Mapping[str, str]) -> None:
            self.send_response(status)
            for name, value in {"Content-Type": content_type, "Content-Length": str(len(body)), **extra}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler
