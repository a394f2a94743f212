"""Whom a text names, and how that is asked later without keeping the name.

    ('person', 'Ana Silva') --canonical--> 'ana silva' --HMAC under the installation key--> run_subjects, erasures

Names are kept as keyed hashes of 16 bytes: useless without the key, which lies outside the database. What is sought may
itself be known only by its hash (after a restore): then every run of as many words in a text is hashed and compared.
"""

from __future__ import annotations

import hmac
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, Literal

from pipeline.errors import SettingError
from pipeline.redaction.classes import EMAIL, PERSON, PHONE
from pipeline.redaction.redactor import Inspector

HASH_BYTES = 16
USER = "user"
NAMING = frozenset({PERSON, EMAIL, PHONE})
"""Classes whose spans name somebody; an address or a date of birth names nobody by itself."""
_PHONE_DIGITS = 9
"""A number's last nine digits: the same number is written with and without its country."""
_LONG_WORD = 12

_UNSPACED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
"""Thai, kana, Chinese and Hangul: written without spaces, so that each character counts as a word."""
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_NUMBER = re.compile(r"\+?\d[\d\s().\-/]{5,30}\d")
_DIGITS = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Name:
    """Somebody as a text or an event names them: ('user', 'u-17'), ('person', 'Ana Silva')."""

    type: str
    id: str


def words(text: str) -> list[str]:
    """The words of a text, case and width apart; what stands between them does not count."""
    return _WORD.findall(_folded(text))


def _folded(text: str) -> str:
    return text.casefold() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def canonical(name: Name) -> str:
    """One form for all ways to write a name. A user's id is the sender's own and stays as it is."""
    if name.type == USER:
        return name.id
    if name.type == PHONE:
        return _digits(name.id)
    if name.type == EMAIL:
        return _folded(name.id).strip()
    return " ".join(words(name.id))


def _digits(text: str) -> str:
    return "".join(_DIGITS.findall(_folded(text)))[-_PHONE_DIGITS:]


def is_distinctive(name: Name) -> bool:
    """Whether a name is worth looking for in texts: one common word would be found in what is about nobody."""
    if name.type == PHONE:
        return len(_digits(name.id)) >= 7
    parts = words(name.id)
    digits = len(_DIGITS.findall(name.id))
    return len(parts) >= 2 or digits >= 5 or (len(parts) == 1 and len(parts[0]) >= _LONG_WORD)


@dataclass(frozen=True, slots=True)
class Keyring:
    """Hashes of one org under the installation's key: the same name in two orgs has two."""

    key: bytes
    org_id: int

    def name(self, name: Name) -> bytes:
        return self._hash(name.type, canonical(name))

    def part(self, kind: str, text: str) -> bytes:
        """Of words or digits in a text, whoever they may name."""
        return self._hash(f"text {kind}", text)

    def event(self, key: str) -> str:
        """What stands for an erased run's event key: the same event sent again is known, and nobody can guess it."""
        text = f"{self.org_id}\x1fevent\x1f{key}"
        return f"erased:{hmac.digest(self.key, text.encode(), 'sha256').hex()}"

    def _hash(self, kind: str, text: str) -> bytes:
        return hmac.digest(self.key, f"{self.org_id}\x1f{kind}\x1f{text}".encode(), "sha256")[:HASH_BYTES]


def key_check(key: bytes) -> bytes:
    """What tells two installation keys apart and gives neither away."""
    if not key:
        raise SettingError("AFTERWORD_INSTALLATION_KEY is empty; without it no subject can be found again.")
    return hmac.digest(key, b"afterword installation", "sha256")


@dataclass(frozen=True, slots=True)
class Needle:
    """Words or digits sought in texts by their hash; `plain` is known only while somebody asks by name.

    `size`: how many words, or digits. `anywhere`: `plain` counts inside a word too.
    """

    kind: Literal["words", "digits"]
    size: int
    hash: bytes
    plain: str | None = None
    anywhere: bool = False

    def stands_in(self, folded: str, keyring: Keyring) -> bool:
        """`folded`: of one text."""
        if self.plain is not None and self.kind == "words":
            if self.anywhere:
                return self.plain in folded
            if not all(word in folded for word in self.plain.split()):
                return False
        return any(keyring.part(self.kind, part) == self.hash for part in set(self._parts(folded)))

    def _parts(self, folded: str) -> Iterator[str]:
        if self.kind == "digits":
            return (_digits(match) for match in _NUMBER.findall(folded))
        found = _WORD.findall(folded)
        first = self.plain.split()[0] if self.plain else None
        return (
            " ".join(found[at : at + self.size])
            for at in range(len(found) - self.size + 1)
            if first is None or found[at] == first
        )

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "size": self.size, "hash": self.hash.hex()}


