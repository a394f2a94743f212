from __future__ import annotations

from pathlib import Path

import pytest

from ops.compose import make_fetch
from ops.settings import Settings
from pipeline.intake import fetch_nothing
from workers.fetch import Fetcher


@pytest.mark.parametrize(("lease_seconds", "deadline_seconds"), [(60, 20), (300, 20), (10, 5)])
def test_transcripts_are_fetched_from_the_hosts_of_the_setting_within_half_a_lease(
    tmp_path: Path, lease_seconds: float, deadline_seconds: float
) -> None:
    given = Settings(
        home=tmp_path, transcript_hosts="a.example, b.example:8443", lease_seconds=lease_seconds,
        extraction_deadline_seconds=1,
    )  # fmt: skip
    fetch = make_fetch(given)
    assert isinstance(fetch, Fetcher)
    assert fetch.allowed == {("a.example", 443), ("b.example", 8443)}
    assert fetch.deadline_seconds == deadline_seconds


def test_unset_nothing_is_fetched(tmp_path: Path) -> None:
    assert make_fetch(Settings(home=tmp_path)) is fetch_nothing
