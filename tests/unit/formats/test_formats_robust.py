"""Nothing crashes a reader, and everything it could not read is counted."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import formats
from pipeline.errors import FormatError
from pipeline.formats.reader import Reader, ReadResult
from pipeline.formats.reading import TURN_CHARS_MAX

BY_NAME = {reader.name: reader for reader in formats.READERS}
USER_LINE = {"type": "user", "uuid": "u", "message": {"role": "user", "content": "hi"}}


def accounted(result: ReadResult) -> bool:
    return result.records == result.read + sum(result.ignored.values()) + len(result.unread)


def claude_log(*rows: str) -> str:
    return "\n".join([json.dumps(USER_LINE), *rows])


BROKEN_ROWS = [
    ("truncated line", '{"type": "user", "mess', "truncated line"),
    ("not an object", "[1, 2]", "not an object"),
    ("unknown record", '{"type": "hologram"}', "unknown record type 'hologram'"),
    ("no type", "{}", "unknown record type '?'"),
    ("deep nesting", "[" * 100_000 + "]" * 100_000, "nested too deeply"),
]


@pytest.mark.parametrize(("case", "row", "reason"), BROKEN_ROWS, ids=[c[0] for c in BROKEN_ROWS])
def test_a_broken_row_is_counted_with_its_line(case: str, row: str, reason: str) -> None:
    result = formats.read(claude_log(row))
    assert [(unread.line_number, unread.reason) for unread in result.unread] == [(2, reason)]
    assert (result.records, result.read) == (2, 1)


def test_a_broken_row_in_the_middle_costs_only_itself() -> None:
    result = formats.read(claude_log("oops", json.dumps(USER_LINE)))
    assert [(unread.line_number, unread.reason) for unread in result.unread] == [(2, "not JSON")]
    assert len(result.transcript.turns) == 2


TEXTS = [
    ("NUL", "a\\u0000b", "a\u2400b"),
    ("lone surrogate", "a\\ud800b", "a\ufffdb"),
    ("line separator inside a string", "a\u2028b", "a\u2028b"),
]


@pytest.mark.parametrize(("case", "written", "read"), TEXTS, ids=[c[0] for c in TEXTS])
def test_what_cannot_be_stored_is_made_visible(case: str, written: str, read: str) -> None:
    row = json.dumps(USER_LINE).replace('"hi"', f'"{written}"')
    assert [turn.text for turn in formats.read(row).transcript.turns] == [read]


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "BOM"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"], ids=["LF", "CRLF", "blank lines"])
def test_byte_order_mark_and_line_ends(mark: str, end: str) -> None:
    result = formats.read(mark + end.join([json.dumps(USER_LINE)] * 2) + end)
    assert (result.records, result.read) == (2, 2)


def test_a_huge_text_is_cut_in_the_middle_and_says_how_much() -> None:
    content = "head" + "x" * (TURN_CHARS_MAX + 1000) + "tail"
    row = USER_LINE | {"message": {"content": [{"type": "tool_result", "content": content}]}}
    result = formats.read(json.dumps(row))
    (turn,) = result.transcript.turns
    assert turn.text.startswith("head")
    assert turn.text.endswith("tail")
    assert "[… 1008 characters cut …]" in turn.text
    assert len(turn.text) < TURN_CHARS_MAX + 100
    assert result.left_out == {"text over the cap": 1}


def test_a_log_that_opens_with_a_huge_record_is_known() -> None:
    row = USER_LINE | {"message": {"role": "user", "content": "x" * 200_000}}
    assert formats.detect(json.dumps(row)).name == "claude_code"


def test_of_a_truncated_document_the_messages_before_the_break_are_read() -> None:
    whole = json.dumps({"session_id": "s", "messages": [{"role": "user", "content": str(n)} for n in range(5)]})
    result = formats.read(whole[: whole.index('"3"')])
    assert [turn.text for turn in result.transcript.turns] == ["0", "1", "2"]
    assert [(unread.line_number, unread.reason) for unread in result.unread] == [(4, "truncated or not JSON from here")]
    assert result.session == "s"


@pytest.mark.parametrize("text", ["", " \n\t\n", "no log at all", "{}", "[]", "{\n}", "null"])
def test_no_reader_knows_it(text: str) -> None:
    with pytest.raises(FormatError) as refusal:
        formats.read(text)
    assert all(name in str(refusal.value) for name in BY_NAME)
    assert "--format" in str(refusal.value)


def test_an_unknown_format_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(FormatError, match=r"'clade_code'.*claude_code"):
        formats.read("{}", "clade_code")


@pytest.mark.parametrize("reader", formats.READERS, ids=list(BY_NAME))
@pytest.mark.parametrize("text", ["", "\x00", "nonsense", "{}", "[]", "[[]]", '{"messages": 3}', "{" * 5000, "\ufeff"])
def test_a_named_reader_raises_nothing(reader: Reader, text: str) -> None:
    assert accounted(reader.read(text))


WORDS = st.sampled_from(
    [
        "user",
        "assistant",
        "tool",
        "system",
        "text",
        "type",
        "role",
        "content",
        "message",
        "payload",
        "data",
        "messages",
        "history",
        "turns",
        "tool_use",
        "tool_result",
        "response_item",
        "event_msg",
        "user_message",
        "attachment",
        "queued_command",
        "user.message",
        "session",
        "id",
        "parts",
        "result",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS | st.text(max_size=4), inner, max_size=5),
    max_leaves=20,
)


def variants(value: Any) -> list[str]:
    """One foreign value where each reader looks: as rows, as a list, as a document's messages."""
    rows = [
        value,
        {"type": value, "role": value},
        {"type": "user", "uuid": "u", "message": {"content": value}, "origin": value},
        {"type": "attachment", "attachment": value},
        {"type": "response_item", "payload": value},
        {"type": "response_item", "payload": {"type": "message", "role": "user", "content": value}},
        {"type": "message", "message": value},
        {"type": "user.message", "data": value},
        {"type": "assistant.message", "data": {"toolRequests": value, "content": value}},
        {"type": "gemini", "content": value, "toolCalls": value},
        {"role": "user", "content": value, "tool_calls": value, "timestamp": value},
    ]
    documents = [value, [value], rows, {"messages": [value, *rows]}, {"history": rows, "turns": rows}]
    return ["\n".join(json.dumps(row) for row in rows), *(json.dumps(document) for document in documents)]


@settings(max_examples=60, deadline=None)
@given(JSON)
def test_no_foreign_value_crashes_a_reader(value: Any) -> None:
    for text in variants(value):
        for reader in formats.READERS:
            assert isinstance(reader.sniff(text), bool)
            assert accounted(reader.read(text))
            assert accounted(reader.read(text[: len(text) // 2]))
