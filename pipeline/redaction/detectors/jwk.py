"""The private members of a JSON Web Key: an object with `kty`, and `d`, `k`, or the factors of an RSA key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import re2

from pipeline.redaction.classes import SECRET
from pipeline.redaction.folding import fold
from pipeline.redaction.placeholder import genuine
from pipeline.redaction.span import Interval, Span

_QUOTE = r"\\{0,3}[\"']"
_KTY = re2.compile(rf"{_QUOTE}kty{_QUOTE}\s{{0,4}}:\s{{0,4}}{_QUOTE}(?:RSA|EC|OKP|oct){_QUOTE}".encode())
_PRIVATE = re2.compile(
    rf"{_QUOTE}(?:d|k|p|q|dp|dq|qi){_QUOTE}\s{{0,4}}:\s{{0,4}}{_QUOTE}([A-Za-z0-9_+/-]{{16,}}=*){_QUOTE}".encode()
)
_OBJECT_BYTES_MAX = 8192


@dataclass(frozen=True)
class JsonWebKey:
    name: str = "json_web_key"
    classes: frozenset[str] = frozenset({SECRET})

    @property
    def trigger(self) -> bytes:
        return bytes(_KTY.pattern)

    def detect(self, text: str) -> Sequence[Span]:
        folded = fold(text)
        return [Span(*folded.place(*hit), SECRET, 1.0, self.name) for hit in _hits(folded.data)]


def _hits(data: bytes) -> Iterator[Interval]:
    covered = 0
    for kty in _KTY.finditer(data):
        if kty.end() <= covered:
            continue
        start, covered = max(covered, _opened(data, kty.start())), _closed(data, kty.end())
        for member in _PRIVATE.finditer(data, start, covered):
            if genuine(data[member.start(1) : member.end(1)]):
                yield member.span(1)


def _opened(data: bytes, position: int) -> int:
    return max(0, position - _OBJECT_BYTES_MAX, data.rfind(b"{", max(0, position - _OBJECT_BYTES_MAX), position))


def _closed(data: bytes, position: int) -> int:
    stop = min(len(data), position + _OBJECT_BYTES_MAX)
    found = data.find(b"}", position, stop)
    return found if found >= 0 else stop
