"""Waiting for a condition instead of sleeping for a guess."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def wait_for(condition: Callable[[], T], within_seconds: float = 20.0) -> T:
    """The first truthy answer of `condition`, asked every hundredth of a second. Fails when time is up."""
    deadline = time.monotonic() + within_seconds
    while not (answer := condition()):
        assert time.monotonic() < deadline, f"not within {within_seconds} s"
        time.sleep(0.01)
    return answer
