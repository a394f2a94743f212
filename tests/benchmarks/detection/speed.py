"""python -m tests.benchmarks.detection.speed DATA: how fast the pattern detectors read real sessions, on one core.

The text is that of every turn of every session, as the readers of the log formats give it. Those of ALL that the
prefilter names look at a turn, as in the redactor. The plain pass folds each turn and searches it for one literal.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import re2

from pipeline.formats import read
from pipeline.redaction.detectors import ALL
from pipeline.redaction.folding import fold
from pipeline.redaction.prefilter import Prefilter
from pipeline.redaction.scrub import scrub

_ASKED = Prefilter(ALL)
_ROUNDS = 5
_NOTHING = re2.compile(rb"a literal that no session holds")


def measure(data: Path) -> dict[str, float]:
    """Megabytes of UTF-8 a second of CPU time, the best of five rounds; the ratio is to the plain pass."""
    texts = turns(data)
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    patterns, scrubbed, plain = (_seconds(look, texts) for look in (_all, scrub, _plain))
    return {
        "patterns_mb_per_s": megabytes / patterns,
        "scrub_mb_per_s": megabytes / scrubbed,
        "patterns_plain_ratio": patterns / plain,
    }


def turns(data: Path) -> list[str]:
    files = sorted(path for path in (data / "sessions").rglob("*") if path.is_file())
    return [turn.text for path in files for turn in read(path.read_text("utf-8", "replace")).transcript.turns]


def _all(text: str) -> None:
    for detector in _ASKED(text):
        detector.detect(text)


def _plain(text: str) -> None:
    _NOTHING.search(fold(text).data)


def _seconds(look: Callable[[str], object], texts: Sequence[str]) -> float:
    return min(_round(look, texts) for _ in range(_ROUNDS))


def _round(look: Callable[[str], object], texts: Sequence[str]) -> float:
    started = time.process_time()
    for text in texts:
        look(text)
    return time.process_time() - started


if __name__ == "__main__":
    for name, figure in measure(Path(sys.argv[1])).items():
        print(f"{name} {figure:.2f}")
