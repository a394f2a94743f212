"""One worker of the benchmark's fleet: shipped code, recorded models.

python -m tests.benchmarks.worker STAGE PROCESSES < context as JSON (database, redis, recording, parent)
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

from ops import logs
from pipeline.redaction.detectors import ALL
from tests.benchmarks.recording import RecordedEmbedder, RecordedExtractor
from tests.fleet import KEY
from workers import context, fleet
from workers.context import Context
from workers.orphans import die_with_parent


def main() -> None:
    given = json.load(sys.stdin)
    die_with_parent(given["parent"], signal.SIGTERM)
    logs.configure("warning", as_json=True)
    embedder = RecordedEmbedder(Path(given["recording"])) if sys.argv[1] == "embedding" else None
    context.install(
        Context(
            database=given["database"],
            redis=given["redis"],
            extractor=RecordedExtractor,
            embedder=lambda: embedder,
            detectors=ALL,
            installation_key=KEY,
        )
    )
    fleet.run(sys.argv[1], int(sys.argv[2]), metrics_port=None, metrics_dir=None)


if __name__ == "__main__":
    main()
