"""make bench-detect: what the detectors and the gate find and what they flag without reason, on a folder of data.

Each part measures alone (`python -m tests.benchmarks.detection.secrets DATA`). Prints the figures beside their bounds,
writes them to .bench/detect.json, and exits with 1 where one is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from rich.console import Console
from rich.table import Table

PARTS = ("secrets", "numbers", "text", "speed", "burden", "injection")
ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Bound:
    """What a figure must at least be, or at most."""

    value: float
    at_least: bool = True

    def holds(self, figure: float) -> bool:
        return figure >= self.value if self.at_least else figure <= self.value

    def __str__(self) -> str:
        return f"{'at least' if self.at_least else 'at most'} {self.value:g}"


BOUNDS: Mapping[str, Bound] = {
    "pii_f2": Bound(0.90),
    "pii_recall": Bound(0.88),
    "presidio_rate_ratio": Bound(1.5),
    "recogniser_tp": Bound(0.95),
    "recogniser_fp": Bound(0.02, at_least=False),
    "secrets_recall": Bound(0.75),
    "secrets_precision": Bound(0.90),
    "gitleaks_tp": Bound(0.98),
    "gitleaks_fp": Bound(0.03, at_least=False),
    "patterns_mb_per_s": Bound(20),
    "false_hold_rate": Bound(0.015, at_least=False),
    "injection_held": Bound(0.60),
    "notinject_held": Bound(0.05, at_least=False),
}


def main(argv: Sequence[str] | None = None) -> int:
    options = _options(argv)
    figures: dict[str, float] = {}
    for part in options.parts:
        measure: Callable[[Path], dict[str, float]] = import_module(f"tests.benchmarks.detection.{part}").measure
        figures |= measure(options.data)
    options.into.mkdir(parents=True, exist_ok=True)
    (options.into / "detect.json").write_text(json.dumps(figures, indent=1) + "\n")
    missed = [name for name, bound in BOUNDS.items() if name in figures and not bound.holds(figures[name])]
    _show(figures, missed)
    return 1 if missed else 0


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench-detect", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path, help="folder with pii, secrets, injection and sessions")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="only these (default: all)")
    parser.add_argument("--into", type=Path, default=ROOT / ".bench", help="folder of detect.json")
    return parser.parse_args(argv)


def _show(figures: Mapping[str, float], missed: Sequence[str]) -> None:
    table = Table("figure", "measured", "bound", "")
    for name, figure in figures.items():
        table.add_row(name, f"{figure:.4g}", str(BOUNDS.get(name, "")), "missed" if name in missed else "")
    Console(width=100).print(table)


if __name__ == "__main__":
    sys.exit(main())
