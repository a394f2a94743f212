"""The interval of a share, against published values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.precision import wilson


@pytest.mark.parametrize(
    ("right", "of", "low", "high"),
    [  # Newcombe, Statistics in Medicine 17 (1998), table I, method 3, of 81/263, 15/148, 0/20, 1/29.
        (81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718),
        (0, 0, 0.0, 1.0),
    ],
)  # fmt: skip
def test_as_published(right: int, of: int, low: float, high: float) -> None:
    assert wilson(right, of) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))


@given(st.integers(1, 500).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_it_holds_the_share_and_is_the_same_seen_from_the_other_side(counts: tuple[int, int]) -> None:
    right, of = counts
    low, high = wilson(right, of)
    assert 0 <= low <= right / of + 1e-12
    assert right / of - 1e-12 <= high <= 1
    assert wilson(of - right, of) == (pytest.approx(1 - high), pytest.approx(1 - low))
