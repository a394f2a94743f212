"""make bench-peers: adding and searching, beside mem0 and LangGraph's PostgresStore, in one run on one Postgres.

The same texts, and vectors made before: every embedder is a look-up. Prints the figures and writes .bench/peers.json.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import psycopg
from psycopg import sql
from rich.console import Console
from rich.table import Table

from tests.benchmarks.fleet_side import run_fleet
from tests.benchmarks.peers.rows import Rows, load_langgraph, load_mem0, rows, save
from tests.benchmarks.peers.sides import Peer, Searched, make_ours, our_search, peer_search
from tests.benchmarks.pipeline import ORG_RUNS_MAX, ORGS
from tests.benchmarks.recording import FACTS, Recording, record
from tests.benchmarks.site import Site, opened

ROOT = Path(__file__).parents[3]
NAMES = ("mem0", "langgraph")
LOADERS = {"mem0": load_mem0, "langgraph": load_langgraph}
FIRST_ROWS = 1_000
CHUNK = 250
MANY = 100
"""Rows in one call of a peer's batch."""


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    options = _options(argv)
    runs = math.ceil(options.rows / FACTS)
    recording = record(runs, max(ORGS, math.ceil(2 * runs / ORG_RUNS_MAX)), None, org_runs_max=ORG_RUNS_MAX)
    sets = [rows(size, options.questions) for size in options.sizes]
    with tempfile.TemporaryDirectory(prefix="afterword-peers-") as home, ExitStack() as stack:
        os.chmod(home, 0o711)
        recording.save(Path(home))
        folder = Path(home) / "peers"
        folder.mkdir()
        save(folder, sets, recording)
        site = stack.enter_context(opened(Path(home), sorted(set(recording.orgs))))
        peers = {name: _peer(site, options.python, name, folder) for name in NAMES}
        for peer in peers.values():
            stack.callback(peer.close)
        figures = _add(site, recording, peers, options) | _search(site, sets, peers)
    figures |= _ratios(figures, options.sizes)
    _show(figures)
    options.into.mkdir(parents=True, exist_ok=True)
    (options.into / "peers.json").write_text(json.dumps(figures, indent=1) + "\n")
    return figures


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench-peers", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--python", type=Path, required=True, help="of the environment with the peers")
    parser.add_argument("--rows", type=int, default=10_000, help="added by each side (default 10,000)")
    parser.add_argument("--seconds", type=float, default=600, help="a peer may take for them (default 600)")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 100_000], help="rows that are searched")
    parser.add_argument("--questions", type=int, default=200, help="asked at each size (default 200)")
    parser.add_argument("--into", type=Path, default=ROOT / ".bench", help="folder of peers.json")
    return parser.parse_args(argv)


def _peer(site: Site, python: Path, name: str, folder: Path) -> Peer:
    """In a database of its own."""
    with psycopg.connect(site.postgres.url(), autocommit=True) as conn:
        conn.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    return Peer(python, name, site.postgres.url(name), folder)


def _add(site: Site, recording: Recording, peers: dict[str, Peer], options: argparse.Namespace) -> dict[str, float]:
    """Rows a second: over the first thousand, over all, and for the peers in calls of a hundred."""
    first = min(FIRST_ROWS, options.rows)
    figures: dict[str, float] = {}
    for label, count in (("first", first), ("all", options.rows)):
        runs = math.ceil(count / FACTS)
        with site.database() as database:
            timed = run_fleet(site, database, replace(recording, events=recording.events[:runs]), {})
        figures[f"afterword_{label}_adds_per_s"] = FACTS * timed.runs_per_s
        for name, peer in peers.items():
            if label == "first":
                figures[f"{name}_first_adds_per_s"] = first / peer.ask("add", [0, first])
            else:
                figures |= _add_on(name, peer, first, options, first / figures[f"{name}_first_adds_per_s"])
    for name, peer in peers.items():
        figures[f"{name}_batch_adds_per_s"] = (
            10 * MANY / sum(peer.ask("put_many", [at, at + MANY]) for at in range(0, 10 * MANY, MANY))
        )
    return figures


def _add_on(name: str, peer: Peer, done: int, options: argparse.Namespace, spent: float) -> dict[str, float]:
    while done < options.rows and spent < options.seconds:
        upto = min(done + CHUNK, options.rows)
        spent += peer.ask("add", [done, upto])
        done = upto
    return {f"{name}_all_adds_per_s": done / spent, f"{name}_rows_added": done}


def _search(site: Site, sets: Sequence[Rows], peers: dict[str, Peer]) -> dict[str, float]:
    """Every question is asked of every side in turn."""
    figures: dict[str, float] = {}
    for place, one in enumerate(sets):
        for name, peer in peers.items():
            peer.ask("open", one.name)
            LOADERS[name](site.postgres.url(name), one)
        offset = sum(len(before.asked) for before in sets[:place])
        with our_search(make_ours(site.postgres, one)) as ours:
            sides = {
                "afterword_vector": lambda rows, number, ask=ours: ask(rows, number, False),
                "afterword_hybrid": lambda rows, number, ask=ours: ask(rows, number, True),
                **{name: peer_search(peer, offset) for name, peer in peers.items()},
            }
            searched = {name: Searched() for name in sides}
            for number in range(-10, len(one.asked)):  # the first ten only warm up
                for name in _turned(list(sides), number):
                    answer = sides[name](one, abs(number))
                    if number >= 0:
                        searched[name].add(*answer, one.nearest[number])
        for name, told in searched.items():
            figures |= told.flat(f"{name}_search_{len(one.texts)}")
    return figures


def _turned(names: list[str], number: int) -> list[str]:
    turn = number % len(names)
    return names[turn:] + names[:turn]


def _ratios(figures: dict[str, float], sizes: Sequence[int]) -> dict[str, float]:
    ratios = {
        "ratio_mem0_adds": figures["afterword_all_adds_per_s"] / figures["mem0_all_adds_per_s"],
        "ratio_langgraph_adds": figures["afterword_all_adds_per_s"] / figures["langgraph_all_adds_per_s"],
    }
    for size in sizes:
        vector, hybrid, mem0, store = (
            figures[f"{side}_search_{size}_p50_ms"]
            for side in ("afterword_vector", "afterword_hybrid", "mem0", "langgraph")
        )
        ratios |= {
            f"ratio_mem0_search_{size}": mem0 / hybrid,
            f"ratio_langgraph_search_{size}": vector / store,
            f"ratio_langgraph_hybrid_{size}": hybrid / store,
        }
    return ratios


def _show(figures: dict[str, float]) -> None:
    table = Table("figure", "measured")
    for name, figure in figures.items():
        table.add_row(name, f"{figure:,.3f}")
    Console(width=90).print(table)


if __name__ == "__main__":
    main()
