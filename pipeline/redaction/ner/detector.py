"""People, addresses, phones and dates of birth by a model: the tagger and the rules as one detector."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from pipeline.redaction.canary import Canary
from pipeline.redaction.classes import ADDRESS, DOB, PERSON, PHONE
from pipeline.redaction.ner import addresses, persons
from pipeline.redaction.ner.canaries import BUNDLED_LANGUAGES, canaries
from pipeline.redaction.ner.phones import births, phones
from pipeline.redaction.ner.port import Tagged, Tagger
from pipeline.redaction.ner.roles import Role
from pipeline.redaction.ner.words import Interval, read
from pipeline.redaction.span import Span

_CLASSES = {Role.PERSON: PERSON, Role.STREET: ADDRESS, Role.PHONE: PHONE, Role.BIRTH: DOB}
_FLOOR = 0.4
"""Where no token scores as much in any role, no rule has a hit."""


@dataclass(frozen=True)
class Ner:
    """Raises what the tagger raises: a model that does not load is down, and says why.

    `languages`: those the model is said to know, of KNOWN_LANGUAGES; its canaries are of these.
    """

    tagger: Tagger
    languages: tuple[str, ...] = BUNDLED_LANGUAGES
    name: str = "ner"

    @cached_property
    def canaries(self) -> tuple[Canary, ...]:
        return canaries(self.languages)

    @cached_property
    def classes(self) -> frozenset[str]:
        return frozenset(cls for role, cls in _CLASSES.items() if role in self.tagger.roles)

    @property
    def revision(self) -> str:
        return self.tagger.revision

    def detect(self, text: str) -> Sequence[Span]:
        return self.detect_many([text])[0]

    def detect_many(self, texts: Sequence[str]) -> Sequence[Sequence[Span]]:
        tagged = self.tagger.tag(texts)
        return [self._spans(text, found) for text, found in zip(texts, tagged, strict=True)]

    def _spans(self, text: str, tagged: Tagged) -> list[Span]:
        if not len(tagged.scores) or tagged.scores.max() < _FLOOR:
            return []
        return [Span(start, end, cls, round(score, 3), self.name) for cls, (start, end, score) in _hits(text, tagged)]


def _hits(text: str, tagged: Tagged) -> Iterator[tuple[str, Interval]]:
    reading = read(text, tagged)
    for cls, found in (
        (PERSON, persons.find(reading)),
        (ADDRESS, addresses.find(reading)),
        (PHONE, phones(reading, tagged)),
        (DOB, births(reading, tagged)),
    ):
        for interval in found:
            yield cls, interval
