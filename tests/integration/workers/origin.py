"""A real TLS server on this machine that says, byte by byte, what a test wants a peer to say."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field

HOST = "origin.test"
Answer = Callable[[], Iterable[bytes]]


@dataclass
class Origin:
    """Answers the path of a request with the chunks set for it; without `tls` it speaks plainly."""

    tls: ssl.SSLContext | None
    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    """Request heads, as they came."""
    farewell: bool = True
    """Whether the end of an answer is said in TLS too, or the connection is just cut."""

    def __post_init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def close(self) -> None:
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._accepting.join()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        connection.settimeout(10)
        with suppress(OSError), connection:
            if self.tls is None:
                self._reply(connection)
                return
            with self.tls.wrap_socket(connection, server_side=True) as secured:
                self._reply(secured)
                if self.farewell:
                    secured.unwrap()

    def _reply(self, connection: socket.socket) -> None:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            received = connection.recv(1)
            if not received:
                return
            head += received
        self.asked.append(head.decode())
        path = head.split()[1].decode()
        for chunk in self.answers[path]():
            connection.sendall(chunk)


def http(body: bytes = b"", status: str = "200 OK", **headers: object) -> Answer:
    """A whole answer with its length, unless another is given; None leaves a header out."""
    given = {"Content_Length": len(body)} | headers
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in given.items() if value is not None]
    head = "\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode()
    return lambda: [head, body]


def dripping(first: bytes, drop: bytes = b" ") -> Answer:
    """`first`, then a drop every twentieth of a second for as long as anybody listens."""

    def chunks() -> Iterable[bytes]:
        yield first
        while not threading.Event().wait(0.05):
            yield drop

    return chunks
