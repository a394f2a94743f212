"""What may be kept out by rule, and how many of those a person is asked about. Nothing, as it ships.

A threshold belongs to one extractor's stamp, since two models mean different things by 0.6. One that is loaded must
have been earned: by verdicts on what that extractor proposed under today's prompt and rules, and by answers about what
the threshold would have dropped. Without them it is a guess about which facts an org can do without.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pipeline.errors import SettingError
from pipeline.extraction.stamp import stamp
from pipeline.retention import REGISTRY, Holding

VERDICTS_MIN = 11
SAMPLE_DAYS_MAX = 14
"""An unanswered sample older than this is nobody's answer; the alert has asked for it for a week by then."""


@dataclass(frozen=True, slots=True)
class Dropping:
    """`thresholds`: by stamp, 0 to 1. `review_share`: basis points of drops that a person is asked about, not none."""

    thresholds: Mapping[str, float] = field(default_factory=dict)
    review_share: int = 1_000

    def __post_init__(self) -> None:
        if not 1 <= self.review_share <= 10_000:
            raise ValueError(f"a share of {self.review_share} basis points: drops that nobody ever looks at")

    def threshold_above(self, confidence: float | None, provenance: Mapping[str, Any]) -> float | None:
        """The threshold that a stated confidence misses; None where none was stated or none is loaded."""
        if confidence is None or not self.thresholds:
            return None
        threshold = self.thresholds.get(stamp(provenance))
        return threshold if threshold is not None and confidence < threshold else None


@dataclass(frozen=True, slots=True)
class Record:
    """What people have said about one stamp under the current prompt and rules.

    `verdicts`: decided reviews. `samples`: answers about what lies below the threshold, dropped or not; `right` of them
    found it better left out. `waiting`: open samples of drops older than SAMPLE_DAYS_MAX. `erasable`: the database's
    eraser reaches the store of drops.
    """

    stamp: str
    threshold: float
    prompt_revision: str
    verdicts: int
    samples: int
    right: int
    waiting: int
    erasable: bool = True


def parse_thresholds(text: str) -> dict[str, float]:
    """`openai/some-model=0.35`, by commas. Raises ValueError with what is wrong."""
    found: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = part.strip().rpartition("=")
        provider, _, model = name.partition("/")
        if not provider or not model:
            raise ValueError(f"{part.strip()!r} is not of the form PROVIDER/MODEL=NUMBER")
        if name in found:
            raise ValueError(f"{name} stands twice")
        found[name] = _between(number)
    return found


def _between(number: str) -> float:
    try:
        value = float(number)
    except ValueError:
        value = -1
    if not 0 < value < 1:
        raise ValueError(f"{number!r} is no confidence between 0 and 1")
    return value


def missing(record: Record, registry: Iterable[Holding] = REGISTRY) -> list[str]:
    """What this threshold lacks to be loaded; empty where it has been earned."""
    lacks = []
    if record.verdicts < VERDICTS_MIN:
        lacks.append(
            f"{VERDICTS_MIN - record.verdicts} more verdicts on its candidates under prompt {record.prompt_revision} "
            f"and the current rules (it has {record.verdicts} of {VERDICTS_MIN}; see: afterword review list)"
        )
    if not record.samples:
        lacks.append(
            f"an answer about what it drops: a verdict on a candidate stated below {record.threshold:g}, or on a drop "
            "(see: afterword drops list --open)"
        )
    if record.waiting:
        lacks.append(
            f"answers to {record.waiting} samples of drops that wait for more than {SAMPLE_DAYS_MAX} days "
            "(see: afterword drops list --open)"
        )
    if not record.erasable:
        lacks.append("an eraser that reaches the store of drops (see: afterword migrate)")
    return lacks + _unregistered(registry)


def _unregistered(registry: Iterable[Holding]) -> list[str]:
    drops = next((item for item in registry if item.table == "drops"), None)
    if drops is None:
        return ["the store of drops in the retention registry"]
    needed = {"a purpose": drops.purpose, "an org column": drops.org, "an eraser": drops.eraser,
              "an end": drops.keeps and drops.dated}  # fmt: skip
    return [f"{what} of the store of drops in the retention registry" for what, stands in needed.items() if not stands]


def refuse_unearned(records: Iterable[Record], registry: Iterable[Holding] = REGISTRY) -> None:
    """Raises SettingError with everything that any of them lacks, and the way out."""
    registry = tuple(registry)
    faults = [f"{record.stamp}={record.threshold:g} lacks {lack}" for record in records
              for lack in missing(record, registry)]  # fmt: skip
    if faults:
        raise SettingError(
            f"AFTERWORD_CONFIDENCE_THRESHOLDS: {'; '.join(faults)}. "
            "Unset it, and candidates of every confidence are kept, until they stand."
        )
