"""Workers in processes of their own, as `afterword worker` runs them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ops.processes import dies_with_parent, has_ended
from tests.fleet import Fleet
from tests.waiting import wait_for

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Running:
    """The parent of a worker's processes."""

    process: subprocess.Popen[bytes]
    folder: Path

    def children(self) -> list[int]:
        try:
            listed = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        except FileNotFoundError:
            return []
        return [int(pid) for pid in listed.split() if not has_ended(int(pid), 0)]

    def runs(self) -> list[str]:
        """Every run the extractor was given, as often as it was."""
        noted = self.folder / "runs"
        return [line.split()[0] for line in noted.read_text().splitlines()] if noted.exists() else []

    def log(self) -> str:
        return (self.folder / "log").read_text()


@contextmanager
def running(
    fleet: Fleet, stage: str, folder: Path, *, processes: int = 1, metrics_port: int | None = None, **limits: Any
) -> Iterator[Running]:
    """`processes` of a stage, there when the block begins and gone when it has ended."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ)
    if metrics_port is not None:
        (folder / "metrics").mkdir()
        environment["PROMETHEUS_MULTIPROC_DIR"] = str(folder / "metrics")
    given = {
        "database": fleet.database.address("worker"), "redis": fleet.valkey.url("worker"), "folder": str(folder),
        "metrics_port": metrics_port,
        "limits": {"backoff_first_seconds": 0.01, "backoff_cap_seconds": 0.01, **limits},
    }  # fmt: skip
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(
            [sys.executable, "-m", "tests.integration.workers.child", stage, str(processes)],
            cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=log, stderr=log,
            preexec_fn=dies_with_parent(signal.SIGKILL),
        ) as process,
    ):  # fmt: skip
        assert process.stdin is not None
        process.stdin.write(json.dumps(given).encode())
        process.stdin.close()
        worker = Running(process, folder)
        try:
            wait_for(lambda: len(worker.children()) == processes)
            yield worker
        finally:
            process.kill()
