"""afterword extract: what an extractor would propose for session logs, stored nowhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ops.commands.emit import FORMATS, expanded
from ops.commands.redact.explain import rules_of
from ops.commands.redact.lines import span_as_json
from ops.compose import make_extractor, working_detectors
from ops.extracting import Log, propose_all, read_log, staged
from ops.output import AsJson, document, record, shown
from ops.settings import ExtractorName, choosing, load
from pipeline.candidate import Candidate
from pipeline.drafting import gate_candidate, texts_of
from pipeline.errors import DetectorDown, FormatError
from pipeline.explaining import Rules
from pipeline.extraction.metering import Settled
from pipeline.extraction.port import ExtractionOutcome, Extractor
from pipeline.extraction.staging import StagedCandidate
from pipeline.gate import Hold
from pipeline.outcome import Done, Skip
from pipeline.redaction.health import look
from pipeline.redaction.redactor import Inspector, without_high
from pipeline.redaction.span import Detector

FILES_AT_ONCE = 16
"""Read and asked together: enough for a model's concurrency, and no more is held in memory."""


def extract(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="session logs, folders of them, or - (one)")],
    format: Annotated[str, typer.Option(help=f"auto, or one of: {FORMATS}")] = "auto",
    org: Annotated[str | None, typer.Option(help="gate as this org would; default: as an org that decided nothing")]
    = None,
    extractor: Annotated[ExtractorName | None, typer.Option(help="instead of AFTERWORD_EXTRACTOR")] = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Show what the extractor would propose for session logs, and what the gate would do with each; stores nothing.

    Proven secrets and checksummed numbers are masked before anything is read, as on the way in; beyond that nothing is:
    it is your own text, and a quote must match its source. Without --org it needs neither database nor Redis. A model
    is asked for real, on no org's budget, and each call is told with its tokens and its price. With --json one document
    a file, one a line; a log that could not be read or extracted is answered with its error, the others as ever, and
    exit code 1 says there was one.
    Example: afterword extract ~/.claude/projects/*/*.jsonl --extractor offline --json
    """
    settings = load()
    proposing = make_extractor(choosing(settings, extractor) if extractor else settings)
    health = look(working_detectors(settings))
    rules, failed = rules_of(org, health), False
    paths = expanded(files)
    for first in range(0, len(paths), FILES_AT_ONCE):
        for told in _told(proposing, paths[first : first + FILES_AT_ONCE], format, health.answering, rules):
            if "error" in told:
                failed = True
                typer.echo(f"{told['file']}: {told['error']}", err=True)
            if as_json:
                document(told)
            elif "error" not in told:
                _print(told)
    if failed:
        raise typer.Exit(1)


def _told(
    extractor: Extractor, paths: Sequence[Path], format: str, detectors: Sequence[Detector], rules: Rules
) -> Iterator[dict[str, Any]]:
    """One answer a file, in their order."""
    logs: dict[Path, Log] = {}
    answers: dict[Path, dict[str, Any]] = {}
    for path in paths:
        try:
            logs[path] = read_log(path, format)
        except FormatError as error:
            answers[path] = {"file": str(path), "error": str(error)}
    for log, outcome, calls in propose_all(extractor, list(logs.values())):
        told = {"file": str(log.path), "format": log.format, "extractor": extractor.provider}
        made = {"calls": [_call(call) for call in calls]} if calls else {}
        answers[log.path] = told | _became(log, outcome, detectors, rules) | made
    yield from (answers[path] for path in dict.fromkeys(paths))


def _became(log: Log, outcome: ExtractionOutcome | Skip, detectors: Sequence[Detector], rules: Rules) -> dict[str, Any]:
    match outcome:
        case Done(proposal):
            try:
                return {"candidates": list(_candidates(log, staged(log, proposal), detectors, rules))}
            except DetectorDown as error:
                return {"error": str(error)}
        case Skip(reason):
            return {"skipped": reason}
        case _:
            return {"error": _why(outcome)}


def _call(call: Settled) -> dict[str, Any]:
    """A model call as it was answered; null where nobody said, and for a price that no table has."""
    tokens = {"input": call.tokens.input, "output": call.tokens.output} if call.tokens else None
    cost = str(call.cost) if call.cost is not None else None
    return {
        "outcome": call.outcome, "model": call.model, "tokens": tokens, "cost_usd": cost,
        "seconds": round(call.latency_seconds, 3),
    }  # fmt: skip


def _said(call: dict[str, Any]) -> str:
    tokens, cost = call["tokens"], call["cost_usd"]
    counted = f"{tokens['input']} tokens in, {tokens['output']} out" if tokens else "tokens unknown"
    priced = f"{cost} USD" if cost is not None else "price unknown"
    return f"{call['model'] or 'model unknown'} {call['outcome']} in {call['seconds']:g} s: {counted}, {priced}"


def _why(outcome: ExtractionOutcome) -> str:
    return ": ".join(str(getattr(outcome, name)) for name in ("code", "reason", "detail") if hasattr(outcome, name))


def _candidates(
    log: Log, pairs: Sequence[tuple[Candidate, StagedCandidate]], detectors: Sequence[Detector], rules: Rules
) -> Iterator[dict[str, Any]]:
    """Texts as proposed, all else as it would be staged and gated."""
    inspect = Inspector(detectors, [text for said, item in pairs for text in (said.content, *texts_of(item))])
    for said, item in pairs:
        gated = gate_candidate(
            item, inspect, rules.uncovered, activatable=rules.activatable, proposed=False, failed=False
        )
        yield {
            "content": said.content, "kind": item.kind, "rationale": said.rationale, "confidence": item.confidence,
            "evidence": [_quote(log, one.turn, one.quote, item) for one in said.evidence],
            "hold_reasons": item.hold_reasons, "scope": item.scope, "subject": item.subject,
            "stakes": "high" if item.high_stakes else "normal", "importance": item.importance,
            "observed_at": item.observed_at, "spans": [span_as_json(span) for span in inspect(said.content).spans],
            "gate": type(gated.decision).__name__.lower(),
            "reasons": gated.decision.reasons if isinstance(gated.decision, Hold) else (),
        }  # fmt: skip


def _quote(log: Log, turn: int, quote: str, item: StagedCandidate) -> dict[str, Any]:
    """A quote as proposed: whether it stands in the turn it names, and whose words that turn holds."""
    told = {"turn": turn, "quote": quote, "found": (turn, without_high(quote)) in {
        (one["turn"], one["quote"]) for one in item.evidence}}  # fmt: skip
    if turn < len(log.transcript.turns):
        told |= {"role": log.transcript.turns[turn].role, "trust": log.transcript.turns[turn].trust}
    return told


def _print(told: dict[str, Any]) -> None:
    """A log's candidates, a record each."""
    candidates = told.get("candidates", [])
    typer.echo(f"{told['file']} ({told['format']}): {told.get('skipped') or f'{len(candidates)} candidates'}")
    for call in told.get("calls", []):
        record({"call": _said(call)})
    for item in candidates:
        typer.echo()
        gate = f"{item['gate']} ({shown(item['reasons'])})" if item["reasons"] else item["gate"]
        record(
            {name: item[name] for name in ("content", "kind", "rationale", "subject", "stakes")}
            | {"gate": gate, "classes": sorted({span["class"] for span in item["spans"]})}
        )
        for one in item["evidence"]:
            record({"evidence": f"turn {one['turn']}{'' if one['found'] else ', not found'}: {one['quote']}"})
    typer.echo()
