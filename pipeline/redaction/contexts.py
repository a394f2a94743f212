"""Where a text names a phone, a birth or a document, asked once for all detectors, and what stands near it.

text --one pattern of every word--> mentions --> the line behind a mention, the line before it
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache, lru_cache

import re2

from pipeline.redaction.folding import fold
from pipeline.redaction.vocabulary import Mention, Vocabulary, entries

SOURCES = ("national", "languages", "nationalities", "phone", "birth")
"""Files of words/. A meaning is `source:label`, as in `phone:de DE AT CH`."""

_CONTENT = re2.compile(rb"[0-9A-Za-z?]")


@lru_cache(maxsize=1)
def mentions(text: str) -> tuple[Mention, ...]:
    """Every word for something in the folded text; the last text's are remembered."""
    return tuple(_vocabulary().mentions(fold(text)))


@cache
def trigger(source: str) -> bytes:
    """A pattern over the folded text that matches wherever one of this source's words does."""
    return _vocabulary((source,)).trigger


@cache
def _vocabulary(sources: tuple[str, ...] = SOURCES) -> Vocabulary:
    meanings: defaultdict[str, set[str]] = defaultdict(set)
    for source in sources:
        for label, words in entries(source):
            for word in words:
                meanings[word].add(f"{source}:{label}")
    return Vocabulary(meanings)


@lru_cache(maxsize=4096)
def labels(meanings: frozenset[str], source: str) -> tuple[str, ...]:
    """The labels of one source among a mention's meanings."""
    return tuple(sorted(m.removeprefix(f"{source}:") for m in meanings if m.startswith(f"{source}:")))


def line_behind(data: bytes, position: int, reach: int) -> int:
    """Where the text that belongs to a word ends: with its line, or a later one if nothing but signs lies between."""
    stop = min(len(data), position + reach)
    end = data.find(b"\n", position, stop)
    while end >= 0 and not _CONTENT.search(data[position:end]):
        end = data.find(b"\n", end + 1, stop)
    return stop if end < 0 else end


def line_before(data: bytes, position: int, reach: int) -> int:
    """Where the text before a word begins: with its line, or `reach` before it."""
    start = max(0, position - reach)
    return max(start, data.rfind(b"\n", start, position) + 1)
