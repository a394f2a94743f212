"""Every hit of a HIGH class of numbers and addresses in the real sessions was read by a person: none but these.

A hit is named by its file, class, count and a digest of its value; the value is only in the measuring data. Phone
numbers and IP addresses are LOW, but a reviewer reads each: those are listed too. Secrets have their own list.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from pathlib import Path

import pytest

from pipeline.formats import read
from pipeline.redaction.classes import CC, EMAIL, IBAN, IP, NATID, PHONE, SSN
from pipeline.redaction.detectors import ALL
from pipeline.redaction.prefilter import Prefilter

BESIDE = Path(__file__).parents[4] / "shared" / "data"
SESSIONS = Path(os.environ.get("MEASURING_DATA", BESIDE)) / "sessions"
FILES = sorted(path for path in SESSIONS.rglob("*") if path.is_file())
CLASSES = frozenset({CC, SSN, NATID, IBAN, EMAIL, PHONE, IP})

READ_BY_HAND: dict[str, dict[tuple[str, str], int]] = {
    "cli-0b-0.jsonl": {
        ("email", "5e519da5e40e24c5"): 5,
        ("email", "973dfe463ec85785"): 9,
        ("email", "b6e523c79f780659"): 3,
        ("email", "f5aa721291135012"): 6,
    },
    "cli-89-15.jsonl": {("email", "b6e523c79f780659"): 35},
    "viewer-5.jsonl": {("ip", "3e96d8732051b54f"): 6},
    "airline-00.json": {("email", "92578d63ee644dac"): 1},
    "airline-02.json": {("email", "f610c2f1246b6944"): 1},
    "airline-03.json": {("email", "b356cb1e72ee066f"): 1},
    "airline-04.json": {("email", "aceb64bb2caa72a8"): 1},
    "airline-05.json": {("email", "aceb64bb2caa72a8"): 1},
    "airline-06.json": {("email", "4f932fc07b5715cf"): 1},
    "airline-07.json": {("email", "4f932fc07b5715cf"): 1},
    "airline-10.json": {("email", "64e4fc729d7324b4"): 1},
    "airline-11.json": {("email", "4df1b34a51c29b3a"): 1},
    "traj-1.traj": {("ip", "5c2a3f8f4c6f5559"): 2},
    "traj-3.traj": {("ip", "23d44c90e0324944"): 2, ("ip", "6c8f4171cfee9121"): 2},
}
"""Mail addresses of test fixtures and of customers, and addresses in private networks."""

asked = Prefilter([detector for detector in ALL if CLASSES & detector.classes])


@pytest.mark.skipif(not FILES, reason=f"no session logs in {SESSIONS}; set MEASURING_DATA")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_session_holds_a_number_that_nobody_read(path: Path) -> None:
    text = path.read_text("utf-8", "replace")
    assert hits(text) == READ_BY_HAND.get(path.name, {})
    turns = [turn.text for turn in read(text).transcript.turns]
    assert sum(map(hits, turns), Counter[tuple[str, str]]()).keys() <= READ_BY_HAND.get(path.name, {}).keys()


def hits(text: str) -> Counter[tuple[str, str]]:
    spans = [span for detector in asked(text) for span in detector.detect(text) if span.cls in CLASSES]
    return Counter((s.cls, hashlib.sha256(text[s.start : s.end].encode()).hexdigest()[:16]) for s in spans)
