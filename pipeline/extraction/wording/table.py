"""A table of wording: patterns of which one must be found in a shown text.

RE2 reads a text once for all of them, in time bounded by its length. Patterns are written as shown texts are: lower
case, without accents. RE2 knows the edges of ASCII words alone (`\\b`), which is why Latin letters lose their accents.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import re2

from pipeline.extraction.wording.shown import unaccented

_OPTIONS = re2.Options()
_OPTIONS.max_mem = 16 << 20  # of states, a table; gaps between words make many, and 8 MB took twice as long
_OPTIONS.log_errors = False


class Table:
    """`harmless` are phrases taken out before the patterns are looked for: RE2 cannot look ahead."""

    def __init__(self, patterns: Iterable[str], harmless: Iterable[str] = ()) -> None:
        self.patterns, self._harmless = tuple(patterns), tuple(harmless)

    def search(self, text: str) -> bool:
        """Is one of the patterns in the text, which is a shown one?"""
        data = text.encode()
        if self._harmless:
            data = self._without.sub(b"\xc2\xb7", data)
        return self._found.search(data) is not None

    @cached_property
    def _found(self) -> Any:
        return _compiled(self.patterns)

    @cached_property
    def _without(self) -> Any:
        return _compiled(self._harmless)


def _compiled(patterns: tuple[str, ...]) -> Any:
    return re2.compile("|".join(f"(?:{unaccented(pattern)})" for pattern in patterns).encode(), _OPTIONS)
