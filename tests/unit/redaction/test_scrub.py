"""The scrub masks what is proven, once, and the redactor replaces HIGH and leaves LOW."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from pipeline.redaction.classes import ClassTier, tier_of
from pipeline.redaction.detectors import ALL, PROVEN
from pipeline.redaction.folding import fold
from pipeline.redaction.redactor import inspect
from pipeline.redaction.scrub import Mask, TurnMask, masked_classes, scrub, scrub_raw, scrub_transcript
from pipeline.redaction.span import Triggered
from pipeline.session import Role, Transcript, Trust, Turn

AWS = "AKIAIOSFODNN7EXAMPLE"
GITHUB = "ghp_" + "Q7wE4rT1yU8iO2pA5sD9fG3hJ6kL0zXcV7bN"
PIECES = [
    "password is ",
    "TOKEN=",
    '"apiKey": "',
    "secret(",
    ";",
    "'",
    "\nkind: Secret\ndata:\n  x: ",
    "curl -u ",
    "a9X!kq",
    AWS,
    GITHUB,
    "4111 1111 1111 1111",
    "4111111111111111",
    "SSN 536-90-4399",
    "536-90-4399",
    "DE89 3704 0044 0532 0130 00",
    "postgres://u:hunter22@db/x",
    "Authorization: Bearer ",
    "-----BEGIN PRIVATE KEY-----\n",
    "-----END PRIVATE KEY-----",
    "info@example.com",
    "+44 20 7946 0958",
    "8.8.4.4",
    "[REDACTED:secret]",
    "[REDACTED:",
    "ssn",
    " ",
    "\n",
    ":",
    "@",
    "-",
    "1",
    "密",
    "\u200b",
    "\\n",
]
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=12).map("".join)


def test_scrub_masks_what_is_proven_and_leaves_the_rest() -> None:
    scrubbed = scrub(f"key {AWS}, card 4111111111111111, mail info@example.com, ref 536-90-4399")
    assert scrubbed.text == "key [REDACTED:secret], card [REDACTED:cc], mail info@example.com, ref 536-90-4399"
    assert scrubbed.masks == (Mask("secret", 4), Mask("cc", 28))


@pytest.mark.parametrize("detector", PROVEN, ids=lambda detector: detector.name)
@given(text=texts)
def test_no_hit_stands_where_its_trigger_does_not(detector: Triggered, text: str) -> None:
    if detector.detect(text):
        assert re2.compile(detector.trigger).search(fold(text).data)


@given(texts)
def test_scrubbing_twice_is_scrubbing_once(text: str) -> None:
    once = scrub(text)
    assert scrub(once.text) == once


@given(texts)
def test_nothing_proven_is_left_outside_masks(text: str) -> None:
    clean = scrub(text).text
    assert inspect(clean, PROVEN).spans == ()


@given(texts)
def test_no_part_of_a_high_span_survives_at_its_place(text: str) -> None:
    inspection = inspect(text, ALL)
    high = [span for span in inspection.spans if tier_of(span.cls) is ClassTier.HIGH]
    rebuilt, position = "", 0
    for span in high:
        rebuilt += text[position : span.start] + f"[REDACTED:{span.cls}]"
        position = span.end
    assert inspection.text_redacted == rebuilt + text[position:]
    assert {span.cls for span in inspection.spans} <= inspection.classes


@given(texts, st.sampled_from([AWS, GITHUB, "4111111111111111", "DE89370400440532013000", "zoe.q@example.com"]), texts)
def test_a_high_value_standing_alone_never_survives(before: str, value: str, after: str) -> None:
    text = f"{before} | {value} | {after}"
    alone = text.count(value) == 1
    assert not alone or value not in inspect(text, ALL).text_redacted


def test_low_stays_verbatim_and_is_listed() -> None:
    inspection = inspect(f"call +44 20 7946 0958 with {AWS}", ALL)
    assert inspection.text_redacted == "call +44 20 7946 0958 with [REDACTED:secret]"
    assert inspection.classes == {"phone", "secret"}


def test_a_mask_counts_as_a_hit_of_its_class() -> None:
    assert masked_classes("the key [REDACTED:secret] and [REDACTED:cc]") == {"secret", "cc"}
    assert inspect("paid with [REDACTED:cc]", ALL).classes == {"cc"}
    assert masked_classes("[REDACTED:] [redacted:cc]") == frozenset()


def test_what_somebody_typed_as_a_mask_is_no_label_and_yet_a_hit() -> None:
    """A class goes into the ledger and onto metrics, for good."""
    inspection = inspect("ask [REDACTED:ana_silva] about it", ALL)
    assert inspection.classes == {"unknown"}
    assert tier_of("unknown") is ClassTier.HIGH
    assert scrub("ask [REDACTED:ana_silva]").masks == (Mask("unknown", 4),)


def test_a_transcript_is_scrubbed_turn_by_turn() -> None:
    at = datetime(2025, 3, 1, tzinfo=UTC)
    turns = (
        Turn(role=Role.USER, text="hello", trust=Trust.USER, at=at),
        Turn(role=Role.TOOL, text=f"env\n{AWS}", trust=Trust.UNTRUSTED, tool="bash"),
        Turn(role=Role.USER, text="bye", trust=Trust.USER, name=f"Ana {AWS}"),
    )
    scrubbed, masks = scrub_transcript(Transcript(turns=turns))
    assert [turn.text for turn in scrubbed.turns] == ["hello", "env\n[REDACTED:secret]", "bye"]
    assert scrubbed.turns[0] == turns[0]
    assert (scrubbed.turns[1].tool, scrubbed.turns[1].trust) == ("bash", Trust.UNTRUSTED)
    assert scrubbed.turns[2].name == "Ana [REDACTED:secret]"
    assert masks == (TurnMask(1, "secret", 4),)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"{bad \xff " + AWS.encode(), "{bad \ufffd [REDACTED:secret]"),
        (f"\x00{AWS}\ud800", "\u2400[REDACTED:secret]\ufffd"),
        (b"", ""),
    ],
)
def test_input_that_does_not_parse_is_fit_to_be_stored(data: bytes | str, text: str) -> None:
    assert scrub_raw(data) == text
