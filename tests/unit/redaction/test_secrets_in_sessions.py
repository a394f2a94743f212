"""Every hit of class secret in the real sessions was read by a person; the list here is all there may be.

A hit is named by its file and a digest of its value; the value is only in the measuring data.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.formats import read
from pipeline.redaction.classes import SECRET
from pipeline.redaction.detectors import ALL
from pipeline.redaction.prefilter import Prefilter

BESIDE = Path(__file__).parents[4] / "shared" / "data"
SESSIONS = Path(os.environ.get("MEASURING_DATA", BESIDE)) / "sessions"
FILES = sorted(path for path in SESSIONS.rglob("*") if path.is_file())

READ_BY_HAND = {
    "cli-d3-0.jsonl": {"9f017043ed200059"},
}
"""The key in the form of a payment provider's live keys, quoted as an error message that must not be captured."""

asked = Prefilter([detector for detector in ALL if SECRET in detector.classes])


@pytest.mark.skipif(not FILES, reason=f"no session logs in {SESSIONS}; set MEASURING_DATA")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_session_holds_a_hit_that_nobody_read(path: Path) -> None:
    text = path.read_text("utf-8", "replace")
    assert set(hits(text)) == READ_BY_HAND.get(path.name, set())


def hits(text: str) -> Iterator[str]:
    """As the file's lines, as one text, and as the turns that a reader makes of it."""
    turns = [turn.text for turn in read(text).transcript.turns]
    for part in (*text.splitlines(), text, *turns):
        for detector in asked(part):
            for span in detector.detect(part):
                yield hashlib.sha256(part[span.start : span.end].encode()).hexdigest()[:16]
