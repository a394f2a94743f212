"""Values that stand where a secret would: `xxxx`, `<token>`, `${VAR}`, `your-key-here`."""

from __future__ import annotations

import re2

_WORDS = frozenset(
    b"password passwd pass pwd pw passphrase secret token key apikey api_key api-key credentials changeme change_me "
    b"example user username none null undefined true false redacted hidden masked".split()
)
_SHAPE = re2.compile(
    rb"(?i)x{4}|\*{3}|\.{3}|\?{3}|\$\{|\{\{|^[<$%{\[]|^(?:my|your|the|some)[-_ ]|your[-_]|[-_]here\b"
    rb"|placeholder|redacted"
)
_DISTINCT_MIN = 5


def placeholder(value: bytes) -> bool:
    """A word, a variable or a filler instead of a value. Provider samples such as AKIA...EXAMPLE are no fillers."""
    return value.lower() in _WORDS or len(set(value)) < 2 or _SHAPE.search(value) is not None


def genuine(value: bytes) -> bool:
    """A token's value: no placeholder, and not a few characters over and over."""
    return not placeholder(value) and len(set(value)) >= _DISTINCT_MIN


def random_looking(value: bytes) -> bool:
    """`genuine`, with letters and a digit: what a format without a checksum must at least be."""
    return genuine(value) and any(48 <= byte <= 57 for byte in value) and any(byte > 64 for byte in value)
