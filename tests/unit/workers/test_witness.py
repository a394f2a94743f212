"""The witness holds whole lines, whatever the disk does."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from workers.witness import SEALS, append

ROW = {"id": 1, "below": 100, "entries": 3, "total": 3, "hash": "ab" * 32, "at": "2026-01-01T00:00:00+00:00"}


@pytest.mark.parametrize("room_bytes", [0, 1, 40, 100])
def test_a_full_disk_leaves_no_part_of_a_line(tmp_path: Path, room_bytes: int) -> None:
    append(tmp_path / SEALS, ROW)
    file = tmp_path / "seals.jsonl"
    whole = file.read_text()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + room_bytes, before[1]))
    try:
        with pytest.raises(OSError, match=r"File too large|No space left"):
            append(tmp_path / SEALS, ROW)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert file.read_text() == whole
    append(tmp_path / SEALS, ROW)
    assert file.read_text() == whole * 2
