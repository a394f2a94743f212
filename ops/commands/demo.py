"""afterword demo: sample sessions become governed memory, on this machine, and what became of them is shown."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from redis import Redis
from redis.exceptions import RedisError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from db import embedding, ledger, orgs, overview, recall, reviews
from db.connect import Connection, DatabaseDown, DatabaseError
from db.events import Org
from db.recall import Question
from db.tokens import Bearer
from ops import logs
from ops.access import acting_as, acting_reviewer, granted_to
from ops.commands.emit import expanded, prepare_all, report
from ops.compose import make_embedder, working_detectors
from ops.credentials import redis_address
from ops.embedded.home import Home
from ops.emitting import Sender, send_until_in
from ops.processes import dies_with_parent, has_ended
from ops.settings import Settings, load
from pipeline.errors import AfterwordError
from pipeline.recall.hit import Recall
from pipeline.redaction.health import look

ORG = "demo"
SAMPLES = Path(__file__).parents[1] / "samples"
CHOICES = {
    "AFTERWORD_EXTRACTOR": "offline",
    "AFTERWORD_ALLOW_OFFLINE_EXTRACTOR": "true",
    "AFTERWORD_EMBEDDER": "local",
    "AFTERWORD_LOG_LEVEL": "warning",
}
QUESTIONS = (
    "How do we round invoice amounts?",
    "Which region does staging run in?",
    "What should I know before deploying?",
)
READY_SECONDS = 120.0
IDLE_SECONDS = 600.0
STOPPING_SECONDS = 15.0

console = Console()


class FleetDown(AfterwordError):
    """The fleet did not start. Its log says why: see demo.log in AFTERWORD_HOME/log."""


def demo(
    paths: Annotated[list[Path] | None, typer.Argument(help="your own session logs, or folders of them")] = None,
) -> None:
    """Start the stack, send sample sessions (or yours), wait until the fleet is idle, and show what became of them.

    Needs nothing but this installation; the second time it starts in seconds and takes nothing in twice.
    Example: afterword demo ~/.claude/projects/my-project
    """
    chosen = {name: value for name, value in CHOICES.items() if name not in os.environ}
    os.environ.update(chosen)
    settings = load()
    logs.configure("warning", as_json=False)
    console.print(f"extractor {settings.extractor}, embedder {settings.embedder}, data under {settings.home}")
    with running_fleet(settings), acting_as("operator", settings) as operator:
        org = _demo_org(settings, operator)
        _send(settings, paths or [SAMPLES])
        _await_idle(operator, org)
        _show(settings, operator, org)
    _show_next(settings, chosen)


@contextmanager
def running_fleet(settings: Settings) -> Iterator[None]:
    """`afterword up` as a child until the block ends. Raises FleetDown when it does not get ready."""
    file = Home(settings.home).folder("log") / "demo.log"
    with file.open("w") as log:
        fleet = subprocess.Popen(
            [sys.executable, "-m", "ops.cli", "up"], stdout=log, stderr=log, preexec_fn=dies_with_parent(signal.SIGTERM)
        )
    try:
        with console.status("starting Postgres, Valkey and the fleet"):
            _await_ready(settings, fleet)
        yield
    except (AfterwordError, DatabaseError, RedisError):
        if not has_ended(fleet.pid, STOPPING_SECONDS):
            raise
        raise FleetDown(f"the fleet stopped; {_last_said(file)}; see {file}") from None
    finally:
        with console.status("stopping"):
            fleet.terminate()
            fleet.wait()


def _await_ready(settings: Settings, fleet: subprocess.Popen[bytes]) -> None:
    """Until the database is migrated and the stream's door opens."""
    deadline = time.monotonic() + READY_SECONDS
    while fleet.poll() is None and time.monotonic() < deadline:
        try:
            with acting_as("operator", settings) as conn, Redis.from_url(redis_address(settings, "emitter")) as redis:
                conn.execute("SELECT FROM orgs, runs, memories, recalls LIMIT 0")
                redis.ping()
            return
        except (DatabaseDown, DatabaseError, RedisError):
            time.sleep(0.1)
    raise FleetDown(f"the fleet did not start; see {settings.home / 'log' / 'demo.log'}")


def _last_said(file: Path) -> str:
    """The last line of a log: a refusal to boot is one line."""
    return (file.read_text().splitlines() or ["it said nothing"])[-1].removeprefix("error: ")


