"""Rules of a format, and the one detector that runs any number of them in one pass.

    text --fold--> bytes --one scan for every rule's head--> the rule itself, at that place --> genuine?

A head is the cheap beginning of a match (`ghp_`, `AKIA`). Matching is RE2's: bounded by the length of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import re2

from pipeline.redaction.folding import fold
from pipeline.redaction.span import Span

EDGE = r"(?:\b|\\[abfnrtv]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2}|\x1b\[[0-9;]*m)"
"""Where a token may begin: a word's edge, or behind an escape that ends in a letter or digit (JSON, URL, ANSI)."""

_REACH = 1024
_HEAD_LENGTH_MAX = 128
_BLOB_LENGTH = 60
_BASE64 = re2.compile(rb"[A-Za-z0-9+/]+")


def always(_value: bytes) -> bool:
    return True


@dataclass(frozen=True)
class Rule:
    """A format. `pattern` begins with `head`; its group 1, if it has one, is what counts as the hit.

    `edge`: the head begins a word. `reach`: bytes within which a match must show, so that a text full of
    heads stays linear; a match that touches the limit is then taken to its end.
    """

    name: str
    head: str
    pattern: str
    genuine: Callable[[bytes], bool] = always
    edge: bool = True
    reach: int = _REACH

    @cached_property
    def compiled(self) -> Any:
        return re2.compile(self.pattern.encode())

    def at(self, data: bytes, position: int) -> tuple[int, int] | None:
        """Where the hit lies if the format matches at `position`; its value may still be no genuine one."""
        limit = position + self.reach
        found = self.compiled.match(data, position, min(limit, len(data)))
        if found and found.end() == limit:
            found = self.compiled.match(data, position)
        return found.span(self.compiled.groups and 1) if found else None


@dataclass(frozen=True, eq=False)  # by its identity: hashing all its rules costs more than scanning a sentence
class RuleDetector:
    """Runs its rules over a text; every hit is of the one class."""

    name: str
    cls: str
    rules: tuple[Rule, ...]

    @property
    def classes(self) -> frozenset[str]:
        return frozenset({self.cls})

    @property
    def trigger(self) -> bytes:
        return b"|".join(_alternatives(self.rules))

    def detect(self, text: str) -> Sequence[Span]:
        folded = fold(text)
        return [Span(*folded.place(*hit), self.cls, 1.0, rule.name) for rule, hit in self._hits(folded.data)]

    def _hits(self, data: bytes) -> Iterator[tuple[Rule, tuple[int, int]]]:
        """Heads may overlap: behind one that began no hit, the scan goes on at its second byte."""
        covered, position = dict.fromkeys(range(len(self.rules)), 0), 0
        while found := self._heads.search(data, position):
            start = max(found.start(1), found.start(2))
            position = start + 1
            for index in self._beginning_at(data, start):
                rule = self.rules[index]
                hit = rule.at(data, start) if start >= covered[index] else None
                if hit and rule.genuine(data[hit[0] : hit[1]]) and not _in_blob(data, hit[0]):
                    covered[index] = hit[1]
                    yield rule, hit

    def _beginning_at(self, data: bytes, start: int) -> list[int]:
        return sorted(self._beginnings.Match(data[start : start + _HEAD_LENGTH_MAX]) or ())

    @cached_property
    def _heads(self) -> Any:
        """Every head in one pattern: group 1 is one at a word's edge, group 2 any other."""
        return re2.compile(b"|".join(_alternatives(self.rules, group="")))

    @cached_property
    def _beginnings(self) -> Any:
        """Which rules begin with a head; number n is rule n."""
        beginnings = re2.Set.MatchSet()
        for rule in self.rules:
            beginnings.Add(f"(?:{rule.head})".encode())
        beginnings.Compile()
        return beginnings


def _alternatives(rules: Sequence[Rule], group: str = "?:") -> Iterator[bytes]:
    for edge in (True, False):
        heads = "|".join(f"(?:{rule.head})" for rule in rules if rule.edge is edge) or "[^\\x00-\\xff]"
        yield f"{EDGE if edge else ''}({group}{heads})".encode()


def _in_blob(data: bytes, start: int) -> bool:
    """Behind a `+` or `/` of base64 on end: an image, a certificate."""
    before = data[max(0, start - _BLOB_LENGTH) : start]
    return len(before) == _BLOB_LENGTH and before[-1] in b"+/" and _BASE64.fullmatch(before) is not None
