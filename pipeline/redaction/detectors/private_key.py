"""Private keys in PEM armour, whole or cut off at either end, also as JSON text or behind line numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import re2

from pipeline.redaction.classes import SECRET
from pipeline.redaction.folding import fold
from pipeline.redaction.span import Span

_LABEL = r"(?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_BREAK = r"(?:\s|\\[nrt]|[\"'+,>|#*])"
_FILLER = rf"(?:{_BREAK}|\d{{1,6}}[?:|]|[A-Za-z-]{{4,20}}: [^\n\\]{{0,100}}(?:\\n|\n))"
_LINE = r"[A-Za-z0-9+/=]{1,}"

_EDGE_LINE = re2.compile(rf"-----(?:BEGIN|END) {_LABEL}".encode())
_BODY = re2.compile(rf"(?:{_FILLER}*{_LINE})*".encode())
_TAIL = re2.compile(rf"(?:[A-Za-z0-9+/=]|{_BREAK})*$".encode())
_KEY_MATERIAL = re2.compile(rb"[A-Za-z0-9+/]{24}")

_KEY_BYTES_MAX = 16_384


@dataclass(frozen=True)
class PrivateKey:
    """A block counts if it holds key material: at least 24 characters of base64 on end."""

    name: str = "private_key"
    classes: frozenset[str] = frozenset({SECRET})

    @property
    def trigger(self) -> bytes:
        return bytes(_EDGE_LINE.pattern)

    def detect(self, text: str) -> Sequence[Span]:
        folded = fold(text)
        return [Span(*folded.place(*block), SECRET, 1.0, self.name) for block in _blocks(folded.data)]


def _blocks(data: bytes) -> Iterator[tuple[int, int]]:
    edges = [(match.start(), match.end(), match.group().startswith(b"-----B")) for match in _EDGE_LINE.finditer(data)]
    open_block = False
    for index, (start, end, begins) in enumerate(edges):
        if begins:
            following = edges[index + 1] if index + 1 < len(edges) else None
            open_block = following is not None and not following[2] and following[0] - end <= _KEY_BYTES_MAX
            stop = following[1] if open_block and following else _body_end(data, end)
            block = (start, stop)
        elif open_block:
            open_block = False
            continue
        else:
            block = (_body_start(data, start), end)
        if _KEY_MATERIAL.search(data, *block):
            yield block


def _body_end(data: bytes, start: int) -> int:
    return int(_BODY.match(data, start, min(start + _KEY_BYTES_MAX, len(data))).end())


def _body_start(data: bytes, end: int) -> int:
    floor = max(0, end - _KEY_BYTES_MAX)
    return floor + int(_TAIL.search(data[floor:end]).start())
