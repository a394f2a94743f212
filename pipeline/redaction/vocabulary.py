"""Words of many languages in one pattern: where a text names a phone, a birth or a document.

    words/*.txt --a pattern, matched once over the text--> mentions, each with the meanings of its word

A word is found in any case, with or without its accents or with combining ones, Turkish dotted and dotless i alike,
and with other signs between its parts (`tax-id`, `tax_id`, `taxID`). Scripts without spaces have no word's edge.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import re2

from pipeline.redaction.folding import Characters, Folded
from pipeline.redaction.rules import EDGE

_FOLDER = Path(__file__).with_name("words")
_MARKS = r"[\x{300}-\x{36f}\x{93c}\x{3099}\x{309a}]"
_GAP_SIGNS = " -./'’״׳\"&"
_GAP = r"[ _.:'’״׳\"/&-]{0,2}"
_LEFT, _RIGHT = f"(?:{EDGE}|_)", r"(?:\b|_|\d|s\b|(?-i:[A-Z]))"
_ANY_I = r"[iİı]\x{307}?"
_OPEN_MIN = 6
"""Letters from which a word may be a longer one's beginning, as in inflected and compound words."""
_ABBREVIATION_MAX = 2
"""Letters up to which a word needs its dots and its accents."""
_KEY_FOLLOWS = re2.compile(r"[\"'`\\)]{0,3}\s{0,3}[:=#：]")
_MEMORY_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Mention:
    """A word at characters [start, end) of a folded text."""

    start: int
    end: int
    meanings: frozenset[str]


def entries(name: str) -> Iterator[tuple[str, list[str]]]:
    """(label, words) of each line of words/NAME.txt."""
    for line in (_FOLDER / f"{name}.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            label, words = line.split(": ", 1)
            yield label, [word.strip() for word in words.split(",")]


def key(word: str) -> str:
    """What all spellings of a word have in common: its letters and digits without case and accents."""
    folded = unicodedata.normalize("NFKD", word.replace("İ", "i")).casefold().replace("ı", "i")
    return "".join(c for c in folded if c.isalnum())


class Vocabulary:
    """Words and what each means. A word written `!PAN` counts only in capitals, or as a key: `pan: `, `pan=`."""

    def __init__(self, meanings: Mapping[str, Iterable[str]]) -> None:
        self._meanings: dict[str, frozenset[str]] = {}
        self._strict: set[str] = set()
        words: dict[str, str] = {}
        loose: set[str] = set()
        collected: defaultdict[str, set[str]] = defaultdict(set)
        for word, meant in meanings.items():
            plain = word.removeprefix("!")
            words[key(plain)] = max(words.get(key(plain), ""), plain, key=len)
            collected[key(plain)].update(meant)
            (self._strict if word != plain else loose).add(key(plain))
        self._strict -= loose
        self._meanings = {word: frozenset(meant) for word, meant in collected.items()}
        spellings = sorted(words.values(), key=lambda word: (-len(word), word))
        self._pattern = _compiled(_sources(spellings))
        self._unaccented = list(filter(str.isascii, map(_unaccented, spellings)))

    @property
    def trigger(self) -> bytes:
        """Matches a folded text's bytes wherever a word is in it; what is not ASCII is a `?` there."""
        return f"(?i){_in_ascii(_sources(self._unaccented))}|\\?".encode()

    def mentions(self, folded: Folded) -> list[Mention]:
        encoded = folded.data if folded.text.isascii() else folded.text.encode()
        characters = Characters(encoded)
        found = (tuple(map(characters.at, m.span(m.lastindex))) for m in self._pattern.finditer(encoded))
        return [mention for start, end in found if (mention := self._mention(start, end, folded))]

    def _mention(self, start: int, end: int, folded: Folded) -> Mention | None:
        word = folded.text[start:end]
        name = key(word)
        strict = name in self._strict and not word.isupper() and not _KEY_FOLLOWS.match(folded.text[end : end + 8])
        if strict or not _stands_alone(folded.text, start, end, len(name)):
            return None
        return Mention(start, end, self._meanings[name])


def _unaccented(word: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", word.replace("ı", "i")) if not unicodedata.combining(c))


def _in_ascii(sources: str) -> str:
    return sources.replace(_ANY_I, "i").encode("ascii", "ignore").decode()


def _compiled(sources: str) -> Any:
    """Of words that begin at one place the longest counts."""
    options = re2.Options()
    options.max_mem, options.longest_match = _MEMORY_BYTES, True
    return re2.compile(f"(?i){sources}", options)


def _sources(words: Iterable[str]) -> str:
    """One group for each kind of edge."""
    sources: defaultdict[tuple[bool, bool], list[str]] = defaultdict(list)
    for word in words:
        letters = sum(map(str.isalnum, word))
        body = word if letters <= _ABBREVIATION_MAX else word.rstrip(_GAP_SIGNS)
        closed = letters < _OPEN_MIN and body[-1].isascii() and body[-1].isalnum()
        sources[closed, not body[0].isascii()].append("".join(_character(c, letters) for c in body))
    kinds = (
        f"{'' if bare else _LEFT}({'|'.join(sources[closed, bare])}){_RIGHT if closed else ''}"
        for closed, bare in sorted(sources)
    )
    return f"(?:{'|'.join(kinds)})"


@cache
def _character(character: str, letters: int) -> str:
    if character in _GAP_SIGNS:
        return str(re2.escape(character)) if letters <= _ABBREVIATION_MAX else _GAP
    if character in "iıİI":
        return _ANY_I
    base = unicodedata.normalize("NFD", character)[0]
    if base == character or "HANGUL" in unicodedata.name(character, ""):
        return str(re2.escape(character))
    return f"(?:{character}|{re2.escape(base)}{_MARKS}{'+' if letters <= _ABBREVIATION_MAX else '*'})"


def _stands_alone(text: str, start: int, end: int, letters: int) -> bool:
    """What `\\b` cannot see: capitals that go on, and letters beyond ASCII beside a word of a script with edges."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if letters < _OPEN_MIN and text[end - 1].isupper() and after.isupper():
        return False
    if _alphabetic(text[start]) and not before.isascii() and _alphabetic(before):
        return False
    beyond = not after.isascii() or not text[end - 1].isascii()
    return letters >= _OPEN_MIN or not (beyond and _alphabetic(text[end - 1]) and _alphabetic(after))


def _alphabetic(character: str) -> bool:
    """A letter of a script that parts its words: Latin, Greek, Cyrillic, Armenian and their like."""
    return character.isalpha() and character < "\u0590"
