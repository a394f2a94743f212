"""The demo, as a newcomer sees it: twice, and the second time nothing comes in twice."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.acceptance.stack import COMMAND, Stack


def demo(home: Path, *paths: str) -> str:
    stack = Stack(home, {})
    done = subprocess.run(
        [*COMMAND, "demo", *paths], env=stack.environment, capture_output=True, text=True, timeout=110
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def figures(shown: str) -> dict[str, int]:
    """The rows of the demo's tables: name and count."""
    return {name: int(count) for name, count in re.findall(r"│ ([a-z_ ]+?)\s+│ +(\d+) +│", shown)}


@pytest.mark.timeout(240)
def test_demo_twice(tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("home")
    home.chmod(0o711)
    first = demo(home)
    seen = figures(first)
    assert seen["consolidated"] == 7
    assert seen["active fact"] > 5
    assert seen["pending rule"] > 0
    assert "waived by name" in first
    assert first.count("(hybrid)") == 3
    assert "eu-central-1" in first
    assert re.search(r"ledger: \d+ entries, .*verified", first)
    assert figures(demo(home)) == seen
