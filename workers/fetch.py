"""A transcript from the `https:` address that an event names: one host off a list, one resolution, one answer.

    url --> on the list? --> resolved once --> all public? --> TLS to that very address --> at most 16 MB in time

Failure handling: what must not be asked is `url_not_allowed`, what could not be had is `url_unavailable`, which a
replay may mend. Redirects are refused: they would lead past the list. Messages name the host and the cause alone, since
an address may carry a secret in its path and an answer anything.
"""

from __future__ import annotations

import io
import socket
import ssl
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse, HTTPSConnection
from threading import Thread
from typing import Any

from pipeline.errors import EventError
from pipeline.intake import RejectReason
from pipeline.session import MAX_TRANSCRIPT_BYTES
from workers.addresses import Address, Hosts, Target, is_public, parsed, target

DEADLINE_SECONDS = 20.0
HEADERS = {"Accept": "application/json", "Accept-Encoding": "zstd, identity", "User-Agent": "afterword"}


def resolved(host: str, port: int) -> list[str]:
    """Every address of a name, in the order to try them. Raises OSError, or UnicodeError for what is no name."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


@dataclass(frozen=True, slots=True)
class Fetcher:
    """`Fetch` over HTTPS. Everything from resolving to the last byte happens within `deadline_seconds`."""

    allowed: Hosts
    deadline_seconds: float = DEADLINE_SECONDS
    resolve: Callable[[str, int], list[str]] = resolved
    admits: Callable[[Address], bool] = is_public
    tls: Callable[[], ssl.SSLContext] = ssl.create_default_context

    def __call__(self, url: str) -> bytes:
        """The body as sent, at most `MAX_TRANSCRIPT_BYTES`. Raises EventError."""
        asked = target(url, self.allowed)
        clock = Clock(time.monotonic() + self.deadline_seconds)
        try:
            return self._fetch(asked, clock)
        except TimeoutError:
            raise _unavailable(asked, f"no whole answer within {self.deadline_seconds:g} s") from None
        except ssl.SSLCertVerificationError as error:
            raise _unavailable(asked, f"certificate refused: {error.verify_message}") from None
        except (OSError, HTTPException) as error:
            raise _unavailable(asked, type(error).__name__) from None

    def _fetch(self, asked: Target, clock: Clock) -> bytes:
        addresses = self._addresses(asked, clock)
        with ExitStack() as opened:
            raw = opened.enter_context(_connected(addresses, asked.port, clock))
            raw.settimeout(clock.left())
            # A cut connection must not pass for the end of an answer.
            wrapped = self.tls().wrap_socket(raw, server_hostname=asked.host, suppress_ragged_eofs=False)
            return _answer(asked, opened.enter_context(wrapped), clock)

    def _addresses(self, asked: Target, clock: Clock) -> list[Address]:
        """Asked for once, so that what was looked at is what is connected to."""
        try:
            addresses = parsed(_within(clock, lambda: self.resolve(asked.host, asked.port)))
        except (socket.gaierror, UnicodeError):
            raise _unavailable(asked, "the name does not resolve") from None
        if not addresses:
            raise _unavailable(asked, "the name has no address")
        if not all(self.admits(address) for address in addresses):
            raise _refused(asked, "the name leads to an address that is not public")
        return addresses


@dataclass(frozen=True, slots=True)
class Clock:
    """A moment of the monotonic clock that nothing may outlast."""

    ends_at: float

    def left(self) -> float:
        """Seconds; raises TimeoutError when there are none."""
        seconds = self.ends_at - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        return seconds


class TimedSocket:
    """What http.client needs of a socket. Closed by whoever opened it."""

    def __init__(self, sock: ssl.SSLSocket, clock: Clock) -> None:
        self._sock, self._clock = sock, clock

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(TimedReader(self._sock, self._clock))

    def sendall(self, data: bytes) -> None:
        self._sock.settimeout(self._clock.left())
        self._sock.sendall(data)

    def close(self) -> None:
        """http.client lets go of a connection that will end while its answer is still to be read."""


class TimedReader(io.RawIOBase):
    """A peer that sends a byte now and then gains no time by it."""

    def __init__(self, sock: ssl.SSLSocket, clock: Clock) -> None:
        self._sock, self._clock = sock, clock

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._sock.settimeout(self._clock.left())
        return self._sock.recv_into(buffer)


def _within(clock: Clock, resolve: Callable[[], list[str]]) -> list[str]:
    """The system's resolver takes no timeout: one that hangs is left behind with its thread."""
    answer: Future[list[str]] = Future()

    def work() -> None:
        try:
            answer.set_result(resolve())
        except Exception as error:
            answer.set_exception(error)

    Thread(target=work, daemon=True).start()
    return answer.result(clock.left())


def _connected(addresses: list[Address], port: int, clock: Clock) -> socket.socket:
    """The first that answers; each is given its share of what time is left."""
    for number, address in enumerate(addresses):
        seconds = clock.left() / (len(addresses) - number)
        try:
            return socket.create_connection((str(address), port), timeout=seconds)
        except OSError:
            if number == len(addresses) - 1:
                raise
    raise AssertionError("there is at least one address")


def _answer(asked: Target, sock: ssl.SSLSocket, clock: Clock) -> bytes:
    connection = HTTPSConnection(asked.host, asked.port, context=sock.context)
    connection.sock = TimedSocket(sock, clock)  # connected already: http.client neither resolves nor connects
    connection.request("GET", asked.path, headers=HEADERS)
    with connection.getresponse() as response:
        _judge(asked, response)
        body = response.read(MAX_TRANSCRIPT_BYTES + 1)
        if len(body) > MAX_TRANSCRIPT_BYTES:
            raise _too_large(asked)
        if response.length:
            raise _unavailable(asked, "the answer ended early")
        return body


def _judge(asked: Target, response: HTTPResponse) -> None:
    """Before a byte of the body is read."""
    if 300 <= response.status < 400:
        raise _refused(asked, f"redirects ({response.status}), and no redirect is followed")
    if response.status != 200:
        raise _unavailable(asked, f"status {response.status}")
    encoding = response.getheader("Content-Encoding", "identity").strip().lower()
    if encoding not in ("identity", "zstd"):
        raise EventError(RejectReason.BAD_TRANSCRIPT, f"{asked.host}: neither plain nor zstd is the answer's encoding")
    if (response.length or 0) > MAX_TRANSCRIPT_BYTES:
        raise _too_large(asked)


def _refused(asked: Target, cause: str) -> EventError:
    return EventError(RejectReason.URL_NOT_ALLOWED, f"{asked.host}: {cause}")


def _unavailable(asked: Target, cause: str) -> EventError:
    return EventError(RejectReason.URL_UNAVAILABLE, f"{asked.host}: {cause}")


def _too_large(asked: Target) -> EventError:
    return EventError(RejectReason.TOO_LARGE, f"{asked.host}: the answer is over {MAX_TRANSCRIPT_BYTES:,} bytes")