def needle(keyring: Keyring, name: Name) -> Needle:
    """`name` as it is sought in texts."""
    if name.type == PHONE:
        return Needle("digits", _PHONE_DIGITS, keyring.part("digits", _digits(name.id)), _digits(name.id))
    plain = " ".join(words(name.id))
    return Needle("words", len(plain.split()), keyring.part("words", plain), plain)


def free_needle(keyring: Keyring, text: str) -> Needle:
    """What a person wants searched besides, wherever it stands. Raises ValueError for a text without words."""
    plain = " ".join(words(text))
    if not plain:
        raise ValueError(f"{text!r} has no word to search for")
    return Needle("words", len(plain.split()), keyring.part("words", plain), _folded(text).strip(), anywhere=True)


@dataclass(frozen=True, slots=True)
class Sought:
    """Somebody looked for in an org: by the keyed hash of who they are, and by what stands in texts."""

    keyring: Keyring
    hash: bytes
    needles: tuple[Needle, ...] = ()

    def is_named(self, *names: Name) -> bool:
        return any(name.id and _hashed(self.keyring, name) == self.hash for name in names)

    def stands_in(self, texts: Iterable[str]) -> bool:
        return bool(self.needles) and any(
            item.stands_in(folded, self.keyring) for folded in map(_folded, texts) for item in self.needles
        )

    def is_around(self, text: str, start: int, end: int) -> bool:
        """Is text[start:end] a part of their name, as one of its words is?"""
        words = [word.span() for word in _WORD.finditer(text)]
        places = (
            (words[at][0], words[at + item.size - 1][1])
            for item in self.needles
            if item.kind == "words"
            for at in range(len(words) - item.size + 1)
        )
        return any(self.stands_in([text[a:b]]) for a, b in places if a <= start and end <= b)

    def may_stand_in(self, raw: str) -> bool:
        """Quickly, of packed JSON as text: False only where it cannot stand. True where only hashes are known."""
        plains = [item.plain for item in self.needles]
        if not plains or None in plains or any(item.kind == "digits" for item in self.needles):
            return bool(plains)
        folded = _folded(raw)
        return any(all(word in folded for word in words(plain)) for plain in plains if plain)


@lru_cache(maxsize=20_000)
def _hashed(keyring: Keyring, name: Name) -> bytes:
    return keyring.name(name)


def sought(keyring: Keyring, name: Name, texts: Sequence[str] = (), *, search: bool = True) -> Sought:
    """Somebody by name. `texts` are searched besides; the name itself where it is distinctive and `search`."""
    own = (needle(keyring, name),) if search and is_distinctive(name) else ()
    return Sought(keyring, keyring.name(name), (*own, *(free_needle(keyring, text) for text in texts)))


def sought_again(keyring: Keyring, hash: bytes, needles: Iterable[dict[str, Any]]) -> Sought:
    """Somebody known by hashes alone, as the erasure register keeps them."""
    return Sought(
        keyring, hash, tuple(Needle(n["kind"], n["size"], bytes.fromhex(n["hash"])) for n in needles)
    )  # fmt: skip


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a JSON value, its keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from chain.from_iterable(chain(texts_in(key), texts_in(item)) for key, item in value.items())
    elif isinstance(value, (list, tuple)):
        yield from chain.from_iterable(map(texts_in, value))


def texts_in_json(body: bytes) -> Iterator[str]:
    """The same of a document; what is no JSON is one text."""
    try:
        yield from texts_in(json.loads(body))
    except (ValueError, RecursionError):
        yield body.decode("utf-8", "replace")


def event_names(event: dict[str, Any]) -> frozenset[Name]:
    """Whom an event itself names. A participant may be an id or a name."""
    participants = event.get("participants")
    named = [event.get("user"), *(participants if isinstance(participants, (list, tuple)) else ())]
    return frozenset(Name(kind, id_) for id_ in named if id_ and isinstance(id_, str) for kind in (USER, PERSON))


def names_in(inspect: Inspector, texts: Iterable[str]) -> frozenset[Name]:
    """Whom the detectors found in these texts."""
    return frozenset(
        Name(span.cls, text[span.start : span.end])
        for text in texts
        for span in inspect(text).spans
        if span.cls in NAMING
    )
