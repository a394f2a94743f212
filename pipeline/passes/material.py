"""The passes over what stands: select material, ask, propose, record. Each proposes and decides nothing.

    select --Material--> question --adviser--> answer --read--> Proposal (waits for a person) | Dropped (on record)

Failure handling: an answer that does not parse proposes nothing. What names a key that is not in the material, or
breaks a rule of its pass, is dropped with a record of its text and the reason; the rest of the answer counts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from uuid import UUID

from pipeline.memory import Scope

CONTENT_MAX = 2_000


class PassName(StrEnum):
    COMPACTION = "compaction"
    MINING = "mining"
    AMENDMENT = "amendment"


class DropReason(StrEnum):
    """Why a proposal of a model goes no further; closed."""

    UNKNOWN_KEY = "unknown_key"  # names what is not in the material
    TOO_FEW = "too_few"  # a merge of fewer than two rules, a rule from fewer than three outcomes
    NO_TEXT = "no_text"  # empty, or longer than a memory may be
    NO_NAMESPACE = "no_namespace"  # files it outside the manifest
    NOTHING_NEW = "nothing_new"  # says what one of its sources says


@dataclass(frozen=True, slots=True)
class Piece:
    """One line of the material: a rule or an outcome. `facts` stand beside its text."""

    id: UUID
    text: str
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Material:
    """What one question is about. `after`: where the cursor stands once it is done with."""

    pieces: tuple[Piece, ...]
    after: UUID
    namespace: str = "default"
    scope: Scope | None = None
    places: dict[str, str] = field(default_factory=dict)  # a namespace's name -> what it is for


@dataclass(frozen=True, slots=True)
class Proposal:
    """A rule that would take the place of `replaces` once a person approves it. `sources`: what it rests on."""

    content: str
    rationale: str
    namespace: str
    replaces: tuple[UUID, ...] = ()
    sources: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class Dropped:
    """What the model proposed and goes no further."""

    reason: DropReason
    text: str


Read = Callable[[str, Material], list[Proposal | Dropped]]


def keys(material: Material, letter: str) -> dict[str, Piece]:
    """The pieces by the keys they have in the question."""
    return {f"{letter}{number}": piece for number, piece in enumerate(material.pieces, 1)}


def question(material: Material, letter: str) -> str:
    """The material as JSON lines."""
    lines: list[dict[str, Any]] = [{"key": "namespaces", **material.places}] if material.places else []
    lines += [{"key": key, "text": piece.text, **piece.facts} for key, piece in keys(material, letter).items()]
    return "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)


def known(named: Sequence[str], pieces: dict[str, Piece]) -> Iterator[Piece]:
    """The pieces that these keys name, each once."""
    for key in dict.fromkeys(named):
        if key in pieces:
            yield pieces[key]


def fits(text: str) -> bool:
    return bool(text.strip()) and len(text) <= CONTENT_MAX
