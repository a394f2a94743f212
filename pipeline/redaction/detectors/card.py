"""Payment cards: Luhn and issuer decide, not look.

Ranges and lengths as the networks publish them under ISO/IEC 7812; 13-digit Visa numbers are no longer issued.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import re2
from stdnum import luhn

from pipeline.redaction.boundary import stands_alone
from pipeline.redaction.classes import CC
from pipeline.redaction.folding import fold
from pipeline.redaction.span import Span

ISSUERS: tuple[tuple[int, int, frozenset[int]], ...] = (
    (4, 4, frozenset({16, 19})),  # Visa
    (51, 55, frozenset({16})),  # Mastercard
    (2221, 2720, frozenset({16})),  # Mastercard
    (34, 34, frozenset({15})),  # American Express
    (37, 37, frozenset({15})),  # American Express
    (300, 305, frozenset({14, 16})),  # Diners Club
    (36, 36, frozenset({14, 16})),  # Diners Club
    (38, 39, frozenset({14, 16})),  # Diners Club
    (3528, 3589, frozenset({16, 19})),  # JCB
    (6011, 6011, frozenset({16, 19})),  # Discover
    (644, 649, frozenset({16, 19})),  # Discover
    (65, 65, frozenset({16, 19})),  # Discover, RuPay
    (60, 60, frozenset({16})),  # RuPay
    (81, 82, frozenset({16})),  # RuPay, UnionPay
    (62, 62, frozenset({16, 17, 18, 19})),  # UnionPay
    (2200, 2204, frozenset({16, 19})),  # Mir
    (5018, 5020, frozenset({16, 19})),  # Maestro
    (5038, 5038, frozenset({16, 19})),  # Maestro
    (5893, 5893, frozenset({16, 19})),  # Maestro
    (6304, 6304, frozenset({16, 19})),  # Maestro
    (6759, 6763, frozenset({16, 19})),  # Maestro
)
"""(lowest prefix, highest prefix, lengths)."""

PATTERNS = tuple(
    re2.compile(pattern)
    for pattern in (
        rb"\d{14,19}",
        rb"\d{4} \d{4} \d{4} \d{4}(?: \d{3})?",
        rb"\d{4}-\d{4}-\d{4}-\d{4}(?:-\d{3})?",
        rb"\d{4} \d{6} \d{4,5}",
        rb"\d{4}-\d{6}-\d{4,5}",
    )
)
_CANDIDATE = re2.compile(rb"\d{4}(?:[ -]?\d){10,15}")
_HEX_WORD = re2.compile(rb"[0-9A-Fa-f]{4,}-$")


@dataclass(frozen=True)
class Card:
    """A run of digits, or groups of them as printed on cards, that an issuer could have issued."""

    name: str = "card"
    classes: frozenset[str] = frozenset({CC})

    def detect(self, text: str) -> Sequence[Span]:
        folded = fold(text)
        spans = []
        for match in _CANDIDATE.finditer(folded.data):
            start, end = match.span()
            if _is_grouped(match.group()) and issued(match.group()) and _is_whole(folded.data, start, end):
                spans.append(Span(*folded.place(start, end), CC, 1.0, self.name))
        return spans


def issued(number: bytes) -> bool:
    """Digits with or without separators: an issuer's range and length, and the Luhn check digit."""
    digits = number.translate(None, b" -").decode()
    in_range = any(
        low <= int(digits[: len(str(low))]) <= high and len(digits) in lengths for low, high, lengths in ISSUERS
    )
    return in_range and luhn.is_valid(digits)


def _is_grouped(candidate: bytes) -> bool:
    return any(pattern.fullmatch(candidate) for pattern in PATTERNS)


def _is_whole(data: bytes, start: int, end: int) -> bool:
    """Not a piece of a UUID or a longer grouped number."""
    joined_left = _HEX_WORD.search(data[max(0, start - 13) : start])
    joined_right = data[end : end + 1] == b"-" and data[end + 1 : end + 2].isalnum()
    return not joined_left and not joined_right and stands_alone(data, start, end)
