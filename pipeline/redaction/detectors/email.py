"""Email addresses. An SSH remote, the user of a URL, a mailbox that names nobody and a file name are none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import re2

from pipeline.redaction.classes import EMAIL
from pipeline.redaction.folding import fold
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
_NOBODY = frozenset({"noreply", "no-reply", "donotreply", "do-not-reply"})


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
        return [Span(*folded.place(*hit), EMAIL, 1.0, self.name) for hit in _addresses(folded.text)]


def _addresses(text: str) -> Iterator[tuple[int, int]]:
    at = text.find("@")
    while at >= 0:
        local = _local(text, at)
        domain = DOMAIN.match(text[at + 1 : at + 1 + _DOMAIN_MAX]) if local else None
        if local and domain and not _NO_DOMAIN.fullmatch(domain.group(1).lower()):
            start, end = at - len(local), at + 1 + domain.end()
            if not _is_remote(text, start, at, end, local):
                yield start, end
        at = text.find("@", at + 1)


def _local(text: str, at: int) -> str:
    """What stands before the @, an escape's letter (the JSON text `\\nana@...`) not being part of it."""
    floor = max(0, at - _LOCAL_MAX)
    if text[floor:at][-1:].isspace():
        return ""
    found = LOCAL.search(text[floor:at])
    if not found:
        return ""
    local = str(found.group())
    escaped = text[max(0, at - len(local) - 1) : at - len(local)] == "\\" and local[0] in "nrt"
    return local[1:] if escaped else local


def _is_remote(text: str, start: int, at: int, end: int, local: str) -> bool:
    """A place code is fetched from, or a mailbox nobody reads."""
    is_ssh = local == "git" and text[end : end + 1] in (":", "/")
    return is_ssh or local.lower() in _NOBODY or _URL_USER.search(text[max(0, at - 200) : at]) is not None
