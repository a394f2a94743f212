"""Random strings that a pattern matches, for patterns of the kind that token formats are written in."""

from __future__ import annotations

import random
import re
import string
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

_WORD = string.ascii_letters + string.digits
_CATEGORIES = {
    _constants.CATEGORY_DIGIT: string.digits,
    _constants.CATEGORY_WORD: _WORD,
    _constants.CATEGORY_SPACE: " ",
    _constants.CATEGORY_NOT_SPACE: _WORD,
}
_EXTRA_MAX = 8


def sample(pattern: str, rng: random.Random) -> str:
    """The first alternative as often as any other; open repetitions a few over their least."""
    found = "".join(_node(node, rng) for node in _parser.parse(pattern))
    assert re.search(pattern, found), pattern
    return found


def _node(node: Any, rng: random.Random) -> str:
    kind, value = node
    if kind is _constants.LITERAL:
        return chr(value)
    if kind is _constants.NOT_LITERAL:
        return rng.choice([c for c in _WORD if ord(c) != value])
    if kind is _constants.IN:
        return rng.choice(_characters(value))
    if kind is _constants.BRANCH:
        return "".join(_node(part, rng) for part in rng.choice(value[1]))
    if kind is _constants.SUBPATTERN:
        return "".join(_node(part, rng) for part in value[-1])
    if kind in (_constants.MAX_REPEAT, _constants.MIN_REPEAT):
        least, most, parts = value
        times = rng.randint(least, min(most, least + _EXTRA_MAX))
        return "".join(_node(part, rng) for _ in range(times) for part in parts)
    assert kind is _constants.AT, kind
    return ""


def _characters(parts: Any) -> list[str]:
    negated = parts[0][0] is _constants.NEGATE
    chosen = {c for part in parts for c in _of(*part)}
    return sorted(set(_WORD + " ") - chosen if negated else chosen)


def _of(kind: Any, value: Any) -> str:
    if kind is _constants.RANGE:
        return "".join(map(chr, range(value[0], value[1] + 1)))
    if kind is _constants.CATEGORY:
        return _CATEGORIES[value]
    return chr(value) if kind is _constants.LITERAL else ""
