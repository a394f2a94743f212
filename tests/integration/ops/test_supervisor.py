from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ops.processes import has_ended
from tests.waiting import wait_for

SCRIPT = """
import sys
from ops.supervisor import Command, Supervisor
commands = [Command(f"child-{i}", ["/bin/sh", "-c", line]) for i, line in enumerate(sys.argv[1:])]
Supervisor(commands, grace_seconds=1, backoff_first_seconds=0.05, backoff_cap_seconds=0.2).run()
print("all ended")
"""
REPORT = "echo $$ >> {file}; "
STAY = "exec sleep 1000"
LEAVE_A_WORD = "trap 'echo {word} >> {file}; exit 0' TERM; echo $$ >> {pids}; while :; do sleep 0.02; done"


class Supervised:
    """A supervisor in a process of its own, with shell lines as its children."""

    def __init__(self, *lines: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, *lines], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def end(self, sig: signal.Signals) -> str:
        self.process.send_signal(sig)
        said, _ = self.process.communicate(timeout=30)
        return said


@pytest.fixture
def supervised() -> Iterator[list[Supervised]]:
    running: list[Supervised] = []
    yield running
    for each in running:
        if each.process.poll() is None:
            each.process.kill()
            each.process.communicate()


def numbers(file: Path, at_least: int) -> list[int]:
    """The process ids in `file`, once there are that many."""
    return wait_for(lambda: found if len(found := _lines(file)) >= at_least else [])


def _lines(file: Path) -> list[int]:
    return [int(line) for line in file.read_text().split("\n")[:-1]] if file.exists() else []


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT])
def test_every_child_is_told_to_stop(supervised: list[Supervised], tmp_path: Path, sig: signal.Signals) -> None:
    words, pids = tmp_path / "words", tmp_path / "pids"
    lines = [LEAVE_A_WORD.format(word=word, file=words, pids=pids) for word in ("first", "second", "third")]
    supervised.append(Supervised(*lines))
    started = numbers(pids, 3)
    assert "all ended" in supervised[0].end(sig)
    assert supervised[0].process.returncode == 0
    assert sorted(words.read_text().split()) == ["first", "second", "third"]
    assert all(has_ended(pid, 0) for pid in started)


@pytest.mark.parametrize("end", ["kill -9 $$", "exit 1", "exit 0"])
def test_a_child_that_ends_is_started_again(supervised: list[Supervised], tmp_path: Path, end: str) -> None:
    pids, steady = tmp_path / "pids", tmp_path / "steady"
    supervised.append(Supervised(REPORT.format(file=pids) + end, REPORT.format(file=steady) + STAY))
    assert len(set(numbers(pids, 3))) >= 3
    assert len(numbers(steady, 1)) == 1
    said = supervised[0].end(signal.SIGTERM)
    assert "child_ended" in said
    assert "restart_in_seconds=0.05\n" in said
    assert "restart_in_seconds=0.1\n" in said


def test_a_killed_supervisor_leaves_no_child(supervised: list[Supervised], tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    stubborn = "trap '' TERM INT HUP; " + REPORT.format(file=pids) + STAY
    supervised.append(Supervised(REPORT.format(file=pids) + STAY, stubborn))
    started = numbers(pids, 2)
    supervised[0].end(signal.SIGKILL)
    assert all(has_ended(pid, 20) for pid in started)


def test_a_child_that_will_not_stop_is_killed(supervised: list[Supervised], tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    supervised.append(Supervised("trap '' TERM; " + REPORT.format(file=pids) + STAY))
    (pid,) = numbers(pids, 1)
    said = supervised[0].end(signal.SIGTERM)
    assert "child_killed" in said
    assert has_ended(pid, 0)


def test_what_a_child_started_goes_with_it(supervised: list[Supervised], tmp_path: Path) -> None:
    pids, grandchildren = tmp_path / "pids", tmp_path / "grandchildren"
    supervised.append(Supervised(f"sleep 1000 & echo $! >> {grandchildren}; " + REPORT.format(file=pids) + "exit 1"))
    first, _ = numbers(grandchildren, 2)[:2]
    assert has_ended(first, 20)
    supervised[0].end(signal.SIGTERM)
    assert all(has_ended(pid, 20) for pid in _lines(grandchildren))


def test_an_impatient_second_signal_does_not_cut_the_end_short(supervised: list[Supervised], tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    supervised.append(Supervised("trap '' TERM; " + REPORT.format(file=pids) + STAY))
    numbers(pids, 1)
    supervised[0].process.send_signal(signal.SIGINT)
    supervised[0].process.send_signal(signal.SIGTERM)
    assert "all ended" in supervised[0].end(signal.SIGINT)
    assert supervised[0].process.returncode == 0


def test_a_child_hears_signals_as_if_started_by_hand(supervised: list[Supervised], tmp_path: Path) -> None:
    mask, pids = tmp_path / "mask", tmp_path / "pids"
    supervised.append(Supervised(f"grep SigBlk /proc/self/status > {mask}; " + REPORT.format(file=pids) + STAY))
    numbers(pids, 1)
    assert mask.read_text().split() == ["SigBlk:", "0000000000000000"]


def test_a_command_that_does_not_exist_stops_the_others(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    script = SCRIPT.replace("Supervisor(commands", 'Supervisor([*commands, Command("absent", ["/absent/command"])]')
    line = REPORT.format(file=pids) + STAY
    ended = subprocess.run([sys.executable, "-c", script, line], capture_output=True, text=True, timeout=30)
    assert ended.returncode == 1
    assert "/absent/command" in ended.stderr
    assert all(has_ended(pid, 0) for pid in _lines(pids))


def test_a_child_gets_the_environment_it_was_given(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    script = (
        "import sys; from ops.supervisor import Command, Supervisor\n"
        "Supervisor([Command('env', ['/bin/sh', '-c', sys.argv[1]], {'ONLY': 'this'})], grace_seconds=5).run()"
    )
    line = f"env > {seen}.part; mv {seen}.part {seen}; kill -TERM $PPID; {STAY}"
    line = "PATH=/usr/bin:/bin; " + line
    subprocess.run([sys.executable, "-c", script, line], check=True, capture_output=True, timeout=30)
    variables = dict(entry.split("=", 1) for entry in seen.read_text().splitlines())
    assert variables["ONLY"] == "this"
    assert not variables.keys() & (os.environ.keys() - {"PATH", "PWD", "OLDPWD", "SHLVL", "_"})


def test_what_the_children_need_is_looked_after(tmp_path: Path) -> None:
    file = tmp_path / "looks"
    script = SCRIPT.replace(
        "backoff_first", f"look_after=lambda: open({str(file)!r}, 'a').write('look\\n'), backoff_first"
    )
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", script, "sleep 0.2; exit 1"], stdout=subprocess.PIPE
    )
    try:
        wait_for(lambda: file.exists() and file.read_text().count("look") >= 2)
    finally:
        process.terminate()
        process.communicate(timeout=30)
