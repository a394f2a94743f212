"""What in a text is code: identifiers, paths, file names, inline code. There the model sees people and postal codes.

A token is a run of visible ASCII, so that Chinese, which writes no spaces, is no token. Signs that separate values
(`=`, `:`, quotes, brackets) part tokens: `author=Ana` is a name behind a key.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

_TOKEN = re.compile(r"[!#$%&*+\-./0-9?@A-Z\\^_a-z~\u00c0-\u024f]+(?:\(\))?")
_SIGNS = re.compile(
    r"[_\\$^~]|\(\)$|\w@|@[a-z/]|#\w|^--?[a-z]"  # snake_case, escapes, calls, addresses, flags
    r"|^[/.]\w|//|/\w+/|[a-z0-9]/[a-z0-9.]"  # paths
    r"|\.[a-z][A-Za-z0-9]*$|\.[a-z]+[./]|[a-z]{2,}\.[A-Z]"  # file.ext, a.b.c, pkg.Name
    r"|[a-z]-[a-z]+-\d"  # name-of-4
)
_INLINE = re.compile(r"(`+)([^`]+)\1")


class Code:
    """Answers whether a part of a text is code."""

    def __init__(self, text: str) -> None:
        self._text = text

    def holds(self, start: int, end: int) -> bool:
        at = bisect_right(self._starts, start) - 1
        return (at >= 0 and end <= self._intervals[at][1]) or self._quoted(start)

    def _quoted(self, start: int) -> bool:
        at = bisect_right(self._inline_starts, start) - 1
        return at >= 0 and start < self._inline[at][1]

    @cached_property
    def _intervals(self) -> list[tuple[int, int]]:
        return [match.span() for match in _TOKEN.finditer(self._text) if _SIGNS.search(match.group().rstrip(".-!?"))]

    @cached_property
    def _starts(self) -> list[int]:
        return [start for start, _ in self._intervals]

    @cached_property
    def _inline(self) -> list[tuple[int, int]]:
        """`x` in back-ticks is a name of code unless it is prose of several words."""
        return [match.span() for match in _INLINE.finditer(self._text) if " " not in match.group(2).strip()]

    @cached_property
    def _inline_starts(self) -> list[int]:
        return [start for start, _ in self._inline]
