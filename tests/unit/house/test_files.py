"""What may not stand in any tracked file, and what must."""

from __future__ import annotations

import re

import pytest

from tests.unit.house.sources import ROOT, project, tracked

# Written in halves, since this file is tracked too.
INDEXES = ["pypi." + "org", "python" + "hosted", "npm" + "js", "deb." + "debian", "extra-" + "index-url"]
BUILD_PATHS = ["/wo" + "rk/main", "/wo" + "rk/shared", "/opt" + "/wheels", "/opt" + "/pypi", "/tmp/" + "brief"]
LOCKS = sorted(path.name for path in (ROOT / "requirements").glob("*.txt"))


@pytest.mark.parametrize("forbidden", [*INDEXES, *BUILD_PATHS])
def test_no_file_names_an_index_or_the_machine_it_was_written_on(forbidden: str) -> None:
    files = tracked()
    if not files:
        pytest.skip("not a git clone: there is no list of tracked files")
    needle = forbidden.encode()
    assert [str(path.relative_to(ROOT)) for path in files if needle in path.read_bytes()] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_every_release_in_a_lock_has_a_hash(lock: str) -> None:
    blocks = re.split(r"\n(?=\S)", (ROOT / "requirements" / lock).read_text().strip())
    assert [block.split()[0] for block in blocks if "--hash=sha256:" not in block] == []


@pytest.mark.parametrize(
    ("smaller", "larger"), [("core.txt", "fleet.txt"), ("fleet.txt", "local.txt"), ("local.txt", "dev.txt")]
)
def test_what_is_deployed_is_what_is_tested(smaller: str, larger: str) -> None:
    assert _pins(smaller) <= _pins(larger)


def _pins(lock: str) -> set[str]:
    return set(re.findall(r"^\S+==\S+", (ROOT / "requirements" / lock).read_text(), re.MULTILINE))


def test_the_build_lock_follows_from_the_build_system() -> None:
    assert (ROOT / "requirements/build.in").read_text().split() == project()["build-system"]["requires"]
