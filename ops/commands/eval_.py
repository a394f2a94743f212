"""afterword eval: what another prompt or another model would propose, before anybody depends on it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import track

from ops.commands.emit import expanded
from ops.comparison import as_markdown
from ops.compose import make_extractor
from ops.extracting import Log, propose_all, read_log
from ops.output import AsJson, as_document, document
from ops.settings import Settings, load
from pipeline.candidate import Candidate
from pipeline.errors import AfterwordError, FormatError, SettingError
from pipeline.extraction import prompts
from pipeline.extraction.comparing import compare
from pipeline.extraction.metering import Settled
from pipeline.extraction.port import Extractor
from pipeline.outcome import Done, Skip, Snooze

app = typer.Typer(no_args_is_help=True, help="Evaluation: prompts and models side by side, on your own sessions.")


@dataclass
class Side:
    """One way of asking, and what it came to."""

    prompt: str
    model: str
    extractor: Extractor
    candidates: int = 0
    failed: int = 0
    calls: list[Settled] = field(default_factory=list)

    def told(self) -> dict[str, Any]:
        """Tokens and seconds of its calls, summed; the price is null where that of one call is unknown."""
        costs = [call.cost for call in self.calls]
        tokens = [call.tokens for call in self.calls if call.tokens]
        return {
            "prompt": self.prompt, "model": self.model, "candidates": self.candidates, "failed": self.failed,
            "calls": len(self.calls), "input_tokens": sum(one.input for one in tokens),
            "output_tokens": sum(one.output for one in tokens),
            "cost_usd": None if None in costs else str(sum((one for one in costs if one is not None), Decimal(0))),
            "seconds": round(sum(call.latency_seconds for call in self.calls), 3),
        }  # fmt: skip


@app.command()
def ab(
    sessions: Annotated[list[Path], typer.Option("--sessions", help="session logs, or folders of them")],
    prompt: Annotated[
        list[str] | None, typer.Option("--prompt", help="once or twice: a prompt's name, or a file with one")
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option("--model", help="once or twice: at the configured endpoint")
    ] = None,
    into: Annotated[Path | None, typer.Option(help="a report for people (.md), and one for programs beside it")] = None,
    as_json: AsJson = False,
) -> None:
    """Ask two ways about the same sessions and show the candidates side by side, with cost and time; stores nothing.

    What stands on one side alone is shown as that. A model is asked for real, on no org's budget. A session that one
    side could not be asked about is named, and exit code 1 says there was one.
    Example: afterword eval ab --prompt extraction --prompt new.md --sessions ~/.claude/projects --into compared.md
    """
    settings = load()
    a, b = _sides(settings, prompt or ["extraction"], model or [settings.extraction_model or ""])
    logs = list(_logs(expanded(sessions)))
    asked = zip(logs, _proposed(a, logs, as_json), _proposed(b, logs, as_json), strict=True)
    report = {"sessions": [_compared(log, of_a, of_b) for log, of_a, of_b in asked], "a": a.told(), "b": b.told()}
    if into is not None:
        into.write_text(as_markdown(report), encoding="utf-8")
        into.with_suffix(".json").write_text(as_document(report), encoding="utf-8")
    if as_json:
        document(report)
    else:
        typer.echo(f"written to {into}" if into is not None else as_markdown(report))
    if a.failed or b.failed:
        raise typer.Exit(1)


def _sides(settings: Settings, named: Sequence[str], models: Sequence[str]) -> tuple[Side, Side]:
    if len(named) > 2 or len(models) > 2 or len(named) + len(models) < 3:
        raise typer.BadParameter("two sides are compared: give --prompt twice, or --model twice")
    if settings.extractor in (None, "offline"):
        raise SettingError("AFTERWORD_EXTRACTOR asks no model: choose openai, anthropic, google or bedrock to compare.")
    a, b = (_side(settings, named[min(n, len(named) - 1)], models[min(n, len(models) - 1)]) for n in (0, 1))
    return a, b


def _side(settings: Settings, named: str, model: str) -> Side:
    path = Path(named)
    try:
        prompt = prompts.read(path) if path.suffix else prompts.load(named)
    except OSError as error:
        raise AfterwordError(f"no prompt {named}: {error.strerror}; name one of ours (extraction), or a file") from None
    asking = settings.model_copy(update={"extraction_model": model})
    return Side(prompt.revision, model, make_extractor(asking, prompt))


def _logs(paths: Sequence[Path]) -> Iterator[Log]:
    for path in paths:
        try:
            yield read_log(path)
        except FormatError as error:
            raise AfterwordError(f"{path}: {error}") from None


def _proposed(side: Side, logs: Sequence[Log], quiet: bool) -> list[tuple[Candidate, ...] | str]:
    """Of each log its candidates, or why there are none."""
    found: dict[Path, tuple[Candidate, ...] | str] = {}
    console = Console(stderr=True, quiet=quiet or not sys.stderr.isatty())
    answers = propose_all(side.extractor, logs)
    for log, outcome, calls in track(answers, f"{side.prompt} {side.model}", len(logs), console=console):
        side.calls += calls
        match outcome:
            case Done(proposal):
                found[log.path] = proposal.envelope.candidates
                side.candidates += len(proposal.envelope.candidates)
            case Skip(reason):
                found[log.path] = str(reason)
            case _:
                side.failed += 1
                found[log.path] = outcome.reason if isinstance(outcome, Snooze) else f"{outcome.code}: {outcome.detail}"
    return [found[log.path] for log in logs]


def _compared(log: Log, a: tuple[Candidate, ...] | str, b: tuple[Candidate, ...] | str) -> dict[str, Any]:
    told: dict[str, Any] = {"file": str(log.path)}
    if isinstance(a, str) or isinstance(b, str):
        return told | {"a": a if isinstance(a, str) else _plain(a), "b": b if isinstance(b, str) else _plain(b)}
    compared = compare(a, b)
    pairs = [
        {"a": one.a.model_dump(mode="json"), "b": one.b.model_dump(mode="json"), "alike": one.alike,
         "score": one.score} for one in compared.pairs
    ]  # fmt: skip
    return told | {"pairs": pairs, "only_a": _plain(compared.only_a), "only_b": _plain(compared.only_b)}


def _plain(candidates: Sequence[Candidate]) -> list[dict[str, Any]]:
    return [one.model_dump(mode="json") for one in candidates]
