"""Does a value read like words, or was it generated?

Letters that follow each other in words are few: `qx` and `zr` hardly occur. The cost of a pair says how rare it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import re2

_COSTS = (
    "933333344365334436323454566"
    "473337647485232837232455547"
    "224452666347255347334377736"
    "327452662493355167342467858"
    "135541567277465357434467769"
    "236324457586342646223655468"
    "237543367188355257244376759"
    "146561643399453469335466976"
    "226651676296455269453477758"
    "544334449797331347432749594"
    "127452577474575247545275757"
    "135441546296364456525574957"
    "226541577286365259644467838"
    "224641677286545229635477959"
    "237322426375565357632457868"
    "354336447585331439233344577"
    "226552465396266237243476849"
    "256655576667474557445065777"
    "226441547295545259433556749"
    "146362564385456437632366859"
    "236452573297455358334465746"
    "543453448497232438232788787"
    "315571567297655367456776777"
    "225442573276453357335765577"
    "235342465387445528442556446"
    "055454566498443528533665675"
    "235450475277555357545575755"
)
"""One digit a pair, 0 (certain) to 9 (never): rows the first letter, columns the second, the word's edge before `a`.

-log2 of the share of the second after the first, times 10 / 12, over the 12,464 distinct words that occur twice or more
in the sources of Python's standard library.
"""

UNLIKELY = 3.5
"""Mean cost of a pair from which letters are no word: 0.7 % to 5 % of words of 5 to 8 letters lie above, and 83 % to
94 % of random letters of that length."""

_RUN = re2.compile(rb"[A-Za-z]+|[0-9]+")
_PIECE = re2.compile(rb"[A-Z]?[a-z]+|[A-Z]+")
_RUN_LENGTH_MIN = 5
_PIECE_LENGTH_MIN = 3
_CHANGES_MIN = 4
_INNER_DIGITS_MIN = 2
_DIGITS_MIN = 16
_DIGITS_SHARE = 0.75


def cost(letters: bytes) -> float:
    """Mean cost of the pairs of a run of ASCII letters, its two edges included; 0 where there are none."""
    codes = [0, *(byte & 0x1F for byte in letters), 0]
    return sum(int(_COSTS[a * 27 + b]) for a, b in pairwise(codes)) / (len(codes) - 1) if letters else 0.0


def generated(value: bytes) -> bool:
    """Letters that are no words, digits between letters, upper and lower case at random; 16 digits and little else."""
    runs = [(run.start(), run.group()) for run in _RUN.finditer(value)]
    if sum(len(run) for _, run in runs if run.isdigit()) >= max(_DIGITS_MIN, len(value) * _DIGITS_SHARE):
        return True
    return _mixed(runs) or any(map(_scrambled, (run for _, run in runs)))


def _mixed(runs: Sequence[tuple[int, bytes]]) -> bool:
    """Letters and digits change places often, with nothing between them, or digits stand within letters."""
    touches = [a + len(run) == b for (a, run), (b, _) in pairwise(runs)]
    inner = any(
        left and right and run.isdigit() and len(run) >= _INNER_DIGITS_MIN
        for left, right, (_, run) in zip(touches, touches[1:], runs[1:], strict=False)
    )
    return inner or sum(touches) >= _CHANGES_MIN


def _scrambled(run: bytes) -> bool:
    if len(run) < _RUN_LENGTH_MIN or run.isdigit():
        return False
    pieces = [piece.group() for piece in _PIECE.finditer(run)]
    if len(pieces) > 1 and len(run) < len(pieces) * _PIECE_LENGTH_MIN:
        return True
    return cost(run) > UNLIKELY and any(cost(piece) > UNLIKELY for piece in pieces)
