"""Which scored words are a person: those that are written as names are.

    "Mr. Anna K. van der Berg's"   seeds Anna, Berg; grown over the initial and the particles to one span

A capital tells a name from a word, so a word that has none counts only where the whole text has none, or where two in
a row are all but certain. Capitals alone tell little: `TODO` and `JSONL` are no people, `ANNA BERG` is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.redaction.ner.roles import Role
from pipeline.redaction.ner.words import Interval, Reading, Shape, Word

SEED = {Shape.TITLE: 0.4, Shape.CASELESS: 0.8}
"""The least score a word of a shape needs by itself."""
LONE_LOWER, LOWER_PAIR, CAPITALS_PAIR = 0.92, 0.95, 0.6
HEAD = 0.15
"""The least score of a word's first token: the end of a word is a name by itself only to a model."""
GROWN, PARTICLE = 0.05, 0.3
"""What a neighbour of a name needs to belong to it."""
_BETWEEN = re.compile(r"[ \t\u00a0]{0,2}[-'’.]?[ \t\u00a0]{0,2}")
_PARTICLE_LETTERS, _PARTICLES = 4, 3
_SAME_LETTERS = 3


def find(reading: Reading) -> list[Interval]:
    """(start, end, score) of each person, in order."""
    words = reading.words
    named = [_is_name(reading, at) for at in range(len(words))]
    if not any(named):
        return []
    _grow(reading, named)
    _repeat(reading, named)
    return list(_spans(reading, named))


def _is_name(reading: Reading, at: int) -> bool:
    word = reading.words[at]
    score = word.is_(Role.PERSON)
    if (
        score < SEED[Shape.TITLE]
        or word.head[Role.PERSON] < HEAD
        or reading.is_code(word)
        or _after_prefix(reading, at)
    ):
        return False
    match word.shape:
        case Shape.TITLE | Shape.CASELESS:
            return score >= SEED[word.shape]
        case Shape.LOWER:
            return len(word.text) >= _SAME_LETTERS and (
                (reading.lower and score >= LONE_LOWER) or _is_pair(reading, at, LOWER_PAIR)
            )
        case Shape.CAPITALS:
            return (reading.capitals and score >= SEED[Shape.TITLE]) or _is_pair(reading, at, CAPITALS_PAIR)
    return False


def _after_prefix(reading: Reading, at: int) -> bool:
    """`ex-Zombie`, `non-English`: joined to a word in small letters."""
    before = reading.words[at - 1] if at else None
    return before is not None and before.shape is Shape.LOWER and reading.gap(before, reading.words[at]) == "-"


def _is_pair(reading: Reading, at: int, least: float) -> bool:
    """This word and one beside it, of one shape, both score `least`."""
    return any(_score_beside(reading, at, other) >= least for other in (at - 1, at + 1)) and (
        reading.words[at].is_(Role.PERSON) >= least
    )


def _score_beside(reading: Reading, at: int, other: int) -> float:
    words = reading.words
    if not 0 <= other < len(words) or words[other].shape is not words[at].shape or reading.is_code(words[other]):
        return 0.0
    return words[other].is_(Role.PERSON) if _joined(reading, min(at, other), max(at, other)) else 0.0


def _joined(reading: Reading, left: int, right: int) -> bool:
    """Nothing between them that parts two names."""
    gap = reading.gap(reading.words[left], reading.words[right])
    if "." in gap and not _is_initial(reading, reading.words[left]):
        return False
    return _BETWEEN.fullmatch(gap) is not None


def _grow(reading: Reading, named: list[bool]) -> None:
    """Over initials, particles and words written as names, as far as they touch; forward, then backward."""
    count = len(named)
    for order, step in ((range(count), 1), (range(count - 1, -1, -1), -1)):
        for at in order:
            if named[at]:
                continue
            near = at - step
            if 0 <= near < count and named[near] and _belongs(reading, at, near):
                named[at] = True
    for at in range(count - 1):
        _bridge(reading, named, at)


def _bridge(reading: Reading, named: list[bool], left: int) -> None:
    """Particles from the name at `left` to the next."""
    right = left + 1
    while right < len(named) and right - left <= _PARTICLES and not named[right] and _is_particle(reading, right):
        right += 1
    if named[left] and right < len(named) and named[right]:
        named[left:right] = [True] * (right - left)


def _belongs(reading: Reading, at: int, near: int) -> bool:
    """An initial behind a name and the word behind that initial belong to it, whatever the model says of them."""
    word, left = reading.words[at], min(at, near)
    if not _joined(reading, left, left + 1) or reading.is_code(word):
        return False
    if _is_initial(reading, word):
        apart = reading.gap(reading.words[left], reading.words[left + 1])[-1:].isspace()
        return near < at and apart and (word.text != "I" or reading.text[word.end : word.end + 1] == ".")
    if word.shape is not Shape.TITLE and not (reading.lower and word.shape is Shape.LOWER):
        return False
    behind_initial = near < at and _is_initial(reading, reading.words[near]) and near > 0
    return behind_initial or (word.shape is Shape.TITLE and word.is_(Role.PERSON) >= GROWN)


def _is_initial(reading: Reading, word: Word) -> bool:
    return word.shape is Shape.INITIAL or (reading.lower and len(word.text) == 1 and word.shape is Shape.LOWER)


def _is_particle(reading: Reading, at: int) -> bool:
    """`van`, `de la`, `bin`: short, between two names."""
    word = reading.words[at]
    return (
        word.shape in (Shape.LOWER, Shape.INITIAL)
        and len(word.text) <= _PARTICLE_LETTERS
        and word.is_(Role.PERSON) >= PARTICLE
        and at + 1 < len(reading.words)
        and _joined(reading, at - 1, at)
        and _joined(reading, at, at + 1)
    )


def _repeat(reading: Reading, named: list[bool]) -> None:
    """A name is one wherever it stands in the text again."""
    names = {
        word.text
        for word, is_name in zip(reading.words, named, strict=True)
        if is_name and word.shape is Shape.TITLE and len(word.text) >= _SAME_LETTERS
    }
    for at, word in enumerate(reading.words):
        if not named[at] and word.text in names and not reading.is_code(word):
            named[at] = True


def _spans(reading: Reading, named: list[bool]) -> Iterator[Interval]:
    """Runs of words that belong together; an initial's full stop is inside, never at the end."""
    first: int | None = None
    for at in range(len(named) + 1):
        ends = at == len(named) or not named[at] or (first is not None and not _joined(reading, at - 1, at))
        if first is not None and ends:
            run = reading.words[first:at]
            yield run[0].start, run[-1].end, max(word.is_(Role.PERSON) for word in run)
            first = None
        if at < len(named) and named[at] and first is None:
            first = at
