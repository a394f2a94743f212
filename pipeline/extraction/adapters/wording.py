"""Many patterns asked as one, sorted by where they can begin: at a text's opening, at a word's, or anywhere.

An alternation is tried at each position with all its branches, unless they begin alike: what can only fit at the
opening or at a word is therefore asked for there alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator


class Wording:
    """Does any of the patterns fit a text? `fits` costs what the loose ones cost."""

    def __init__(self, *tables: Iterable[str]) -> None:
        branches = [branch for table in tables for pattern in table for branch in top_level_branches(pattern)]
        self._asked = (
            _any(branch[1:] for branch in branches if branch.startswith("^")).match,
            _any((branch[2:] for branch in branches if branch.startswith(r"\b")), at=r"\b").search,
            _any(branch for branch in branches if not branch.startswith(("^", r"\b"))).search,
        )
        self._said = repr(tables)

    def fits(self, text: str) -> bool:
        return any(ask(text) for ask in self._asked)

    def __repr__(self) -> str:
        return f"Wording{self._said}"


def _any(branches: Iterable[str], at: str = "") -> re.Pattern[str]:
    either = "|".join(branches)
    return re.compile(f"{at}(?:{either})" if either else r"(?!)")


def top_level_branches(pattern: str) -> Iterator[str]:
    """The alternatives of a pattern outside all parentheses; one in a class of characters is none."""
    depth, start, inside = 0, 0, False
    for place, sign in enumerate(pattern):
        if place and pattern[place - 1] == "\\":
            continue
        inside = sign == "[" or (inside and sign != "]")
        depth += 0 if inside else (sign == "(") - (sign == ")")
        if sign == "|" and depth == 0 and not inside:
            yield pattern[start:place]
            start = place + 1
    yield pattern[start:]
