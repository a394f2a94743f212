"""One text through all detectors: HIGH is replaced, LOW stays verbatim but is listed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.errors import DetectorDown
from pipeline.redaction.classes import ClassTier, tier_of
from pipeline.redaction.scrub import mask_intervals, masked_classes
from pipeline.redaction.span import Detector, Span, mask, resolve


@dataclass(frozen=True, slots=True)
class Inspection:
    """`classes` includes those of masks that already stood there; `spans` are offsets of the text given."""

    text_redacted: str
    classes: frozenset[str]
    spans: tuple[Span, ...]


def inspect(text: str, detectors: Sequence[Detector]) -> Inspection:
    """Raises DetectorDown where a detector raises: what was not looked at must not pass."""
    found = (span for detector in detectors for span in _detected(detector, text))
    spans = resolve(found, mask_intervals(text))
    high = [span for span in spans if tier_of(span.cls) is ClassTier.HIGH]
    return Inspection(mask(text, high), masked_classes(text).union(span.cls for span in spans), spans)


def _detected(detector: Detector, text: str) -> list[Span]:
    try:
        return list(detector.detect(text))
    except Exception as error:
        raise DetectorDown(f"detector {detector.name} raised {type(error).__name__}") from error
