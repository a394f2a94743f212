"""make bench: runs per second through all stages with model cost left out, beside a plain RQ chain and bare SQL.

Model cost means extractor, embedder and NER: recorded outputs stand in for the first two through the same ports, and
no NER is required; everything else is the shipped code in its own processes. Two passes over the same runs: in the
first every org is searched exactly and no vector enters an index, in the second every vector enters the HNSW index.
Memories of other orgs stand in the database before, since an index costs more to write the larger it is.
Prints its figures and writes them to .bench/pipeline.json.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from db.connect import connect
from db.housekeeping import EXACT_ROWS
from tests.benchmarks.bare import collect, run_bare
from tests.benchmarks.chain_side import run_chain
from tests.benchmarks.figures import Figures, Pass, Store, middle, show
from tests.benchmarks.fleet_side import ROOT, Timed, run_fleet
from tests.benchmarks.idle import measure_idle
from tests.benchmarks.recording import FACTS, Recording, record
from tests.benchmarks.site import Site, opened
from tests.services import Database

RUNS = 2_000
STORED = 20_000
EVENTS = 30
ORGS = 40
ORG_RUNS_MAX = EXACT_ROWS // FACTS - 1
"""The largest org stays below the size above which housekeeping would put its vectors into the index."""
CHAIN_WORKERS = 2
"""Three and four were no faster on two cores."""
ONE_EACH: Mapping[str, int] = {}
TWO_EMBED: Mapping[str, int] = {"embedding": 2}
"""Processes where there is more than one of a stage. Without index more are no faster on two cores; with it one
embedding process is what the others wait for, since its session alone inserts into the index."""


def main(argv: Sequence[str] | None = None) -> Figures:
    options = _options(argv)
    orgs = max(ORGS, math.ceil(2 * options.size / ORG_RUNS_MAX))
    recording = record(options.size, orgs, options.data, org_runs_max=ORG_RUNS_MAX)
    with tempfile.TemporaryDirectory(prefix="afterword-bench-") as home:
        os.chmod(home, 0o711)
        recording.save(Path(home))
        names = sorted(set(recording.orgs))
        with opened(Path(home), names, stored=options.stored, org_runs_max=ORG_RUNS_MAX) as site:
            exact = _pass(site, recording, ONE_EACH, rounds=options.rounds, chain=True)
            idle = measure_idle(site, options.events)
            site.index_all()
            indexed = _pass(site, recording, TWO_EMBED, rounds=options.rounds, chain=False)
    figures = Figures(exact, indexed, idle)
    show(figures)
    target = options.into / "pipeline.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(figures.flat(), indent=1) + "\n")
    return figures


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--size", type=int, default=RUNS, help=f"runs a side (default {RUNS}); fewer weigh the start")
    parser.add_argument("--stored", type=int, default=STORED, help=f"memories there before (default {STORED})")
    parser.add_argument("--events", type=int, default=EVENTS, help=f"events timed on an idle fleet (default {EVENTS})")
    parser.add_argument("--data", type=Path, help="folder of session logs for the conversations (default: ops/samples)")
    parser.add_argument("--rounds", type=int, default=3, help="times each side runs; the middle one counts (default 3)")
    parser.add_argument("--into", type=Path, default=Path(ROOT) / ".bench", help="folder of pipeline.json")
    return parser.parse_args(argv)


def _pass(site: Site, recording: Recording, processes: Mapping[str, int], *, rounds: int, chain: bool) -> Pass:
    """Fleet, then the statements of the rows it wrote, `rounds` times in turn; the RQ chain, the longest, once amid."""
    fleets, bares, chains = [], [], []
    for number in range(rounds):
        with site.database() as database:
            fleets.append(run_fleet(site, database, recording, processes))
            store = _store(database)
            batches = collect(database)
        with site.database() as database:
            bares.append(run_bare(site, database, batches))
            _same(_store(database), store)
        if chain and number == rounds // 2:
            chains.append(_chain(site, recording, store))
    return Pass(processes, middle(fleets), middle(bares), chains[0] if chains else None, store)


def _chain(site: Site, recording: Recording, store: Store) -> Timed:
    with site.database() as database:
        timed = run_chain(site, database, recording, CHAIN_WORKERS)
        _same(_store(database), store)
        return timed


def _same(written: Store, store: Store) -> None:
    assert written == store, f"{written} instead of {store}"


def _store(database: Database) -> Store:
    with connect(database.admin) as conn:
        row = conn.execute(
            "SELECT (SELECT count(*) FROM runs) AS runs, (SELECT count(*) FROM memories) AS memories, "
            "(SELECT count(*) FROM ledger WHERE subject_kind IN ('run', 'memory') "
            "AND action <> 'review_opened') AS ledger_entries, "
            "(SELECT count(*) FROM embeddings_1) AS vectors, "
            "(SELECT count(*) FROM embeddings_1 WHERE ann) AS indexed_vectors, "
            "(SELECT max(n) FROM (SELECT count(*) AS n FROM memories GROUP BY org_id) x) AS largest_org"
        ).fetchone()
    assert row is not None
    return Store(**row)


if __name__ == "__main__":
    main()
