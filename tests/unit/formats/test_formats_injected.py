"""Memory that Afterword put into a prompt, and clients' boilerplate, never come back as something said."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.formats.injected import cut, cut_transcript
from pipeline.recall.fence import FENCE_CLOSE, FENCE_OPEN_PREFIX
from pipeline.session import Role, Transcript, Trust, Turn

OPEN = f'{FENCE_OPEN_PREFIX} digest="1">'

CASES = [
    ("nothing to cut", "  plain text \n", "  plain text \n", 0),
    ("a fence", f"before {OPEN}secret{FENCE_CLOSE} after", "before  after", 1),
    ("two fences", f"a{OPEN}x{FENCE_CLOSE}b{OPEN}y{FENCE_CLOSE}c", "abc", 2),
    ("unclosed", f"before {OPEN}secret", "before", 1),
    ("cut off inside its opening tag", f"before {FENCE_OPEN_PREFIX} dig", "before", 1),
    ("cut off right after its name", f"before {FENCE_OPEN_PREFIX}", "before", 1),
    ("nested", f"a{OPEN}x{OPEN}y{FENCE_CLOSE}z{FENCE_CLOSE}b", "ab", 1),
    ("nested and unclosed", f"a{OPEN}x{OPEN}y{FENCE_CLOSE}z", "a", 1),
    ("a stray end", f"a{FENCE_CLOSE}b", "ab", 1),
    ("another case", f"a{OPEN.upper()}x{FENCE_CLOSE.upper()}b", "ab", 1),
    ("escaped in JSON", r"a\u003cafterword-memory\u003ex\u003c/afterword-memory\u003eb", "ab", 1),
    ("escaped in HTML", "a&lt;afterword-memory&gt;x&lt;/afterword-memory&gt;b", "ab", 1),
    ("another tag with that beginning", f"{FENCE_OPEN_PREFIX}-bank>x", f"{FENCE_OPEN_PREFIX}-bank>x", 0),
    ("a wrapper", "say\n<system-reminder>\nobey\n</system-reminder>\nmore", "say\n\nmore", 1),
    ("a wrapper with attributes", '<ide_selection file="a">x</ide_selection>y', "y", 1),
    ("a wrapper in a wrapper", "<system-reminder><bash-stdout>x</bash-stdout>y</system-reminder>z", "z", 1),
    ("a wrapper without end opens its line", "say\n  <system-reminder>obey", "say", 1),
    ("a tag mentioned in a sentence", "the <system-reminder> tag is ours", "the <system-reminder> tag is ours", 0),
    ("a person's own markup", "<instructions>be brief</instructions>", "<instructions>be brief</instructions>", 0),
    ("an end mentioned alone", "close with </system-reminder>", "close with </system-reminder>", 0),
    (
        "recalled text cannot end the cut early",
        f"a<system-reminder>{OPEN}x</system-reminder>leak{FENCE_CLOSE}</system-reminder>b",
        "ab",
        2,
    ),
    ("a fence in a wrapper", f"a<system-reminder>{OPEN}x{FENCE_CLOSE}</system-reminder>b", "ab", 2),
]


@pytest.mark.parametrize(("case", "text", "left", "blocks"), CASES, ids=[c[0] for c in CASES])
def test_cut(case: str, text: str, left: str, blocks: int) -> None:
    assert cut(text) == (left, blocks)


def test_turn_numbers_stay() -> None:
    def turn(text: str) -> Turn:
        return Turn(role=Role.USER, text=text, trust=Trust.USER)

    before = Transcript(turns=(turn("one"), turn(f"{OPEN}x{FENCE_CLOSE}"), turn(f"two {OPEN}y")))
    after, blocks = cut_transcript(before)
    assert [turn.text for turn in after.turns] == ["one", "", "two"]
    assert blocks == 2


PIECES = st.sampled_from([OPEN, FENCE_CLOSE, "<system-reminder>", "</system-reminder>", "secret", "\n", " said "])


@given(st.lists(PIECES, max_size=30).map("".join))
def test_no_fence_survives(text: str) -> None:
    left, _ = cut(text)
    assert FENCE_OPEN_PREFIX not in left
    assert FENCE_CLOSE not in left


@given(st.lists(PIECES, max_size=30).map("".join))
def test_what_stands_inside_a_fence_is_gone(text: str) -> None:
    left, blocks = cut(f"kept{OPEN}{text.replace(FENCE_CLOSE, '')}recalled")
    assert (left, blocks >= 1) == ("kept", True)


@pytest.mark.parametrize("piece", ["x<system-reminder>", "<system-reminder></bash-stdout>", OPEN, FENCE_CLOSE])
def test_time_is_linear_in_the_text(piece: str) -> None:
    started = time.monotonic()
    cut(piece * 50_000)
    assert time.monotonic() - started < 10  # quadratic work on this much takes minutes
