"""Whole logs: the samples that ship, and real ones where a folder of them is named."""

import os
from pathlib import Path

import pytest

from pipeline import formats
from pipeline.session import Role, Trust

SAMPLES = Path(__file__).parents[3] / "ops" / "samples"
FILES = sorted(path for path in SAMPLES.iterdir() if path.suffix in (".json", ".jsonl"))
FORMATS = {"claude-code": "claude_code", "codex": "codex", "openai-chat": "openai_chat"}

BESIDE = Path(__file__).parents[4] / "shared" / "data"
SESSIONS = Path(os.environ.get("MEASURING_DATA", BESIDE)) / "sessions"
READ_SHARE_MIN = 0.99


@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_a_sample_is_read_whole(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    result = formats.read(text)
    assert formats.detect(text).name == next(name for prefix, name in FORMATS.items() if path.name.startswith(prefix))
    assert result.unread == ()
    assert result.session
    assert result.started_at is not None
    assert result.started_at.year == 2026
    assert {turn.trust for turn in result.transcript.turns if turn.role is Role.USER} == {Trust.USER}
    assert {turn.trust for turn in result.transcript.turns if turn.role is Role.TOOL} == {Trust.UNTRUSTED}
    assert all(turn.tool for turn in result.transcript.turns if turn.role is Role.TOOL)
    assert 3_000 <= path.stat().st_size <= 15_000


def test_the_samples_cover_three_formats_and_are_listed() -> None:
    listed = (SAMPLES / "README.md").read_text(encoding="utf-8")
    assert 6 <= len(FILES) <= 8
    assert {formats.detect(path.read_text(encoding="utf-8")).name for path in FILES} == set(FORMATS.values())
    assert [path.name for path in FILES if path.name not in listed] == []


def test_real_sessions_are_read() -> None:
    if not SESSIONS.is_dir():
        pytest.skip(f"no session logs in {SESSIONS}; set MEASURING_DATA")
    records = missed = 0
    for path in sorted(SESSIONS.rglob("*")):
        if path.suffix in (".json", ".jsonl", ".traj"):
            result = formats.read(path.read_text(encoding="utf-8", errors="surrogateescape"))
            assert result.records == result.read + sum(result.ignored.values()) + len(result.unread), path
            assert result.transcript.turns, path
            records += result.records
            missed += len(result.unread)
    assert records > 0
    assert (records - missed) / records >= READ_SHARE_MIN
