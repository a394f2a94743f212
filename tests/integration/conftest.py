"""What the integration tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.integration.db.rows import new_id


@pytest.fixture(scope="session", autouse=True)
def _no_chance_audits() -> Iterator[None]:
    """No memory made here falls into the audited tenth by chance: a test that wants an audit picks the id."""
    with pytest.MonkeyPatch.context() as patch:
        for module in ("workers.redaction", "workers.verdicts", "db.reclassify"):
            patch.setattr(f"{module}.uuid7", new_id)
        yield