def _demo_org(settings: Settings, conn: Connection) -> Org:
    """The demo's org: extraction on; the classes that nothing covers are waived, by name."""
    orgs.create(conn, ORG, actor="demo")
    org = orgs.get(conn, ORG)
    missing = sorted(
        org.settings.model_copy(update={"waived_classes": {}}).uncovered(look(working_detectors(settings)))
    )
    wanted = org.settings.model_copy(
        update={"extraction": True, "waived_classes": {**dict.fromkeys(missing, "demo"), **org.settings.waived_classes}}
    )
    orgs.change(conn, org, wanted, actor="demo", reason="the demo waives what no detector covers")
    waived = ", ".join(missing)
    console.print(
        f"org {ORG}: extraction on; waived by name, since nothing here covers it: {waived or 'none'}", soft_wrap=True
    )
    return orgs.get(conn, ORG)


def _send(settings: Settings, paths: list[Path]) -> None:
    files = [path for path in expanded(paths) if path.suffix != ".md"]
    outgoing, failed = prepare_all(files, Sender(ORG, user=None), "auto")
    report(outgoing, failed)
    with Redis.from_url(redis_address(settings, "emitter")) as redis, _progress() as progress:
        task = progress.add_task("sessions in Postgres", total=len(outgoing))
        send_until_in(redis, outgoing, timeout_seconds=60, on_arrival=lambda *_: progress.advance(task))


def _await_idle(conn: Connection, org: Org) -> None:
    """Until no run of the org is due any more. Raises FleetDown when that takes too long."""
    deadline = time.monotonic() + IDLE_SECONDS
    with _progress() as progress:
        task = progress.add_task("runs finished", total=None)
        while time.monotonic() < deadline:
            finished, unfinished = overview.finished(conn, org.id)
            progress.update(task, total=finished + unfinished, completed=finished)
            if not unfinished:
                return
            time.sleep(0.1)
    raise FleetDown(f"runs are still unfinished after {IDLE_SECONDS:.0f} s: afterword runs list --org {ORG}")


def _progress() -> Progress:
    return Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), console=console)


def _show(settings: Settings, conn: Connection, org: Org) -> None:
    counts = overview.counts(conn, ORG)
    _table("runs by state", counts["runs"])
    _table("memories by status and kind", counts["memories"])
    _table("held for a person, because", counts["held_for"])
    _show_held(org)
    for question in QUESTIONS:
        _show_recall(question, _ask(settings, conn, org, question))
    seen = ledger.verify(conn)
    console.print(f"\nledger: {seen.entries} entries, {seen.sealed} of them sealed, [green]verified[/]")


def _show_held(org: Org) -> None:
    with acting_reviewer(org) as conn:
        waiting = [item for item in reviews.inbox(conn) if item["review"] == "hold"]
    for item in waiting[:5]:
        classes = f" [{', '.join(item['classes'])}]" if item["classes"] else ""
        console.print(f"  {item['memory_id']}  {item['kind']}: {', '.join(item['reasons'])}{classes}", highlight=False)


def _show_next(settings: Settings, chosen: Mapping[str, str]) -> None:
    """Commands as they work in this shell, with the lines it lacks before them."""
    lines = [f"export {name}={value}" for name, value in chosen.items() if name != "AFTERWORD_LOG_LEVEL"]
    if shutil.which("afterword") is None:
        lines.insert(0, f'export PATH="{Path(sys.executable).parent}:$PATH"')
    exports = "".join(f"  {line}\n" for line in lines)
    console.print(NEXT.format(org=ORG, home=settings.home, exports=exports), soft_wrap=True, highlight=False)


def _ask(settings: Settings, conn: Connection, org: Org, question: str) -> Recall:
    """One recall, as an agent of the org under a minute's token."""
    embedder, current = make_embedder(settings), embedding.current_stamp(conn)
    vector = embedder.query(question) if embedder is not None and current is not None else None
    asked = Question(question, vector=vector, stamp=current[0] if current else None, max_hits=3)
    with granted_to(org, Bearer(role="agent", actor="demo", agent="demo")) as agent:
        return recall.recall(agent, asked)


def _show_recall(question: str, found: Recall) -> None:
    table = Table("memory", "combined", "vector", "lexical", "allowed", title=f"{question}  ({found.mode})")
    for hit in found.hits:
        table.add_row(
            hit.content, f"{hit.combined_score:.4f}", _score(hit.vector_score), _score(hit.lexical_score), hit.allowed
        )
    console.print(table)


def _score(score: float | None) -> str:
    return "-" if score is None else f"{score:.3f}"


def _table(title: str, counts: dict[str, int]) -> None:
    table = Table(title, "", title_justify="left")
    for name, count in counts.items():
        table.add_row(name, str(count))
    console.print(table)


NEXT = """
What to try next (the stack is stopped now; data stays in {home}):
{exports}  afterword up                                             keep it running, in another terminal
  afterword recall "your question" --org {org}             with --block: as it would stand in a prompt
  afterword review list --org {org}                        what waits for you, and review show, approve, reject
  afterword runs list --org {org}                          and runs show RUN: every decision about it
  afterword emit ~/.claude/projects/*/*.jsonl --org {org}  your own sessions
"""
