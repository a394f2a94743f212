"""Many patterns asked as one say what they would say one by one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.extraction.adapters import cues
from pipeline.extraction.adapters.wording import Wording, top_level_branches

TABLES = [cue.patterns for cue in (*cues.CUES, *cues.OF_A_LIFE)] + [
    cues.HEDGED, cues.ASKED, cues.NARRATED, cues.DANGLING, cues.PASSING, cues.REFUSED, cues.WITHDRAWN]  # fmt: skip
SAID = (
    "we decided to keep the monorepo because i prefer it",
    "never push to main",
    "the root cause was a stale lock",
    "is that so?",
    "my favourite is the first one:",
    "it must stay under budget",
    "you broke it, undo that",
)
WORDS = [word for text in SAID for word in text.split()]


@pytest.mark.parametrize(
    ("pattern", "branches"),
    [
        ("a|b", ["a", "b"]),
        ("(?:a|b)|c", ["(?:a|b)", "c"]),
        ("[|)]|c", ["[|)]", "c"]),
        (r"\||\(|c", [r"\|", r"\(", "c"]),
        ("", [""]),
    ],
)
def test_branches_of_the_top_level_alone(pattern: str, branches: list[str]) -> None:
    assert list(top_level_branches(pattern)) == branches


@given(st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join) | st.text(max_size=40))
def test_it_fits_where_one_of_the_patterns_would(text: str) -> None:
    for table in TABLES:
        assert Wording(table).fits(text) == any(re.search(pattern, text) for pattern in table)


def test_without_patterns_nothing_fits() -> None:
    assert not Wording(()).fits("")
