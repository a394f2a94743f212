"""A word is found however it is written, and not inside other words."""

from __future__ import annotations

import re

import pytest

from pipeline.redaction.contexts import SOURCES, line_before, line_behind
from pipeline.redaction.folding import fold
from pipeline.redaction.vocabulary import Vocabulary, entries, key

WORDS = Vocabulary(
    {
        "tax ID": {"tax"}, "!PAN": {"pan"}, "né": {"birth"}, "née": {"birth"}, "teléfono": {"phone"}, "kimlik": {"id"},
        "passport": {"id"}, "тел.": {"phone"},
        "身份证": {"id"}, "p.k.": {"id"}, "tel": {"phone"}, "passport no": {"no"},
    }
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("my tax id", ["tax id"]),
        ("tax-id tax_id taxID TAX.ID", ["tax-id", "tax_id", "taxID", "TAX.ID"]),
        ("user_tel=", ["tel"]),
        ("\\ntel %0Atel", ["tel", "tel"]),
        ("telNumber", ["tel"]),
        ("TELEMETRY hotel intel telling", []),
        ("PAN", ["PAN"]),
        ("frying pan", []),
        ("pan: x", ["pan"]),
        ('"pan" : x', ["pan"]),
        ("telefono TELÉFONO tele\u0301fono", ["telefono", "TELÉFONO", "tele\u0301fono"]),
        ("né née ne nee", ["né", "née", "nee"]),
        ("KİMLİK kimlik kımlık", ["KİMLİK", "kimlik", "kımlık"]),
        ("passports, passport no", ["passport", "passport no"]),
        ("тел 5, отель", ["тел"]),
        ("我的身份证号", ["身份证"]),
        ("我的tax id是", ["tax id"]),
        ("p.k. pk", ["p.k."]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    folded = fold(text)
    assert [folded.text[m.start : m.end] for m in WORDS.mentions(folded)] == words


def test_the_longest_word_says_what_is_meant() -> None:
    assert [m.meanings for m in WORDS.mentions(fold("passport no"))] == [frozenset({"no"})]


@pytest.mark.parametrize("source", SOURCES)
def test_every_word_of_the_product_is_found_by_itself(source: str) -> None:
    for _, words in entries(source):
        for word in words:
            plain = word.removeprefix("!")
            folded = fold(f"{plain} 1")
            found = Vocabulary({word: {"x"}}).mentions(folded)
            assert [key(folded.text[m.start : m.end]) for m in found] == [key(plain)], word


@pytest.mark.parametrize("source", SOURCES)
def test_labels_are_unique(source: str) -> None:
    labels = [label for label, _ in entries(source)]
    assert len(labels) == len(set(labels))
    assert all(re.fullmatch(r"[\w ]+", label) for label in labels)


def test_the_line_of_a_word() -> None:
    data = b"x\ntel: \n | 12\n34"
    assert data[5 : line_behind(data, 5, 99)] == b": \n | 12"
    assert data[line_before(data, 5, 99) : 5] == b"tel"
