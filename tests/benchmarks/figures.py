"""The figures of a benchmark, as they are printed and as they are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.table import Table

from tests.benchmarks.fleet_side import MACHINE, Timed
from tests.benchmarks.idle import Idle


@dataclass(frozen=True)
class Store:
    """What stood in Postgres when a side was done; the same for every side of a pass."""

    runs: int
    memories: int
    ledger_entries: int
    vectors: int
    indexed_vectors: int
    largest_org: int


@dataclass(frozen=True)
class Pass:
    """`processes`: of the stages with more than one."""

    processes: Mapping[str, int]
    fleet: Timed
    bare: Timed
    chain: Timed | None
    store: Store


@dataclass(frozen=True)
class Figures:
    exact: Pass
    indexed: Pass
    idle: Idle

    def flat(self) -> dict[str, float]:
        """What stands in .bench/pipeline.json."""
        assert self.exact.chain is not None
        fleet, chain = self.exact.fleet.runs_per_s, self.exact.chain.runs_per_s
        indexed, bare = self.indexed.fleet.runs_per_s, self.indexed.bare.runs_per_s
        return {
            "runs_per_s": round(fleet, 1),
            "rq_chain_runs_per_s": round(chain, 1),
            "sql_runs_per_s": round(bare, 1),
            "ratio_rq_chain": round(fleet / chain, 2),
            "ratio_sql": round(indexed / bare, 3),
            "idle_worker_mb": round(self.idle.worst_mb, 1),
            "emit_to_recallable_ms_p50": round(self.idle.recallable_ms_p50, 1),
            "indexed_runs_per_s": round(indexed, 1),
            "sql_unindexed_runs_per_s": round(self.exact.bare.runs_per_s, 1),
            **asdict(self.indexed.store),
        }


def middle(times: Sequence[Timed]) -> Timed:
    """The median by rate, the slower of two."""
    return sorted(times, key=lambda timed: timed.runs_per_s)[(len(times) - 1) // 2]


def show(figures: Figures) -> None:
    console = Console(width=110)
    console.print(_rates(figures))
    for title, side in _sides(figures):
        console.print(_where(title, side))
    peaks = ", ".join(f"{name} {peak:.0f}" for name, peak in figures.idle.peak_mb.items())
    console.print(f"idle worker, peak MB: {peaks}")
    times = sorted(figures.idle.recallable_ms)
    console.print(
        f"emit to recallable: median {figures.idle.recallable_ms_p50:.0f} ms, "
        f"{times[0]:.0f} to {times[-1]:.0f} ms over {len(times)} events"
    )
    flat = figures.flat()
    console.print(
        f"[bold]{flat['ratio_rq_chain']} x the RQ chain (at least 6); {flat['ratio_sql']} x bare SQL (at least 0.4)"
    )


def _rates(figures: Figures) -> Table:
    table = Table(title=_store(figures.exact.store))
    for name in ("runs/s", "no vector indexed", "every vector indexed"):
        table.add_column(name, justify="left" if name == "runs/s" else "right")
    exact, indexed = figures.exact, figures.indexed
    table.add_row("processes", _processes(exact), _processes(indexed))
    table.add_row("fleet", f"{exact.fleet.runs_per_s:.1f}", f"{indexed.fleet.runs_per_s:.1f}")
    table.add_row("plain RQ chain", f"{exact.chain.runs_per_s:.1f}" if exact.chain else "", "")
    table.add_row("bare SQL", f"{exact.bare.runs_per_s:.1f}", f"{indexed.bare.runs_per_s:.1f}")
    return table


def _store(store: Store) -> str:
    return (
        f"{store.runs} runs, {store.memories} memories, {store.ledger_entries} ledger entries in the store at the end; "
        f"{store.largest_org} memories in the largest org"
    )


def _processes(side: Pass) -> str:
    return ", ".join(f"{count} of {name}" for name, count in side.processes.items()) + (
        ", one of every other" if side.processes else "one of each"
    )


def _sides(figures: Figures) -> list[tuple[str, Timed]]:
    exact, indexed = figures.exact, figures.indexed
    named = [("fleet", exact.fleet), ("RQ chain", exact.chain), ("bare SQL", exact.bare),
             ("fleet, indexed", indexed.fleet), ("bare SQL, indexed", indexed.bare)]  # fmt: skip
    return [(title, side) for title, side in named if side is not None]


def _where(title: str, side: Timed) -> str:
    """Where the time goes: CPU milliseconds a run, by process."""
    by_process = {name: 1000 * cpu / side.runs for name, cpu in side.cpu_seconds.items() if name != MACHINE}
    spent = ", ".join(f"{name} {cpu:.2f}" for name, cpu in by_process.items() if cpu > 0.005)
    return (
        f"{title}: {side.seconds:.1f} s for {side.runs} runs; CPU ms a run: {spent}, together "
        f"{sum(by_process.values()):.2f}; {side.cores:.2f} cores busy, others' work {side.cores_of_others:.2f}"
    )
