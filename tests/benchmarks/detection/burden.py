"""The reviewer's burden: how many harmless sentences of real sessions are held for a person, address or phone?

    python -m tests.benchmarks.detection.burden DATA [--show]

Sentences of 40 to 400 characters in what users and agents said, no tool output, each once. Whether one that is flagged
truly holds a person, address or phone is a matter of judgement: those that do are listed by hash in burden.txt, judged
by reading them; every other flagged sentence counts as false. --show prints the flagged ones with their hashes.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from ops.compose import verified_detectors
from ops.settings import Settings
from pipeline import formats
from pipeline.redaction.classes import ADDRESS, PERSON, PHONE
from pipeline.redaction.redactor import Inspection, inspect_many
from pipeline.session import Role

CLASSES = frozenset({PERSON, ADDRESS, PHONE})
FOLDERS = {"false_hold_rate": "claude-code", "false_hold_rate_chat": "openai-chat"}
TRUE = Path(__file__).with_suffix(".txt")
_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_SHORTEST, _LONGEST = 40, 400


def measure(data: Path) -> dict[str, float]:
    figures = {}
    for name, folder in FOLDERS.items():
        said = list(dict.fromkeys(sentences(data / "sessions" / folder)))
        figures[name] = sum(key not in judged() for key, _, _ in flagged(said)) / len(said)
    return figures


def flagged(said: list[str]) -> Iterator[tuple[str, str, Inspection]]:
    """(hash, sentence, what was found) of each that is held for one of the classes."""
    detectors = verified_detectors(Settings(ner="rampart"))
    for sentence, inspection in zip(said, inspect_many(said, detectors), strict=True):
        if not CLASSES.isdisjoint(inspection.classes):
            yield hashlib.sha256(sentence.encode()).hexdigest()[:16], sentence, inspection


def sentences(folder: Path) -> Iterator[str]:
    for path in sorted(folder.iterdir()):
        for turn in formats.read(path.read_text(encoding="utf-8", errors="replace")).transcript.turns:
            if turn.role in (Role.USER, Role.ASSISTANT):
                parts = (part.strip() for part in _END.split(turn.text))
                yield from (part for part in parts if _SHORTEST <= len(part) <= _LONGEST)


def judged() -> frozenset[str]:
    return frozenset(line for line in TRUE.read_text().split("\n") if line and not line.startswith("#"))


def _show(data: Path) -> None:
    for folder in FOLDERS.values():
        for key, sentence, inspection in flagged(list(dict.fromkeys(sentences(data / "sessions" / folder)))):
            what = [f"{span.cls} {sentence[span.start : span.end]!r}" for span in inspection.spans]
            print(key, "true " if key in judged() else "false", folder, ", ".join(what), sentence[:100], sep="\t")


if __name__ == "__main__":
    if "--show" in sys.argv:
        _show(Path(sys.argv[1]))
    print(json.dumps(measure(Path(sys.argv[1])), indent=1))
