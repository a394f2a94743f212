"""The namespaces of an org: where its rules are filed, for whom, and under which head they stand in a digest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from rapidfuzz import fuzz

from pipeline.consolidation.wording import claims
from pipeline.errors import AfterwordError
from pipeline.memory import Scope, ScopeKind

DEFAULT: Final = "default"
FILED_ABOVE: Final = 60.0
"""Of 100: below it a text says too little of what a namespace is described by to be filed there unasked."""


class NamespaceRefused(AfterwordError):
    """This namespace is not in the org's manifest."""


@dataclass(frozen=True, slots=True)
class Namespace:
    """One place for rules. `agents`: whom its rules are for, all where none is named; `path`: its file in a digest."""

    name: str
    scope: Scope = field(default_factory=lambda: Scope(ScopeKind.ORG))
    path: str = ""
    title: str = ""
    description: str = ""
    preamble: str = ""
    agents: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """Its path, or one made of its name."""
        return self.path or f"{self.name}.md"


def file_under(text: str, manifest: Sequence[Namespace]) -> str:
    """The namespace whose name, title and description say most of what a text claims; `default` where none says enough.

    Deterministic: words shared, by rapidfuzz's token_set_ratio over claims; among equals the first by name.
    """
    said = " ".join(claims(text))

    def score(place: Namespace) -> float:
        words = " ".join(claims(f"{place.name.replace('-', ' ')} {place.title} {place.description}"))
        return float(fuzz.token_set_ratio(said, words)) if set(words.split()) & set(said.split()) else 0.0

    described = sorted((place for place in manifest if place.name != DEFAULT), key=lambda place: place.name)
    best = max(described, key=score, default=None)
    return best.name if best and score(best) >= FILED_ABOVE else DEFAULT


def admit(name: str, manifest: Sequence[Namespace]) -> str:
    """`name`, where the manifest has it. Raises NamespaceRefused with the names it has."""
    known = [place.name for place in manifest]
    if name not in known:
        raise NamespaceRefused(
            f"no namespace {name!r} in this org's manifest (there are: {', '.join(known)}); "
            "name one by --namespace, or add it: afterword workspace apply FILE.yaml"
        )
    return name
