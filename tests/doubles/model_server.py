"""A model's endpoint that answers by script: a real wire format over HTTP on 127.0.0.1, nothing mocked.

    with ModelServer([Answer('{"candidates": []}'), Failure(429, retry_after=7)]) as server:
        ... server.base_url ... server.requests

Each request takes the next line of the script; the last line answers all further requests. `Hang` holds the
connection until the server closes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any, Self
from urllib.parse import unquote

from tests.doubles.dialects import OPENAI, Dialect


@dataclass(frozen=True)
class Answer:
    """A completion with this text, by this model; `delay_seconds` before it is sent. `is_cut`: at its limit."""

    text: str | None
    model: str = "scripted-1"
    delay_seconds: float = 0.0
    is_cut: bool = False


@dataclass(frozen=True)
class Reply:
    """A completion whose text follows from the request, as the endpoint received it."""

    text: Callable[[dict[str, Any]], str]
    model: str = "scripted-1"


@dataclass(frozen=True)
class Failure:
    """An error status with the dialect's error body."""

    status: int
    retry_after: str | None = None
    code: str = "scripted_failure"


@dataclass(frozen=True)
class Garbage:
    """Status 200 and a body that is no answer of a model."""

    body: bytes = b"<html>proxy</html>"


@dataclass(frozen=True)
class Hang:
    """No answer at all."""


Line = Answer | Reply | Failure | Garbage | Hang


class ModelServer:
    """The endpoint. `requests` holds the decoded bodies in order of arrival, `headers` what came with them;
    `most_at_once` is the widest concurrency."""

    def __init__(self, script: Sequence[Line], dialect: Dialect = OPENAI) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.dialect = dialect
        self.most_at_once = 0
        self._script, self._lock, self._closing, self._open = list(script), Lock(), Event(), 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}{self.dialect.base}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def take(self, request: dict[str, Any]) -> Line:
        with self._lock:
            self.requests.append(request)
            self._open += 1
            self.most_at_once = max(self.most_at_once, self._open)
            return self._script.pop(0) if len(self._script) > 1 else self._script[0]

    def done(self) -> None:
        with self._lock:
            self._open -= 1

    def wait(self, seconds: float | None) -> bool:
        """True when the server closes meanwhile."""
        return self._closing.wait(seconds)


def _handler(model: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if not model.dialect.path.fullmatch(unquote(self.path)):
                return self._send(404, b"{}")
            model.headers.append(dict(self.headers))
            line = model.take(asked := json.loads(body))
            if isinstance(line, Reply):
                line = Answer(line.text(asked), line.model)
            try:
                self._answer(line, asked)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True
            finally:
                model.done()

        def _answer(self, line: Line, asked: dict[str, Any]) -> None:
            match line:
                case Answer():
                    if line.delay_seconds:
                        model.wait(line.delay_seconds)
                    number = len(model.requests)
                    body = model.dialect.answer(line.text, line.model, number, asked, line.is_cut)
                    self._send(200, json.dumps(body).encode())
                case Failure():
                    headers = model.dialect.error_headers(line.code)
                    if line.retry_after:
                        headers["Retry-After"] = line.retry_after
                    error = model.dialect.error(line.status, line.code)
                    self._send(line.status, json.dumps(error).encode(), headers)
                case Garbage():
                    self._send(200, line.body)
                case Hang():
                    model.wait(None)
                    self.close_connection = True

        def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler
