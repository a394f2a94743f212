"""Every token is in a window, windows are short, and they meet where something ends."""

from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from pipeline.redaction.ner.windows import OVERLAP_TOKENS, WHOLE_TOKENS, WINDOW_TOKENS, windows


def tokens(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]


@given(st.text("ab .\n", max_size=3000))
def test_every_token_is_read_and_none_twice_but_where_two_share(text: str) -> None:
    offsets = tokens(text)
    found = list(windows(text, offsets))
    assert {at for start, end in found for at in range(start, end)} == set(range(len(offsets)))
    assert len(offsets) > WHOLE_TOKENS or len(found) <= 1
    for (start, end), (then, _) in pairwise(found):
        assert end - start <= WINDOW_TOKENS
        assert then > start
        assert end - then in (0, OVERLAP_TOKENS)


def test_a_paragraph_is_not_read_into_the_next() -> None:
    text = "one two three. " * 12 + "\n\n" + "four five six. " * 30
    offsets = tokens(text)
    first = next(iter(windows(text, offsets)))
    assert text[offsets[first[1]][0] :].startswith("four")


def test_what_never_ends_is_cut_with_what_two_share() -> None:
    text = "word " * 300
    found = list(windows(text, tokens(text)))
    assert found[0] == (0, WINDOW_TOKENS)
    assert found[1][0] == WINDOW_TOKENS - OVERLAP_TOKENS
