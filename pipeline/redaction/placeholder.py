"""Values that stand where a secret would: `xxxx`, `<token>`, `${VAR}`, `your-key-here`, `test123`."""

from __future__ import annotations

import hashlib

import re2

_WORDS = (
    "latin ascii password passwd pass pwd pw passphrase passcode secret secrets token tokens apikey api key keys "
    "auth access client credential credentials private public user users username usr login admin administrator "
    "root owner guest name id change changeme changeit me my your the some any an new old current wrong invalid "
    "bad good correct valid real fake dummy sample example examples demo test tests testing tester mock stub foo "
    "bar baz qux temp tmp default placeholder redacted hidden masked removed omitted secure insecure super very "
    "none null nil undefined true false void empty unset here goes value string str text bytes int bool number "
    "object required optional hello world abc abcd abcde abcdef abcdefg xyz asdf qwerty insert enter replace with "
    "put fill todo tbd this is not and or to of in for from sha md utf bcrypt argon aes rsa hmac oauth jwt uuid "
    "http https hash hashed encrypted encoded plain plaintext cleartext postgres mysql mongo redis rabbitmq db "
    "database server host localhost local dev prod staging app application service account basic bearer"
)
_COMPOSED = re2.compile(("(?i)(?:" + "|".join(_WORDS.split()) + r"|[^A-Za-z])+").encode())
_SHAPE = re2.compile(
    rb"(?i)x{4}|\*{3}|\.{3}|\?{3}|#{4}|_{6}|-{4}|\$\{|\$\(|\{\{|#\{|%\(|^[<{\[`]|^%[a-z_]+%?$|^\$[a-z_][\w.:>-]*$"
    rb"|^(?:my|your|the|some)[-_ ]|your[-_]|[-_]here\b|placeholder|redacted|changeme"
    rb"|example\.(?:com|org|net)|^\(|^@[\w.]+@?$"
)
_PUBLISHED = frozenset(
    {
        "0b476bdf9acf", "2037abcaffb2", "27a9a42931df", "37f8f09bdf12", "3a8b61d0f636", "3f370c9dd822",
        "49f777db995e", "4c98242dcadc", "8731261cb72d", "a0702bc91d69", "a19f89ab3555", "a6c814bc555a",
        "dba72c00f41f", "dc0fcf046c61", "e4a5542bb7fd", "ea9bb1082cf9", "eb540d2b6ee2", "f56e323494a6",
    }
)  # fmt: skip
"""Values that the documentation of Firebase, Google Maps and NuGet prints as samples: SHA-256, the first 12 digits."""
_DISTINCT_MIN = 5
_END_LENGTH = 16


def placeholder(value: bytes) -> bool:
    """A word, a variable or a filler instead of a value. Provider samples such as AKIA...EXAMPLE are no fillers."""
    return len(set(value)) < 2 or _SHAPE.search(value) is not None or _composed(value) or _published(value)


def _composed(value: bytes) -> bool:
    """Words that mean no value, with signs and digits between them."""
    return not value.isdigit() and _COMPOSED.fullmatch(value) is not None


def _published(value: bytes) -> bool:
    return hashlib.sha256(value).hexdigest()[:12] in _PUBLISHED


def genuine(value: bytes) -> bool:
    """A token's value: no placeholder, not a few characters over and over."""
    return len(set(value)) >= _DISTINCT_MIN and not placeholder(value) and varied(value)


def varied(value: bytes) -> bool:
    """No one character makes up half of it, and its end is no filler."""
    return max(map(value.count, set(value))) * 2 <= len(value) and len(set(value[-_END_LENGTH:])) >= _DISTINCT_MIN


def random_looking(value: bytes) -> bool:
    """`genuine`, with letters and a digit: what a format without a checksum must at least be."""
    return genuine(value) and any(48 <= byte <= 57 for byte in value) and any(byte > 64 for byte in value)
