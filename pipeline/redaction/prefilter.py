"""One scan of a text says which detectors may find something in it: most texts hold nothing for most of them.

A detector with a `trigger` is left out where that matches nowhere; one without is always asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Generic, TypeVar

import re2

from pipeline.redaction.folding import fold
from pipeline.redaction.span import Detector, Triggered

D = TypeVar("D", bound=Detector)
_MEMORY_BYTES = 64 << 20
_COMBINATIONS = 1024


class Prefilter(Generic[D]):
    """Failure handling: a pattern that always matches is among those scanned for; where the scan does not report it,
    it ran out of memory, and every detector is asked."""

    def __init__(self, detectors: Sequence[D]) -> None:
        self._detectors = tuple(detectors)
        triggers = {n: d.trigger for n, d in enumerate(self._detectors) if isinstance(d, Triggered)}
        self._numbers = list(triggers)
        self._always = frozenset(range(len(self._detectors))).difference(triggers)
        self._scan = re2.Set.SearchSet(_options())
        for trigger in triggers.values():
            self._scan.Add(trigger)
        self._sentinel = self._scan.Add(b"")
        self._scan.Compile()
        self._asked = lru_cache(maxsize=_COMBINATIONS)(self._by_found)

    def __call__(self, text: str) -> tuple[D, ...]:
        return self._asked(tuple(self._scan.Match(fold(text).data) or ()))

    def _by_found(self, found: tuple[int, ...]) -> tuple[D, ...]:
        """Texts with nothing in them are most; few combinations of triggers come."""
        if self._sentinel not in found:
            return self._detectors
        asked = self._always.union(self._numbers[n] for n in found if n != self._sentinel)
        return tuple(self._detectors[number] for number in sorted(asked))


@lru_cache(maxsize=16)
def prefilter(detectors: tuple[D, ...]) -> Prefilter[D]:
    """The same for the same detectors: making one compiles all their triggers."""
    return Prefilter(detectors)


def _options() -> Any:
    options = re2.Options()
    options.max_mem = _MEMORY_BYTES
    options.encoding = re2.Options.Encoding.LATIN1
    return options
