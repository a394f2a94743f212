"""Payment cards: Luhn and issuer decide, not look.

Ranges and lengths as the networks publish them under ISO/IEC 7812. What is short, old or rare enough to be met by
chance among order numbers and identifiers counts only behind a word for a card.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import re2
from stdnum import luhn

from pipeline.redaction.boundary import stands_alone
from pipeline.redaction.classes import CC
from pipeline.redaction.folding import Folded, fold
from pipeline.redaction.rules import EDGE
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

ISSUERS_NAMED: tuple[tuple[int, int, frozenset[int]], ...] = (
    (4, 4, frozenset({13})),  # Visa, no longer issued
    (50, 50, frozenset(range(12, 20))),  # Maestro
    (56, 58, frozenset(range(12, 20))),  # Maestro
    (63, 63, frozenset(range(12, 20))),  # Maestro
    (67, 67, frozenset(range(12, 20))),  # Maestro
    (1800, 1800, frozenset({15})),  # JCB
    (2131, 2131, frozenset({15})),  # JCB
    (3088, 3112, frozenset({16})),  # JCB
    (3590, 3599, frozenset({16})),  # JCB
    (1, 1, frozenset({15})),  # UATP
)
"""Counted only behind a word for a card."""

_GROUPED = r"\d{4}SEP\d{4}SEP\d{4}SEP\d{4}(?:SEP\d{3})?|\d{4}SEP\d{6}SEP\d{4,5}"
_SHAPES = "|".join((_GROUPED.replace("SEP", " "), _GROUPED.replace("SEP", "-"), r"[2-68]\d{11,18}\b", r"1\d{14}\b"))
PATTERN = re2.compile(f"{EDGE}({_SHAPES})".encode())
_WORD = re2.compile(
    r"(?i)card|\bvisa\b|maestro|\bjcb\b|\bcc\b|credit|debit|[ck]art[aeãõ]|\bkort|kaart|kartu|tarjeta|kreditn|karty"
    r"|карт|κάρτα|卡|カード|카드|بطاق|כרטיס|कार्ड|บัตร|thẻ"
)
_BEFORE = 40
_HEX_WORD = re2.compile(rb"[0-9A-Fa-f]{4,}-$")
_LAST_GROUP = 4


@dataclass(frozen=True)
class Card:
    """A run of digits, or groups of them as printed on cards, that an issuer could have issued."""

    name: str = "card"
    classes: frozenset[str] = frozenset({CC})

    @property
    def trigger(self) -> bytes:
        return bytes(PATTERN.pattern)

    def detect(self, text: str) -> Sequence[Span]:
        folded = fold(text)
        return [Span(*folded.place(*hit), CC, 1.0, self.name) for hit in _cards(folded)]


def _cards(folded: Folded) -> Iterator[tuple[int, int]]:
    data = folded.data
    for match in PATTERN.finditer(data):
        start, last = match.span(1)
        ends = (last,) if match.group(1).isdigit() else (last, last - _LAST_GROUP)
        named = _WORD.search(folded.text[max(0, start - _BEFORE) : start]) is not None
        end = next((end for end in ends if _is_whole(data, start, end) and issued(data[start:end], named=named)), None)
        if end:
            yield start, end


def issued(number: bytes, *, named: bool) -> bool:
    """Digits with or without separators: an issuer's range and length, and the Luhn check digit."""
    digits = number.translate(None, b" -").decode()
    ranges = ISSUERS + ISSUERS_NAMED if named else ISSUERS
    in_range = any(
        low <= int(digits[: len(str(low))]) <= high and len(digits) in lengths for low, high, lengths in ranges
    )
    return in_range and bool(luhn.is_valid(digits))


def _is_whole(data: bytes, start: int, end: int) -> bool:
    """Not a piece of a UUID or a longer grouped number."""
    joined_left = _HEX_WORD.search(data[max(0, start - 13) : start])
    joined_right = data[end : end + 1] == b"-" and data[end + 1 : end + 2].isalnum()
    return not joined_left and not joined_right and stands_alone(data, start, end)
