"""The figures of recall at scale, as they are printed and as they are written."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from tests.benchmarks.recall.scale import Scale
from tests.benchmarks.recall.sides import EARLY_SIDE


def flat(scale: Scale) -> dict[str, Any]:
    """What stands in .bench/recall.json; times in milliseconds, sizes in bytes."""
    best = [scale.best(band)[1] for band in scale.bands]
    middle = float(np.percentile([ms for told in best for ms in told.milliseconds], 50))
    return {
        "memories": scale.memories,
        "recall_at_10": min(scale.told["recall"][band].recall for band in scale.bands),
        "band_recalls": {band: scale.told["recall"][band].recall for band in scale.bands},
        "short_answers": sum(told.short for side in ("recall", EARLY_SIDE) for told in scale.told[side].values()),
        "early_recall_at_10": min(told.recall for told in scale.told[EARLY_SIDE].values() if told.recalls),
        "p50_ms": _over_all(scale, "recall", 50),
        "p99_ms": _over_all(scale, "recall", 99),
        "best_sql_p50_ms": middle,
        "ratio_best_sql": _over_all(scale, "recall", 50) / middle,
        "ratio_best_sql_with_transaction": _over_all(scale, "recall and its transaction", 50) / middle,
        "hybrid_p50_ms": _over_all(scale, "hybrid", 50),
        "hybrid_p99_ms": _over_all(scale, "hybrid", 99),
        "bands": {band: _band(scale, band) for band in scale.bands},
        "build_seconds": scale.loaded.seconds,
        "bytes": scale.loaded.bytes_of,
        "resident_bytes": scale.resident_bytes,
        "housekeeping_round_seconds": scale.housekeeping_seconds,
    }


def show_locomo(ranked: dict[str, Any]) -> None:
    table = Table("what can be found", "R@1", "R@5", "R@10", "R@20", "kept")
    for side, scored in ranked["locomo"].items():
        kept = ", ".join(f"{what} {count:,}" for what, count in scored["kept"].items())
        table.add_row(side, *(f"{scored[f'r{k}']:.3f}" for k in (1, 5, 10, 20)), kept)
    Console().print(table)


def _over_all(scale: Scale, side: str, percent: int) -> float:
    """Over every question, of which each band has as many."""
    return float(np.percentile([ms for told in scale.told[side].values() for ms in told.milliseconds], percent))


def _band(scale: Scale, band: str) -> dict[str, Any]:
    name, best = scale.best(band)
    recall = scale.told["recall"][band]
    return {
        "best_sql": name,
        "best_sql_recall": best.recall,
        "best_sql_p50_ms": best.p50,
        "ratio_best_sql": recall.p50 / best.p50,
        **{f"{side}_p50_ms": told[band].p50 for side, told in scale.told.items() if band in told},
        **{f"{side}_p99_ms": told[band].p99 for side, told in scale.told.items() if side not in scale.hand_written},
        "short_answers": recall.short,
        "early_recall": scale.told[EARLY_SIDE][band].recall,
        "early_short_answers": scale.told[EARLY_SIDE][band].short,
    }


def show(scale: Scale) -> None:
    figures = flat(scale)
    table = Table(
        "rows of the org", "recall@10", "short", "p50", "p99", "with transaction", "as of then", "hybrid p50", "p99",
        "common word", "best SQL p50", "ratio", "which", title=f"{scale.memories:,} memories; milliseconds",
    )  # fmt: skip
    for band in scale.bands:
        recall, whole, then, hybrid, common = (
            scale.told[side][band]
            for side in ("recall", "recall and its transaction", EARLY_SIDE, "hybrid", "hybrid, a common word")
        )
        name, best = scale.best(band)
        table.add_row(
            band, f"{recall.recall:.4f}", str(recall.short), f"{recall.p50:.2f}", f"{recall.p99:.1f}",
            f"{whole.p50:.2f}", f"{then.p50:.2f} ({then.recall:.3f})", f"{hybrid.p50:.2f}", f"{hybrid.p99:.1f}",
            f"{common.p50:.2f}", f"{best.p50:.2f}", f"{recall.p50 / best.p50:.2f}", f"{name} ({best.recall:.3f})",
        )  # fmt: skip
    console = Console(width=150)
    console.print(table)
    console.print(
        f"all bands: p50 {figures['p50_ms']:.2f}, p99 {figures['p99_ms']:.1f}, best SQL "
        f"{figures['best_sql_p50_ms']:.2f}, [bold]ratio {figures['ratio_best_sql']:.2f}[/bold] (at most 1.5), "
        f"with the transaction {figures['ratio_best_sql_with_transaction']:.2f}"
    )
    console.print("built in seconds: " + ", ".join(f"{step} {took:.0f}" for step, took in scale.loaded.seconds.items()))
    sizes = list(scale.loaded.bytes_of.items())[:6]
    console.print("MB: " + ", ".join(f"{name} {size / 1e6:.0f}" for name, size in sizes), end="; ")
    console.print(f"server resident {scale.resident_bytes / 1e6:.0f}; a round of housekeeping "
                  f"{scale.housekeeping_seconds:.2f} s")  # fmt: skip
