"""Proven secrets, cards, SSNs, national IDs and IBANs are masked before anything is stored or sent to a model.

A mask keeps its class and is never scrubbed again, so scrubbing twice is scrubbing once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import re2

from pipeline.redaction.classes import label_of
from pipeline.redaction.detectors import PROVEN
from pipeline.redaction.prefilter import Prefilter
from pipeline.redaction.span import Interval, mask, resolve
from pipeline.session import Transcript, Turn, storable

_ASKED = Prefilter(PROVEN)
_NAME_MAX = 100
_MASK = re2.compile(r"\[REDACTED:([a-z_]{1,24})\]")


@dataclass(frozen=True, slots=True)
class Mask:
    """A mask that stands in a text, at a character offset of that text."""

    cls: str
    offset: int


@dataclass(frozen=True, slots=True)
class TurnMask:
    """A mask that stands in a turn of a transcript."""

    turn: int
    cls: str
    offset: int


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """A text without proven secrets, and every mask that stands in it, those it came with included."""

    text: str
    masks: tuple[Mask, ...]


def scrub(text: str) -> Scrubbed:
    """Masks until nothing proven is left: a mask may part what had hidden the edge of the next hit."""
    while (asked := _ASKED(text)) and (
        spans := resolve((span for d in asked for span in d.detect(text)), mask_intervals(text))
    ):
        text = mask(text, spans)
    return Scrubbed(text, standing_masks(text))


def scrub_transcript(transcript: Transcript) -> tuple[Transcript, tuple[TurnMask, ...]]:
    """Every turn's text scrubbed, its tool's name and its speaker's; masks are those of the scrubbed texts."""
    scrubbed = [scrub(turn.text) for turn in transcript.turns]
    turns = (_turn(turn, s.text) for turn, s in zip(transcript.turns, scrubbed, strict=True))
    masks = (TurnMask(number, m.cls, m.offset) for number, s in enumerate(scrubbed) for m in s.masks)
    return Transcript(turns=tuple(turns)), tuple(masks)


def _turn(turn: Turn, text: str) -> Turn:
    tool, name = turn.tool and _named(turn.tool), turn.name and _named(turn.name)
    same = (text, tool, name) == (turn.text, turn.tool, turn.name)
    return turn if same else turn.model_copy(update={"text": text, "tool": tool, "name": name})


def _named(name: str) -> str:
    return _remembered(name) if len(name) <= _NAME_MAX else scrub(name).text


@lru_cache(maxsize=512)
def _remembered(name: str) -> str:
    """Remembered: a tool's name comes again in every session, a speaker's in every turn."""
    return scrub(name).text


def scrub_raw(data: bytes | str) -> str:
    """Input that did not parse, fit to be stored: decoded with replacement, storable, scrubbed."""
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    return scrub(storable(text)).text


def standing_masks(text: str) -> tuple[Mask, ...]:
    return tuple(Mask(label_of(match.group(1)), match.start()) for match in _masks(text))


def masked_classes(text: str) -> frozenset[str]:
    """Classes of the masks that stand in a text: each counts as a hit of that class."""
    return frozenset(mask.cls for mask in standing_masks(text))


def mask_intervals(text: str) -> list[Interval]:
    return [match.span() for match in _masks(text)]


def _masks(text: str) -> Iterator[Any]:
    return iter(_MASK.finditer(text)) if "[REDACTED:" in text else iter(())
