"""Is each class still covered? Fixed texts that must produce known detections, at start and on a clock.

A detector that finds nothing is down, however fast it answers. A class is healthy only if every canary of it
is found; a class without a canary is never healthy. Numbers are published samples of their formats.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipeline.redaction.classes import CC, EMAIL, IBAN, IP, PHONE, SECRET, SSN
from pipeline.redaction.span import Detector


@dataclass(frozen=True, slots=True)
class Canary:
    """`expected` stands in `text` and must be found as `cls`. `language` is None where it does not matter."""

    cls: str
    text: str
    expected: str
    language: str | None = None


_PEM = (
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n"
    "-----END PRIVATE KEY-----"
)

CANARIES: tuple[Canary, ...] = (
    Canary(SECRET, f"The key is\n{_PEM}\n", _PEM),
    Canary(SECRET, "export AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
    Canary(SECRET, "密钥是AKIAIOSFODNN7EXAMPLE。", "AKIAIOSFODNN7EXAMPLE", "zh"),
    Canary(CC, "Paid with 4111 1111 1111 1111.", "4111 1111 1111 1111"),
    Canary(CC, "カード番号は４１１１１１１１１１１１１１１１です", "４１１１１１１１１１１１１１１１", "ja"),
    Canary(SSN, "Her SSN is 536-90-4399.", "536-90-4399", "en"),
    Canary(IBAN, "Bitte an DE89 3704 0044 0532 0130 00 zahlen.", "DE89 3704 0044 0532 0130 00", "de"),
    Canary(EMAIL, "Write to info@example.com.", "info@example.com"),
    Canary(PHONE, "Call +44 20 7946 0958 tomorrow.", "+44 20 7946 0958"),
    Canary(PHONE, "Call (212) 555-0123 tomorrow.", "(212) 555-0123", "en"),
    Canary(IP, "The login came from 8.8.4.4.", "8.8.4.4"),
    Canary(IP, "The login came from 2001:4860:4860::8844.", "2001:4860:4860::8844"),
)


def finds(detector: Detector, canary: Canary) -> bool:
    """A detector that raises finds nothing."""
    start = canary.text.index(canary.expected)
    end = start + len(canary.expected)
    try:
        spans = detector.detect(canary.text)
    except Exception:  # a broken detector must hold candidates, not stop the worker that asks
        return False
    return any(span.cls == canary.cls and span.start <= start and end <= span.end for span in spans)


def down(detectors: Sequence[Detector], canaries: Sequence[Canary] = CANARIES) -> tuple[str, ...]:
    """Names of the detectors that find none of the canaries of the classes they claim."""
    return tuple(
        detector.name
        for detector in detectors
        if not any(finds(detector, canary) for canary in canaries if canary.cls in detector.classes)
    )


def healthy_classes(detectors: Sequence[Detector], canaries: Sequence[Canary] = CANARIES) -> frozenset[str]:
    """Classes of which every canary is found by a detector that claims the class."""
    missed = {
        canary.cls
        for canary in canaries
        if not any(canary.cls in detector.classes and finds(detector, canary) for detector in detectors)
    }
    return frozenset(canary.cls for canary in canaries) - missed


def uncovered(required: Iterable[str], waived: Iterable[str], healthy: Iterable[str]) -> frozenset[str]:
    """Required classes that no healthy detector covers and nobody waived: `detector_unavailable`."""
    return frozenset(required).difference(waived, healthy)
