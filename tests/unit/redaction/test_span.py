"""Overlaps resolve to the most severe class and leave nothing of a HIGH span in sight."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.redaction.classes import ClassTier, tier_of
from pipeline.redaction.span import Span, mask, resolve

TEXT = "0123456789" * 4
CLASSES = ["secret", "cc", "phone", "ip", "person", "a_class_of_tomorrow"]


def span(start: int, end: int, cls: str, score: float = 1.0) -> Span:
    return Span(start, end, cls, score, "test")


spans = st.builds(
    lambda start, length, cls, score: span(start, min(len(TEXT), start + length), cls, score),
    st.integers(0, len(TEXT) - 1),
    st.integers(0, 12),
    st.sampled_from(CLASSES),
    st.sampled_from([0.5, 1.0]),
)


@pytest.mark.parametrize(
    ("given_spans", "expected"),
    [
        ([], []),
        ([span(5, 5, "secret")], []),
        ([span(0, 10, "phone"), span(2, 8, "cc")], [(0, 2, "phone"), (2, 8, "cc"), (8, 10, "phone")]),
        ([span(0, 10, "cc"), span(2, 8, "phone")], [(0, 10, "cc")]),
        ([span(0, 10, "secret"), span(5, 12, "cc")], [(0, 10, "secret"), (10, 12, "cc")]),
        ([span(0, 6, "secret"), span(4, 10, "secret")], [(0, 10, "secret")]),
        ([span(0, 6, "ip", 0.5), span(0, 6, "phone", 1.0)], [(0, 6, "phone")]),
        ([span(20, 22, "ip"), span(0, 3, "cc")], [(0, 3, "cc"), (20, 22, "ip")]),
    ],
)
def test_overlaps(given_spans: list[Span], expected: list[tuple[int, int, str]]) -> None:
    assert [(s.start, s.end, s.cls) for s in resolve(given_spans)] == expected


def test_reserved_intervals_stay_untouched() -> None:
    assert [(s.start, s.end) for s in resolve([span(0, 10, "secret")], [(3, 5), (9, 14)])] == [(0, 3), (5, 9)]


@given(st.lists(spans, max_size=12))
def test_resolved_spans_are_sorted_disjoint_and_cover_the_same(given_spans: list[Span]) -> None:
    resolved = resolve(given_spans)
    assert all(a.end <= b.start for a, b in pairwise(resolved))
    covered = {i for s in given_spans for i in range(s.start, s.end)}
    assert {i for s in resolved for i in range(s.start, s.end)} == covered


@given(st.lists(spans, max_size=12))
def test_where_a_high_span_lies_the_resolved_class_is_high(given_spans: list[Span]) -> None:
    high = {i for s in given_spans if tier_of(s.cls) is ClassTier.HIGH for i in range(s.start, s.end)}
    resolved = {i for s in resolve(given_spans) if tier_of(s.cls) is ClassTier.HIGH for i in range(s.start, s.end)}
    assert resolved == high


@given(st.lists(spans, max_size=8), st.randoms())
def test_order_of_the_input_does_not_matter(given_spans: list[Span], random) -> None:  # type: ignore[no-untyped-def]
    shuffled = list(given_spans)
    random.shuffle(shuffled)
    assert resolve(shuffled) == resolve(given_spans)


def test_mask_replaces_chosen_classes_only() -> None:
    found = [span(4, 7, "secret"), span(8, 11, "phone")]
    assert mask("key abc 123 end", found) == "key [REDACTED:secret] [REDACTED:phone] end"
    assert mask("key abc 123 end", found, {"secret"}) == "key [REDACTED:secret] 123 end"
