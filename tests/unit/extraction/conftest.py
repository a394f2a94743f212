"""The measuring data, where it is present: MEASURING_DATA, else the folder `shared/data` beside the repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

BESIDE = Path(__file__).resolve().parents[4] / "shared" / "data"


@pytest.fixture
def measuring_data() -> Path:
    folder = Path(os.environ.get("MEASURING_DATA", BESIDE))
    if not folder.is_dir():
        pytest.skip("the measuring data is not on this machine; set MEASURING_DATA to its folder")
    return folder
