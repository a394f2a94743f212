"""The words of a short fact, as far as they decide whether two facts say the same.

Word lists are English. In another language fewer words count as filler, so fewer facts count as the same.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

# Scripts written without spaces are compared character by character: one changed character is one changed word.
UNSPACED: Final = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff])"
)
LEFT_EDGE: Final = "([{\"'`“‘«,;:"
RIGHT_EDGE: Final = ".,;:!()[]{}\"'`“”‘’»…。、，"
DASHES: Final = frozenset("-‐‑‒–—―")

FILLER: Final = re.compile("a|an|the|this|that|these|those|is|are|am|it|its|and|so|very|really|just")
"""Words that claim nothing of their own. Not among them: was, been, from, with, on, which can turn a fact round."""

NEGATION: Final = re.compile(
    r"no|not|never|none|nothing|nobody|nor|neither|without|cannot|unless|except|disabled|.+n't"
    r"|não|nunca|nem|sem|nicht|kein|keine|nie|ohne|pas|jamais|sans|ni|sin"
)
IDENTIFIER: Final = re.compile(r"[_/\\@#=<>+*{}$%|^~&]|\w[.:\-]\w|[a-z][A-Z]|^-")


def words(text: str) -> list[str]:
    """Words in order, NFKC, in their own case, without the punctuation at their edges."""
    spaced = UNSPACED.sub(r" \1 ", unicodedata.normalize("NFKC", text))
    stripped = (word.lstrip(LEFT_EDGE).rstrip(RIGHT_EDGE) for word in spaced.split())
    return [word for word in stripped if word and not DASHES.issuperset(word)]


def without_filler(text: str) -> str:
    """The text's words, as they stand, but those that claim nothing."""
    return " ".join(
        word for word in text.split() if not FILLER.fullmatch(word.strip(LEFT_EDGE + RIGHT_EDGE).casefold())
    )


def claims(text: str) -> tuple[str, ...]:
    """The words that carry the fact, in order: case folded, without filler, a plural or possessive s taken off."""
    found = words(text)
    return tuple(_folded(word) for at, word in enumerate(found) if not _is_filler(word, first=at == 0))


def anchors(text: str) -> frozenset[str]:
    """Those claims a paraphrase may not change: with a digit, negating, shaped like code, or a name."""
    found = words(text)
    return frozenset(
        _folded(word) for at, word in enumerate(found) if _is_anchor(word) and not _is_filler(word, first=at == 0)
    )


def is_negated(text: str) -> bool:
    return any(_is_negation(word) for word in words(text))


def is_marked(text: str) -> bool:
    """Whether the text holds a value rather than a description: a digit, something shaped like code, a name."""
    return any(_is_anchor(word) and not _is_negation(word) for word in words(text))


def _is_anchor(word: str) -> bool:
    shaped = any(char.isdigit() or char.isupper() for char in word) or IDENTIFIER.search(word)
    return bool(shaped) or _is_negation(word)


def _is_negation(word: str) -> bool:
    return bool(NEGATION.fullmatch(word.casefold().replace("’", "'")))


def _is_filler(word: str, *, first: bool) -> bool:
    # "region A" and "the IT desk" mean something; "A desk" does not.
    return bool(FILLER.fullmatch(word.casefold())) and (first or word.islower())


def _folded(word: str) -> str:
    plain = word.replace("’", "'").removesuffix("'s")
    if len(plain) > 3 and plain.islower() and plain.isalpha() and plain.endswith("s") and not plain.endswith("ss"):
        plain = plain[:-1]
    return plain.casefold()
