"""A worker under chaos: shipped code, but an extractor that dies at a marker and vectors that cost nothing.

python -m tests.chaos.worker STAGE PROCESSES < context as JSON (database, redis, lease_seconds)
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from uuid import UUID

from ops import logs
from pipeline.extraction.adapters.offline import OfflineExtractor
from pipeline.extraction.port import ExtractionJob, ExtractionOutcome
from pipeline.redaction.detectors import ALL
from tests.fleet import KEY, WordVectors
from workers import context, fleet
from workers.context import Context, Limits

DEADLY = "whoever reads this sentence is killed"


class DeadlyExtractor(OfflineExtractor):
    """The offline rules, except that a marked transcript kills the process that reads it."""

    def extract_many(self, batch: Sequence[ExtractionJob]) -> Iterator[tuple[UUID, ExtractionOutcome]]:
        for job in batch:
            if any(DEADLY in turn.text for turn in job.transcript.turns):
                os.kill(os.getpid(), signal.SIGKILL)
            yield from super().extract_many([job])


def main() -> None:
    given = json.load(sys.stdin)
    logs.configure("warning", as_json=True)
    context.install(
        Context(
            database=given["database"],
            redis=given["redis"],
            extractor=DeadlyExtractor,
            embedder=WordVectors,
            detectors=ALL,
            installation_key=KEY,
            limits=Limits(lease_seconds=given["lease_seconds"], batch_size=32, drain_seconds=10),
        )
    )
    fleet.run(sys.argv[1], int(sys.argv[2]), metrics_port=None, metrics_dir=None)


if __name__ == "__main__":
    main()
