"""A comparison of two ways of asking, as Markdown for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.recall.visible import one_line

_FIGURES = ("prompt", "model", "candidates", "failed", "calls", "input_tokens", "output_tokens", "cost_usd", "seconds")


def as_markdown(report: Mapping[str, Any]) -> str:
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Mapping[str, Any]) -> Iterator[str]:
    yield from ("# Two ways of asking", "", "| | A | B |", "|---|---|---|")
    for name in _FIGURES:
        yield f"| {name} | {_cell(report['a'][name])} | {_cell(report['b'][name])} |"
    for session in report["sessions"]:
        yield from ("", f"## {one_line(session['file'])}", "")
        yield from _session(session)


def _session(session: Mapping[str, Any]) -> Iterator[str]:
    if "pairs" not in session:
        for side in ("a", "b"):
            said = session[side]
            yield f"* {side.upper()}: {one_line(said) if isinstance(said, str) else f'{len(said)} candidates'}"
        return
    if not any(session[part] for part in ("pairs", "only_a", "only_b")):
        yield "Neither proposes anything."
        return
    yield from ("| A | B | |", "|---|---|---|")
    for pair in session["pairs"]:
        yield f"| {_said(pair['a'])} | {_said(pair['b'])} | {'says the same' if pair['alike'] else 'alike in words'} |"
    yield from (f"| {_said(one)} | | A alone |" for one in session["only_a"])
    yield from (f"| | {_said(one)} | B alone |" for one in session["only_b"])


def _said(candidate: Mapping[str, Any]) -> str:
    return _cell(f"{candidate['kind']}: {candidate['content']}")


def _cell(value: object) -> str:
    """On one line, and no cell of its own."""
    return "unknown" if value is None else one_line(str(value)).replace("|", "\\|")
