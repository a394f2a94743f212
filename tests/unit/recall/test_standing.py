"""What became of a memory between being handed out and now."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from pipeline.recall.standing import Standing, since_then
from pipeline.states import MemoryStatus

THEN = datetime(2026, 5, 4, 10, tzinfo=UTC)
DAY = timedelta(days=1)
NOW = THEN + 9 * DAY
OTHER = UUID(int=7)
PLAIN = Standing(UUID(int=1), "fact", "semantic", MemoryStatus.ACTIVE, THEN - DAY, None, None, THEN + 90 * DAY)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "as it was"),
        ({"status": MemoryStatus.SUPERSEDED, "status_at": THEN + DAY, "superseded_by": OTHER},
         f"superseded by {OTHER} 2026-05-05"),
        ({"status": MemoryStatus.SUPERSEDED, "superseded_by": OTHER}, "as it was"),  # recalled as of an earlier time
        ({"status": MemoryStatus.TOMBSTONED, "status_at": THEN + DAY}, "tombstoned 2026-05-05"),
        ({"status": MemoryStatus.TOMBSTONED, "status_at": THEN + DAY, "erased_at": NOW}, "erased 2026-05-13"),
        ({"erased_at": THEN + DAY}, "erased 2026-05-05"),
        ({"expires_at": THEN + DAY}, "expired 2026-05-05"),
        ({"expires_at": THEN + DAY, "kind": "rule"}, "as it was"),
    ],
)  # fmt: skip
def test_each_end_is_told(changes: dict[str, object], said: str) -> None:
    assert since_then(replace(PLAIN, **changes), THEN, NOW) == said  # type: ignore[arg-type]
