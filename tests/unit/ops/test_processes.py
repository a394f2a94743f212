from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ops.processes import has_ended, standing_in, stop_by_pid, working_folder
from ops.supervisor import backoff_seconds

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are awaited by Linux means")


@pytest.mark.parametrize(
    ("crashes", "first", "cap", "wait"),
    [(1, 1, 60, 1), (2, 1, 60, 2), (6, 1, 60, 32), (7, 1, 60, 60), (10_000, 1, 60, 60), (1, 5, 2, 2), (3, 0.5, 60, 2)],
)
def test_backoff_doubles_up_to_its_cap(crashes: int, first: float, cap: float, wait: float) -> None:
    assert backoff_seconds(crashes, first, cap) == wait


def test_a_running_process_has_not_ended_and_a_zombie_has() -> None:
    child = subprocess.Popen(["sleep", "1000"])
    assert not has_ended(child.pid, 0)
    child.kill()
    assert has_ended(child.pid, 10)
    child.wait()
    assert has_ended(child.pid, 0)


@pytest.mark.parametrize(
    ("ignored", "expected"),
    [("", signal.SIGTERM), ("trap '' TERM; ", signal.SIGINT), ("trap '' TERM INT; ", signal.SIGKILL)],
)
def test_a_stop_escalates_until_the_process_has_ended(ignored: str, expected: signal.Signals) -> None:
    line = f"{ignored}echo ready; exec sleep 1000"
    with subprocess.Popen(["/bin/sh", "-c", line], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        child.stdout.readline()
        steps = (signal.SIGTERM, signal.SIGINT, signal.SIGKILL)
        assert stop_by_pid(child.pid, *((step, 20 if step is expected else 0.2) for step in steps))
        assert child.wait() == -expected


def test_a_process_that_outlives_every_step_is_reported() -> None:
    with subprocess.Popen(["sleep", "1000"]) as child:
        assert not stop_by_pid(child.pid, (signal.SIGCONT, 0.01))
        child.kill()


def test_a_process_is_found_by_where_it_stands(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "1000"], cwd=tmp_path) as child:
        assert working_folder(child.pid) == os.path.realpath(tmp_path)
        assert standing_in(tmp_path) == [child.pid]
        child.kill()
    assert working_folder(child.pid) is None
    assert standing_in(tmp_path) == []
