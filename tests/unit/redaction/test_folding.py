"""Folding keeps a byte a character and finds the way back to the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.redaction.folding import fold

ZERO_WIDTH_SPACE, SOFT_HYPHEN, NARROW_SPACE = "\u200b", "\u00ad", "\u202f"


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("plain", b"plain"),
        ("４１１１ー", b"4111?"),
        ("٤٢", b"42"),
        ("ｇｈｐ＿", b"ghp_"),
        (f"12{ZERO_WIDTH_SPACE}34{SOFT_HYPHEN}5", b"12345"),
        (f"1{NARROW_SPACE}2–3‑4", b"1 2-3-4"),
        ("ключ", b"????"),
        ("\ud800x", b"?x"),
    ],
)
def test_fold(text: str, data: bytes) -> None:
    assert fold(text).data == data


@given(st.text(st.sampled_from(["a", "1", "１", "ж", ZERO_WIDTH_SPACE, SOFT_HYPHEN, "\ufeff", "😀", "–"])))
def test_every_place_leads_back_to_the_character_it_came_from(text: str) -> None:
    folded = fold(text)
    visible = [i for i, c in enumerate(text) if c not in (ZERO_WIDTH_SPACE, SOFT_HYPHEN, "\ufeff")]
    assert [folded.place(i, i + 1) for i in range(len(folded.data))] == [(i, i + 1) for i in visible]
    assert len(folded.text) == len(folded.data)
