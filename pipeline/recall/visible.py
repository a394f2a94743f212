"""Recalled text made safe to stand inside the fence: on one line, nothing hidden, no way out of it."""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Final

from pipeline.recall.fence import FENCE_OPEN_PREFIX
from pipeline.session import normalised

NAME: Final = FENCE_OPEN_PREFIX.removeprefix("<").partition("-")[0]
"""What after an angle bracket is taken for a fence: every spelling of this word, whatever follows it."""

# Format characters, and what renders as nothing without being one: joiners of single scripts, fillers, tags.
HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co"})
HIDDEN: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0") | frozenset(map(chr, range(0x180B, 0x1810)))
TAGS: Final = range(0xE0000, 0xE1000)
JOINERS: Final = frozenset("\u200c\u200d")
EMOJI_STYLES: Final = frozenset("\ufe0e\ufe0f")
VARIATIONS: Final = frozenset(map(chr, range(0xFE00, 0xFE10))) - EMOJI_STYLES

BRACKET: Final = re.compile("[<\uff1c\ufe64\u2039\u27e8\u3008\u276e]")
LOOK_AHEAD: Final = 200
VALUE_CHARACTERS: Final = 120


def one_line(content: str) -> str:
    """`content` on one line; hidden characters as `\\u202e`; a bracket that would open or close a fence as `&lt;`.

    White space collapses. Joiners stay between characters beyond ASCII, where Persian and emoji need them.
    """
    return BRACKET.sub(_harmless, _flat(content))


def attribute(value: str) -> str:
    """`value` for use between double quotes inside square brackets: one line, at most 120 characters, escaped."""
    flat = _flat(value)
    short = flat if len(flat) <= VALUE_CHARACTERS else flat[: VALUE_CHARACTERS - 1] + "…"
    return BRACKET.sub(_harmless, html.escape(short)).replace("[", "&#91;").replace("]", "&#93;")


def _flat(text: str) -> str:
    line = " ".join(text.split())
    return "".join(
        _escaped(char) if _is_hidden(char, line[at - 1 : at], line[at + 1 : at + 2]) else char
        for at, char in enumerate(line)
    )


def _is_hidden(char: str, before: str, after: str) -> bool:
    if char in JOINERS:
        return not (before > "\x7f" and after > "\x7f")
    return unicodedata.category(char) in HIDDEN_CATEGORIES or char in HIDDEN or char in VARIATIONS or ord(char) in TAGS


def _escaped(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


def _harmless(bracket: re.Match[str]) -> str:
    tail = bracket.string[bracket.end() : bracket.end() + LOOK_AHEAD]
    is_fence = normalised(tail).lstrip(" /\\").startswith(NAME)
    return "&lt;" if is_fence or tail.startswith("|") else bracket.group()
