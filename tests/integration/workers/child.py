"""A worker as it is shipped, with an extractor whose doings a test can see and command.

python -m tests.integration.workers.child STAGE PROCESSES < what it works with, as JSON
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from uuid import UUID

from ops import logs
from pipeline.extraction.adapters.offline import OfflineExtractor
from pipeline.extraction.port import ExtractionJob, ExtractionOutcome
from pipeline.redaction.detectors import ALL
from pipeline.redaction.span import Detector, Span
from tests.fleet import KEY, WordVectors
from workers import context, fleet
from workers.context import Context, Limits

KILL, KILL_ONCE, SLOW = "this sentence kills its reader", "this sentence kills its first reader", "read this slowly"


class CommandedExtractor(OfflineExtractor):
    """Notes each run it is given in `folder`/runs, then does what the transcript says."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def extract_many(self, batch: Sequence[ExtractionJob]) -> Iterator[tuple[UUID, ExtractionOutcome]]:
        for job in batch:
            with (self._folder / "runs").open("a") as file:
                file.write(f"{job.run_id} {os.getpid()}\n")
            said = " ".join(turn.text for turn in job.transcript.turns)
            if KILL in said or (KILL_ONCE in said and not self._was_here()):
                os.kill(os.getpid(), signal.SIGKILL)
            if SLOW in said:
                time.sleep(2)
            yield from super().extract_many([job])

    def _was_here(self) -> bool:
        flag = self._folder / "once"
        here = flag.exists()
        flag.touch()
        return here


class Moody:
    """A detector that sees, is blind, raises or hangs as the file `folder`/mood says; it sees where there is none."""

    def __init__(self, seeing: Detector, folder: Path) -> None:
        self._seeing, self._mood = seeing, folder / "mood"
        self.name, self.classes = seeing.name, seeing.classes

    def detect(self, text: str) -> Sequence[Span]:
        match self._mood.read_text() if self._mood.exists() else "":
            case "blind":
                return []
            case "raises":
                raise RuntimeError(text)
            case "hangs":
                while self._mood.exists():
                    time.sleep(0.05)
        return self._seeing.detect(text)


class Taught:
    """Finds the word in the file `folder`/knows, as a class that nobody had before."""

    name, classes = "finds_badge", frozenset({"badge"})

    def __init__(self, word: str) -> None:
        self._word = word

    def detect(self, text: str) -> Sequence[Span]:
        at = text.find(self._word)
        return [Span(at, at + len(self._word), "badge", 1.0, self.name)] if at >= 0 else []


def detectors(folder: Path) -> tuple[Detector, ...]:
    known = tuple(Moody(each, folder) if each.name == "ip" else each for each in ALL)
    knows = folder / "knows"
    return (*known, Taught(knows.read_text())) if knows.exists() else known


def main() -> None:
    given = json.load(sys.stdin)
    logs.configure("info", as_json=True)
    context.install(
        Context(
            database=given["database"],
            redis=given["redis"],
            extractor=lambda: CommandedExtractor(Path(given["folder"])),
            embedder=WordVectors,
            detectors=detectors(Path(given["folder"])),
            installation_key=KEY,
            limits=Limits(**given["limits"]),
        )
    )
    fleet.run(
        sys.argv[1],
        int(sys.argv[2]),
        metrics_port=given["metrics_port"],
        metrics_dir=os.environ.get("PROMETHEUS_MULTIPROC_DIR"),
    )


if __name__ == "__main__":
    main()
