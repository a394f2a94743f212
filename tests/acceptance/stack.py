"""The installed product as a newcomer runs it: `afterword up` in a home of its own, and the command line beside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.waiting import wait_for

CHOICES = {
    "AFTERWORD_EXTRACTOR": "offline",
    "AFTERWORD_ALLOW_OFFLINE_EXTRACTOR": "true",
    "AFTERWORD_EMBEDDER": "local",
    "AFTERWORD_NER": "none",
    "AFTERWORD_LOG_JSON": "true",
}
COMMAND = [sys.executable, "-m", "ops.cli"]


@dataclass(frozen=True)
class Stack:
    """One AFTERWORD_HOME; its log is what `afterword up` wrote."""

    home: Path
    settings: dict[str, str]

    @property
    def log(self) -> Path:
        return self.home / "up.log"

    @property
    def environment(self) -> dict[str, str]:
        bare = {name: value for name, value in os.environ.items() if not name.startswith("AFTERWORD_")}
        return bare | {"AFTERWORD_HOME": str(self.home), **self.settings}

    def run(self, *arguments: str, check: bool = True, given: str | None = None) -> subprocess.CompletedProcess[str]:
        """The command, to its end; a failure shows what it said."""
        done = subprocess.run(
            [*COMMAND, *arguments], env=self.environment, capture_output=True, text=True, timeout=110, input=given
        )
        assert not check or done.returncode == 0, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def json(self, *arguments: str) -> Any:
        return json.loads(self.run(*arguments, "--json").stdout)

    def logged(self, level: str) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]
        return [line for line in lines if line["level"] == level]

    def org(self, name: str) -> None:
        """An org that extracts, and waives what no detector covers yet."""
        self.run("org", "create", name)
        waived = [part for cls in ("person", "dob", "address", "natid") for part in ("--waive", cls)]
        self.run("org", "set", name, *waived, "--reason", "no detector yet")
        self.run("extraction", "enable", "--org", name, "--reason", "acceptance")

    def states(self, org: str) -> dict[str, int]:
        return dict(self.json("org", "show", org)["runs"])

    def await_idle(self, org: str, runs: int, within_seconds: float = 100.0) -> dict[str, int]:
        """Until that many runs of the org have ended; their count by state."""

        def ended() -> dict[str, int] | None:
            states = self.states(org)
            over = {state: states.get(state, 0) for state in ("consolidated", "skipped", "dead_letter")}
            return states if sum(over.values()) == runs == sum(states.values()) else None

        return wait_for(ended, within_seconds) or {}


@contextmanager
def running(home: Path, **settings: str) -> Iterator[Stack]:
    """`afterword up` until the block ends; stopped by its process id, and nothing of it left."""
    home.chmod(0o711)
    made = Stack(home, CHOICES | settings)
    with made.log.open("w") as log:
        process = subprocess.Popen([*COMMAND, "up"], env=made.environment, stdout=log, stderr=log)
    try:
        wait_for(lambda: process.poll() is not None or '"fleet_started"' in made.log.read_text(), 60)
        assert process.poll() is None, made.log.read_text()
        yield made
    finally:
        process.terminate()
        process.wait(60)
