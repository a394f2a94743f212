"""The areas in which being wrong hurts: a memory that touches one waits for a person, whoever said it.

    english.py   English, with the senses that are no stake (type safety, a tennis court, hard work that paid off)
    others.py    German, French, Spanish, Portuguese, Italian, Dutch, Polish, Russian, Chinese, Japanese

Failure handling: none; a text that touches no area it knows is not high-stakes.
"""

from __future__ import annotations

from pipeline.extraction.wording.shown import shown
from pipeline.extraction.wording.stakes import english, others
from pipeline.extraction.wording.table import Table

AREAS: dict[str, Table] = {
    area: Table((*patterns, *others.AREAS[area]), english.HARMLESS.get(area, ()))
    for area, patterns in english.AREAS.items()
}


def stakes(text: str) -> tuple[str, ...]:
    """The areas a text touches: access, money, legal, medical, employment, safety, deletion."""
    visible = shown(text)
    return tuple(area for area, table in AREAS.items() if table.search(visible))
