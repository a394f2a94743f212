"""Texts through all detectors: HIGH is replaced, LOW stays verbatim but is listed.

Failure handling: a detector that raises on a batch says nothing about which text it was. The batch's answers are then
thrown away and each text is looked at alone where it is asked for, so that only what cannot be looked at fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeGuard

from pipeline.errors import DetectorDown
from pipeline.redaction.classes import ClassTier, tier_of
from pipeline.redaction.detectors import ALL
from pipeline.redaction.prefilter import prefilter
from pipeline.redaction.scrub import mask_intervals, masked_classes, scrub
from pipeline.redaction.span import BatchDetector, Detector, Span, mask, resolve
from pipeline.session import storable


@dataclass(frozen=True, slots=True)
class Inspection:
    """`classes` includes those of masks that already stood there; `spans` are offsets of the text given."""

    text_redacted: str
    classes: frozenset[str]
    spans: tuple[Span, ...]


_HIGH = tuple(item for item in ALL if any(tier_of(cls) is ClassTier.HIGH for cls in item.classes))


@lru_cache(maxsize=64)
def without_high(text: str) -> str:
    """`text` as it may be kept before, or without, the gate: a staged candidate, what a person types, an error's words.
    What the pattern detectors find of a HIGH class is masked; in a transcript it is only what is proven. The last few
    are remembered: a quote is often what it supports, word for word.
    """
    return inspect(scrub(storable(text)).text, _HIGH).text_redacted


def inspect(text: str, detectors: Sequence[Detector]) -> Inspection:
    """Raises DetectorDown where a detector raises: what was not looked at must not pass."""
    return inspect_many([text], detectors)[0]


def inspect_many(texts: Sequence[str], detectors: Sequence[Detector]) -> list[Inspection]:
    """`inspect` of each text; a detector that takes many at once is asked once. Raises DetectorDown for all of them."""
    at_once = [_detected_at_once(detector, texts) for detector in detectors if _takes_many(detector)]
    asked = prefilter(tuple(detector for detector in detectors if not _takes_many(detector)))
    return [
        _inspection(text, [*_detected(asked(text), text), *(span for found in at_once for span in found[number])])
        for number, text in enumerate(texts)
    ]


def _takes_many(detector: Detector) -> TypeGuard[BatchDetector]:
    """By its one more method: asking the protocol itself costs more than looking at a sentence."""
    return hasattr(detector, "detect_many")


class Inspector:
    """Answers for any text; those known `ahead` are looked at together, on construction."""

    def __init__(self, detectors: Sequence[Detector], ahead: Iterable[str] = ()) -> None:
        self._detectors = detectors
        self._seen: dict[str, Inspection] = {}
        texts = list(dict.fromkeys(ahead))
        with suppress(DetectorDown):
            self._seen.update(zip(texts, inspect_many(texts, detectors), strict=True))

    def __call__(self, text: str) -> Inspection:
        """Raises DetectorDown where a detector raises on this text."""
        seen = self._seen.get(text)
        if seen is None:
            seen = self._seen[text] = inspect(text, self._detectors)
        return seen


def _inspection(text: str, found: Iterable[Span]) -> Inspection:
    spans = resolve(found, mask_intervals(text))
    high = [span for span in spans if tier_of(span.cls) is ClassTier.HIGH]
    return Inspection(mask(text, high), masked_classes(text).union(span.cls for span in spans), spans)


def _detected(detectors: Iterable[Detector], text: str) -> Iterator[Span]:
    for detector in detectors:
        with _down_if_it_raises(detector):
            found = list(detector.detect(text))
        yield from found


def _detected_at_once(detector: BatchDetector, texts: Sequence[str]) -> list[Sequence[Span]]:
    with _down_if_it_raises(detector):
        found = list(detector.detect_many(texts))
        if len(found) != len(texts):
            raise ValueError("an answer for each text is due")
    return found


@contextmanager
def _down_if_it_raises(detector: Detector) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise DetectorDown(f"detector {detector.name} raised {type(error).__name__}") from error
