"""The circuit breaker by itself: a table of what happens to it, and what it then lets through."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.extraction.circuit import Circuit, CircuitState


def circuit() -> Circuit:
    return Circuit(cool_down_seconds=30, failures_max=3)


def opened() -> Circuit:
    it = circuit()
    for at in range(3):
        assert it.admit(at) == 0
        it.failed(at)
    return it


def test_failures_that_are_not_in_a_row_open_nothing() -> None:
    it = circuit()
    for at in range(20):
        assert it.admit(at) == 0
        if at % 3 == 2:
            it.answered()
        else:
            it.failed(at)
    assert it.state is CircuitState.CLOSED


def test_an_open_one_says_how_long_and_then_lets_one_through() -> None:
    it = opened()
    assert it.state is CircuitState.OPEN
    assert it.admit(10) == 22
    assert it.admit(32) == 0
    assert it.state is CircuitState.HALF_OPEN
    assert it.admit(32) == 30, "a second one waits while the first asks"


def test_what_the_one_finds_decides() -> None:
    it = opened()
    it.admit(32)
    it.failed(40)
    assert (it.state, it.admit(41)) == (CircuitState.OPEN, 29)
    assert it.admit(70) == 0
    it.answered()
    assert (it.state, it.admit(71)) == (CircuitState.CLOSED, 0)


def test_an_endpoint_that_asks_for_longer_gets_longer() -> None:
    it = circuit()
    for at in range(3):
        it.failed(at, wait_seconds=100)
    assert it.admit(10) == 92


@pytest.mark.parametrize("late", [5, 25])
def test_calls_that_began_before_it_opened_do_not_hold_it_open(late: float) -> None:
    it = opened()
    it.failed(late)
    assert it.admit(32) == 0


def test_an_answer_that_comes_late_closes_it() -> None:
    it = opened()
    it.answered()
    assert it.admit(5) == 0


def test_one_that_never_asked_leaves_its_place_to_the_next() -> None:
    it = opened()
    it.admit(32)
    it.abandoned()
    assert it.admit(33) == 0


@given(st.lists(st.sampled_from(["admit", "answered", "failed", "abandoned"]), max_size=60))
def test_it_never_shuts_for_good(moves: list[str]) -> None:
    it = circuit()
    for at, move in enumerate(moves):
        getattr(it, move)(*([at] if move in ("admit", "failed") else []))
    it.abandoned()
    assert it.admit(len(moves) + 30) == 0
