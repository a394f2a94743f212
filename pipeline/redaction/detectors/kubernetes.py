"""Kubernetes secrets: what stands under `data` or `stringData` of a document whose kind is Secret."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import re2

from pipeline.redaction.classes import SECRET
from pipeline.redaction.folding import fold
from pipeline.redaction.placeholder import placeholder
from pipeline.redaction.span import Interval, Span

_KIND = re2.compile(rb"(?m)^\s*kind:\s*[\"']?[Ss]ecret[\"']?\s*$")
_DATA = re2.compile(rb"(?m)^([ \t]*)(?:data|stringData):[ \t]*$")
_LINE = re2.compile(rb"(?m)^([ \t]*)(?:[A-Za-z0-9_.\"'-]+:[ \t]*)?[\"']?([^\s\"'#][^\n\"']*?)?[\"']?[ \t]*$")
_BASE64 = re2.compile(rb"[A-Za-z0-9+/]{10,}={0,2}")
_DOCUMENT_BYTES_MAX = 16_384


@dataclass(frozen=True)
class KubernetesSecret:
    name: str = "kubernetes_secret"
    classes: frozenset[str] = frozenset({SECRET})

    @property
    def trigger(self) -> bytes:
        return bytes(_KIND.pattern)

    def detect(self, text: str) -> Sequence[Span]:
        folded = fold(text)
        return [Span(*folded.place(*hit), SECRET, 1.0, self.name) for hit in _hits(folded.data)]


def _hits(data: bytes) -> Iterator[Interval]:
    covered = 0
    for kind in _KIND.finditer(data):
        if kind.end() > covered:
            start, stop = _document(data, kind)
            yield from _values(data, max(start, covered), stop)
            covered = stop


def _document(data: bytes, kind: Any) -> Interval:
    """From the `---` before to the `---` after, within reach."""
    before = data.rfind(b"\n---", max(0, kind.start() - _DOCUMENT_BYTES_MAX), kind.start())
    start = before if before >= 0 else max(0, kind.start() - _DOCUMENT_BYTES_MAX)
    stop = min(len(data), kind.end() + _DOCUMENT_BYTES_MAX)
    after = data.find(b"\n---", kind.end(), stop)
    return start, after if after >= 0 else stop


def _values(data: bytes, start: int, stop: int) -> Iterator[Interval]:
    """Values of the lines that are indented deeper than their `data:`."""
    for head in _DATA.finditer(data, start, stop):
        for line in _LINE.finditer(data, head.end() + 1, stop):
            if len(line.group(1)) <= len(head.group(1)) and line.group().strip():
                break
            value = line.group(2) or b""
            if _BASE64.fullmatch(value) and not placeholder(value):
                yield line.span(2)
