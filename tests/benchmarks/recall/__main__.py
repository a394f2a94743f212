"""make bench-recall: how recall ranks, and how fast and how exact it is over many orgs.

Prints the figures and writes them to .bench/recall.json; a part measured alone leaves the figures of the others there.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.recall import figures, locomo, scale
from tests.benchmarks.recall.population import Population

PARTS = ("scale", "locomo")
MEMORIES = 200_000
QUESTIONS = 60
ROOT = Path(__file__).parents[3]


def main(argv: Sequence[str] | None = None) -> dict[str, Any]:
    options = _options(argv)
    target = options.into / "recall.json"
    options.into.mkdir(parents=True, exist_ok=True)
    written: dict[str, Any] = json.loads(target.read_text()) if target.exists() else {}
    if "scale" in options.parts:
        measured = scale.measure(Population(options.size), each=options.questions)
        figures.show(measured)
        flat = figures.flat(measured)
        written |= flat | {"sizes": written.get("sizes", {}) | {str(options.size): flat}}
    if "locomo" in options.parts and options.data:
        ranked = locomo.measure(options.data, options.into)
        figures.show_locomo(ranked)
        written |= ranked
    target.write_text(json.dumps(written, indent=1) + "\n")
    return written


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench-recall", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of measuring data, for the parts that rank conversations")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="only these (default: all)")
    parser.add_argument("--size", type=int, default=MEMORIES, help=f"memories (default {MEMORIES})")
    parser.add_argument("--questions", type=int, default=QUESTIONS, help=f"a band (default {QUESTIONS})")
    parser.add_argument("--into", type=Path, default=ROOT / ".bench", help="folder of recall.json")
    return parser.parse_args(argv)


if __name__ == "__main__":
    main()
