"""A model's answer is taken whole or not at all, and the refusal says why without repeating it."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.candidate import MAX_CANDIDATES
from pipeline.errors import MalformedEnvelope
from pipeline.extraction.envelope import MAX_MESSAGE_CHARACTERS, parse


def candidate(**changes: object) -> dict[str, object]:
    return {"content": "Exports run at six.", "kind": "fact", "rationale": "Only said, never written.", **changes}


def document(*candidates: object, **more: object) -> str:
    return json.dumps({"candidates": list(candidates), **more})


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ('{"candidates": []}', 0),
        ('  \n{"candidates": []}\n ', 0),
        ('```json\n{"candidates": []}\n```', 0),
        ('```\n{"candidates": []}\n```', 0),
        ('```json\r\n{"candidates": []}\r\n```', 0),
        (document(candidate(), candidate(kind="rule")), 2),
        (document(candidate(content="A fence ``` inside a text is text.")), 1),
        (document(candidate(content="x" * 2000)), 1),
        (document(candidate(confidence=1)), 1),
        (document(candidate(when="2026-02-03T10:00:00+01:00", evidence=[{"turn": 0, "quote": "at six"}])), 1),
        (document(*[candidate()] * MAX_CANDIDATES), MAX_CANDIDATES),
    ],
)
def test_accepts(text: str, count: int) -> None:
    assert len(parse(text).candidates) == count


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("null", "document"),
        ("[]", "document"),
        ("{}", "candidates: Field required"),
        ('{"candidates": null}', "candidates"),
        ('Sure! {"candidates": []}', "not one JSON document"),
        ('{"candidates": []} {"candidates": []}', "not one JSON document"),
        ('```json\n{"candidates": []}\n```\nDone.', "not one JSON document"),
        ('```\n{"candidates": []}\n```\n```\n{"candidates": []}\n```', "not one JSON document"),
        ('{"candidates": [', "not one JSON document"),
        ('{"candidates": [], "candidates": []}', "field candidates is given twice"),
        (
            '{"candidates": [{"content": "a", "content": "b", "kind": "fact", "rationale": "r"}]}',
            "content is given twice",
        ),
        (document(status="active"), "status: Extra inputs"),
        (document(candidate(), candidate(importance=5)), "candidates[1].importance: Extra inputs"),
        (document(candidate(stakes="low")), "candidates[0].stakes"),
        (document(candidate(expires_at="2030-01-01")), "candidates[0].expires_at"),
        (document(candidate(content="x" * 2001)), "candidates[0].content"),
        (document(candidate(content="   ")), "candidates[0].content"),
        (document(candidate(kind="turn")), "candidates[0].kind"),
        (document(candidate(rationale="")), "candidates[0].rationale"),
        (document({"content": "a", "kind": "fact"}), "candidates[0].rationale: Field required"),
        (document(candidate(confidence="0.9")), "candidates[0].confidence"),
        (document(candidate(confidence=True)), "candidates[0].confidence"),
        (document(candidate(confidence=1.5)), "candidates[0].confidence"),
        ('{"candidates": [{"content": "a", "kind": "fact", "rationale": "r", "confidence": NaN}]}', "NaN"),
        ('{"candidates": [{"content": "a", "kind": "fact", "rationale": "r", "confidence": -Infinity}]}', "Infinity"),
        ('{"candidates": [{"content": "a", "kind": "fact", "rationale": "r", "confidence": 1e999}]}', "out of range"),
        (
            '{"candidates": [{"content": "a", "kind": "fact", "rationale": "r", "confidence": ' + "9" * 5000 + "}]}",
            "range",
        ),
        (document(candidate(when="2026-02-03T10:00:00")), "candidates[0].when"),
        (document(candidate(when="yesterday")), "candidates[0].when"),
        (document(candidate(evidence=[{"turn": -1, "quote": "q"}])), "candidates[0].evidence[0].turn"),
        (document(candidate(evidence=[{"turn": "0", "quote": "q"}])), "candidates[0].evidence[0].turn"),
        (document(candidate(evidence=[{"turn": 0, "quote": "q" * 501}])), "candidates[0].evidence[0].quote"),
        (document(*[candidate()] * (MAX_CANDIDATES + 1)), "candidates"),
        ("[" * 100_000, ""),
    ],
)
def test_refuses_and_names_the_place(text: str, named: str) -> None:
    with pytest.raises(MalformedEnvelope) as refused:
        parse(text)
    assert named in str(refused.value)
    assert len(str(refused.value)) <= MAX_MESSAGE_CHARACTERS


@pytest.mark.parametrize(
    "text",
    [
        document(candidate(content="marker-4711 " * 300)),
        document(candidate(kind="marker-4711")),
        document(candidate(**{"my password is marker-4711": 1})),
        document(candidate(when="marker-4711")),
        "marker-4711 is what I found",
        '{"the code is marker-4711": 1, "the code is marker-4711": 2}',
    ],
)
def test_the_refusal_repeats_no_content(text: str) -> None:
    with pytest.raises(MalformedEnvelope) as refused:
        parse(text)
    assert "marker-4711" not in str(refused.value)


def test_many_faults_stay_within_the_limit() -> None:
    with pytest.raises(MalformedEnvelope) as refused:
        parse(document(*[candidate(kind="x", importance=1)] * 100))
    assert len(str(refused.value)) == MAX_MESSAGE_CHARACTERS


def test_what_postgres_cannot_hold_is_made_visible() -> None:
    text = '{"candidates": [{"content": "nul \\u0000 and \\ud800 end", "kind": "fact", "rationale": "r"}]}'
    [only] = parse(text).candidates
    assert only.content == "nul ␀ and � end"


@given(st.text(max_size=300))
def test_any_text_parses_or_is_refused(text: str) -> None:
    with suppress(MalformedEnvelope):
        assert parse(text).candidates is not None


@given(st.lists(st.text(st.characters(exclude_categories=["Cc", "Cs", "Z"]), min_size=1, max_size=50), max_size=5))
def test_contents_come_back_in_order(contents: list[str]) -> None:
    parsed = parse(document(*[candidate(content=content) for content in contents]))
    assert [item.content for item in parsed.candidates] == contents
