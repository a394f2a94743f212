"""Every Redis key is documented in workers/keys.py, and nowhere else is one spelt out."""

from __future__ import annotations

import re

import pytest

from tests.unit.house.sources import ROOT, modules, strings

KEYS = ROOT / "workers/keys.py"
A_KEY = re.compile(r"^(afterword|rq):\S")

pytestmark = pytest.mark.skipif(not KEYS.is_file(), reason="workers/keys.py is not written yet")


def test_a_key_is_spelt_out_in_one_module() -> None:
    others = [path for path in modules().values() if path != KEYS]
    assert [
        f"{path.relative_to(ROOT)}:{line} {text}"
        for path in others
        for line, text in strings(path)
        if A_KEY.match(text)
    ] == []


def test_every_key_is_documented_once() -> None:
    keys = [text for _, text in strings(KEYS) if A_KEY.match(text)]
    assert keys
    assert len(keys) == len(set(keys))
