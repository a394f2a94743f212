"""Email addresses. An SSH remote, the user of a URL, a mailbox that names nobody and a file name are none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import re2

from pipeline.redaction.classes import EMAIL
from pipeline.redaction.folding import Characters, fold
from pipeline.redaction.span import Span

_LETTER = r"A-Za-z0-9\p{Latin}\p{Greek}\p{Cyrillic}"
LOCAL = re2.compile(rf"[{_LETTER}][{_LETTER}._%+'-]*$")
DOMAIN = re2.compile(
    rf"(?:[{_LETTER}](?:[{_LETTER}-]*[{_LETTER}])?\.)+(xn--[A-Za-z0-9-]{{2,59}}|[\p{{Latin}}\p{{Cyrillic}}]{{2,24}})"
)
_URL_USER = re2.compile(r"://[^\s/@]*$")
_LOCAL_MAX, _DOMAIN_MAX = 64, 255

_NO_DOMAIN = re2.compile(
    "png|jpe?g|gif|svg|webp|ico|[cm]?js|[jt]sx|json|s?css|html|xml|txt|ya?ml|toml|lock|log|gz|tgz|tar|whl|jar|exe|dll|"
    "vue|php|sql|conf|service|timer|socket"
)
"""Endings of file and unit names; none is a delegated top-level domain."""
_NOBODY = frozenset({b"noreply", b"no-reply", b"donotreply", b"do-not-reply"})


@dataclass(frozen=True)
class Email:
    """The address as written, without the punctuation around it."""

    name: str = "email"
    classes: frozenset[str] = frozenset({EMAIL})

    @property
    def trigger(self) -> bytes:
        return b"@"

    def detect(self, text: str) -> Sequence[Span]:
        folded = fold(text)
        encoded = folded.data if folded.text.isascii() else folded.text.encode()
        characters = Characters(encoded)
        places = ((characters.at(start), characters.at(end)) for start, end in _addresses(encoded))
        return [Span(*folded.place(*hit), EMAIL, 1.0, self.name) for hit in places]


def _addresses(encoded: bytes) -> Iterator[tuple[int, int]]:
    """Over UTF-8: a search over bytes asks for no copy of the text."""
    at = encoded.find(b"@")
    while at >= 0:
        local = _local(encoded, at)
        domain = DOMAIN.match(encoded, at + 1, min(at + 1 + _DOMAIN_MAX, len(encoded))) if local else None
        if domain and not _NO_DOMAIN.fullmatch(domain.group(1).lower()):
            start, end = at - len(local), domain.end()
            if not _is_remote(encoded, at, end, local):
                yield start, end
        at = encoded.find(b"@", at + 1)


def _local(encoded: bytes, at: int) -> bytes:
    """What stands before the @, an escape's letter (the JSON text `\\nana@...`) not being part of it."""
    before = encoded[max(0, at - _LOCAL_MAX) : at]
    found = None if before[-1:].isspace() else LOCAL.search(before)
    if not found:
        return b""
    local = bytes(found.group())
    escaped = encoded[max(0, at - len(local) - 1) : at - len(local)] == b"\\" and local[:1] in (b"n", b"r", b"t")
    return local[1:] if escaped else local


def _is_remote(encoded: bytes, at: int, end: int, local: bytes) -> bool:
    """A place code is fetched from, or a mailbox nobody reads."""
    is_ssh = local == b"git" and encoded[end : end + 1] in (b":", b"/")
    return is_ssh or local.lower() in _NOBODY or _URL_USER.search(encoded[max(0, at - 200) : at]) is not None
