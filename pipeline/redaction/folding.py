"""A text as detectors see it: one ASCII byte a character, so that a byte position is a character offset.

Full-width forms, digits of other scripts, unusual dashes and spaces become their ASCII counterparts; invisible
characters (category Cf, variation selectors) are left out, with a map back to the text; what else is not ASCII
becomes `?`. So `\\b` and digit classes hold next to any script, and matching runs over plain bytes.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import re2


@dataclass(frozen=True, slots=True)
class Folded:
    """`text` is the visible text and `data` its ASCII form, of one length.

    `cuts` are the places in them before which an invisible character was left out, ascending, one for each.
    """

    text: str
    data: bytes
    cuts: Sequence[int] = ()

    def place(self, start: int, end: int) -> tuple[int, int]:
        """The characters of the text given from which data[start:end] came; start < end."""
        if not self.cuts:
            return start, end
        return start + bisect_right(self.cuts, start), end + bisect_right(self.cuts, end - 1)


class Characters:
    """Positions in UTF-8 as character offsets, asked for in ascending order: linear in the text for all of them."""

    def __init__(self, encoded: bytes) -> None:
        self._encoded, self._byte, self._character = encoded, 0, 0

    def at(self, position: int) -> int:
        self._character += len(self._encoded[self._byte : position].decode())
        self._byte = position
        return self._character


def _counterparts() -> dict[int, str]:
    """Character -> its ASCII counterpart; digits of every script, full-width forms, dashes, spaces."""
    table = {}
    for point in range(0x80, 0x20000):
        category = unicodedata.category(chr(point))
        if category == "Nd":
            table[point] = str(unicodedata.digit(chr(point)))
        elif 0xFF01 <= point <= 0xFF5E:
            table[point] = chr(point - 0xFEE0)
        elif category == "Pd" or point == 0x2212:
            table[point] = "-"
        elif category == "Zs":
            table[point] = " "
    return table


def _character_class(points: Sequence[int]) -> str:
    return "[" + "".join(rf"\x{{{point:x}}}" for point in points) + "]"


_ASCII = _counterparts()
_INVISIBLE = frozenset(
    chr(point)
    for point in (*range(0x80, 0x20000), *range(0xE0000, 0xE0200))
    if unicodedata.category(chr(point)) == "Cf"
    or 0xFE00 <= point <= 0xFE0F
    or point == 0x34F
    or 0xE0100 <= point <= 0xE01EF
)
_CHANGED = re2.compile(_character_class(sorted({*_ASCII, *map(ord, _INVISIBLE)})) + "+")
_TRANSLATION = {**_ASCII, **{ord(character): None for character in _INVISIBLE}}


@lru_cache(maxsize=1)
def fold(text: str) -> Folded:
    """Linear in `text`; what needs no change costs a scan. The last is remembered: one detector asks after another."""
    if text.isascii():
        return Folded(text, text.encode())
    encoded = text.encode("utf-8", "replace")
    runs = list(_CHANGED.finditer(encoded))
    if not runs:
        visible = encoded.decode()
        return Folded(visible, visible.encode("ascii", "replace"))
    pieces, cuts, length, position = list[str](), list[int](), 0, 0
    for run in runs:
        kept, changed = encoded[position : run.start()].decode(), run.group().decode()
        pieces += [kept, changed.translate(_TRANSLATION)]
        length += len(kept)
        for character in changed:
            if character in _INVISIBLE:
                cuts.append(length)
            else:
                length += 1
        position = run.end()
    visible = "".join([*pieces, encoded[position:].decode()])
    return Folded(visible, visible.encode("ascii", "replace"), cuts)
