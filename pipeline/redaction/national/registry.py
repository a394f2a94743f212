"""Which formats a word stands for."""

from __future__ import annotations

from functools import lru_cache

from pipeline.redaction.contexts import labels
from pipeline.redaction.national import americas, asia, elsewhere, europe
from pipeline.redaction.national.format import Format

FORMATS: tuple[Format, ...] = (*europe.FORMATS, *asia.FORMATS, *americas.FORMATS, *elsewhere.FORMATS)
BARE: tuple[Format, ...] = tuple(form for form in FORMATS if form.bare)
_WORLD = "en"
"""The language in which the numbers of every country are spoken of."""


@lru_cache(maxsize=4096)
def formats(meanings: frozenset[str]) -> tuple[Format, ...]:
    """A format's own word: it and its country's. A word of a language: its countries'."""
    own = labels(meanings, "national")
    spoken = [label.split() for label in labels(meanings, "languages")]
    countries = {name[:2] for name in own}.union(*(set(countries) for _, *countries in spoken))
    world = any(language == _WORLD for language, *_ in spoken)
    return tuple(
        form
        for form in FORMATS
        if form.name in own
        or (form.country in countries and not form.own)
        or (world and form.check is not None and form.lettered)
    )


@lru_cache(maxsize=4096)
def of_countries(meanings: frozenset[str]) -> tuple[Format, ...]:
    """The formats of the countries whose name or adjective was mentioned."""
    countries = labels(meanings, "nationalities")
    return tuple(form for form in FORMATS if form.country in countries and not form.own)
