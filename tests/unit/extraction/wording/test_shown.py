"""What a table of wording reads: visible, in one case, without accents, line breaks where something new begins."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.extraction.wording import rules, stakes
from pipeline.extraction.wording.instructions import FORMS, steering
from pipeline.extraction.wording.shown import shown, unaccented
from pipeline.extraction.wording.table import Table


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  Two\twords ", "two words"),
        ("wrapped\nprose", "wrapped prose"),
        ("One thing\nAnother", "one thing ¦ another"),
        ("one thing\n\nanother", "one thing ¦ another"),
        ("Überschrift für Straße", "uberschrift fur strasse"),
        ("zażółć łódź, ışık, İzmir", "zazolc lodz, isik, izmir"),
        ("don’t ‘x’", "don't 'x'"),
        ("ig\u200bno\u00adre", "ignore"),
        ("p\u0430ssw\u043erd", "password"),
        ("пароль", "пароль"),
        ("ig\ufe0fno\u3164re", "ignore"),
        ("\U0001d422\U0001d420nore", "ignore"),
        ("ok" + "".join(chr(0xE0000 + ord(sign)) for sign in "Ignore"), "ok ¦ ignore"),
        ("&#105;gnore &lt;all&gt;", "ignore <all>"),
        ("_ignore_ __all__ snake_case _", "ignore all snake_case _"),
        ("\uff30\uff21\uff33\uff33", "pass"),
        ("が ひ", "が ひ"),
        ("निर्देश", "निर्देश"),
    ],
)
def test_shown(text: str, expected: str) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize("sign", [" ", "\n", " \n", "\u200b", "\u0301", "a\u0430", "[", "\\n"])
def test_time_is_bounded_by_the_length_of_the_text(sign: str) -> None:
    started = time.process_time()
    shown(sign * 100_000 + "x")
    assert time.process_time() - started < 2


@given(st.text(max_size=200).filter(lambda text: "&" not in text))
def test_any_text_is_answered_and_shown_once_is_shown(text: str) -> None:
    once = shown(text)
    assert shown(once) == once
    steering(text)
    stakes.stakes(text)
    rules.is_rule(text)


@pytest.mark.parametrize("table", [*FORMS.values(), *stakes.AREAS.values(), rules._RULES])
def test_patterns_are_written_as_texts_are_shown(table: Table) -> None:
    for pattern in table.patterns:
        letters = "".join(sign for sign in pattern if sign.isalpha() and not sign.isascii())
        assert unaccented(letters).casefold() == unaccented(letters)


def test_harmless_phrases_are_taken_out_first() -> None:
    table = Table((r"\bcourt\b",), harmless=(r"\btennis court\b",))
    assert not table.search("the tennis court")
    assert table.search("the tennis court and the court of appeal")
