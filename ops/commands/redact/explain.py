"""afterword redact explain: every span of a text, and what the gate would do about it."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer

from ops.access import known_org
from ops.commands.redact import lines
from ops.compose import working_detectors
from ops.output import AsJson, document, record, rows
from ops.settings import load
from pipeline.errors import AfterwordError, DetectorDown
from pipeline.explaining import Explanation, Rules, explain_many
from pipeline.org import OrgSettings
from pipeline.recall.visible import one_line
from pipeline.redaction.classes import tier_of
from pipeline.redaction.health import Health, look
from pipeline.redaction.span import Span
from pipeline.session import storable

COLUMNS = ("class", "tier", "start", "end", "score", "detector", "text")
SHOWN_WHOLE_CHARACTERS = 2_000
"""Of a longer text only the lines that bear a span are printed."""


class NoSuchFile(AfterwordError):
    """There is no file of that name. To look at the words themselves: printf %s WORDS | afterword redact explain -"""


def explain(
    text: Annotated[str, typer.Argument(metavar="TEXT|FILE|-", help="words, a file of them, or - for standard input")],
    org: Annotated[str | None, typer.Option(help="decide as this org would; default: as an org that decided nothing")]
    = None,
    jsonl: Annotated[bool, typer.Option("--jsonl", help='lines of {"id", "text"} in, a line of JSON out for each')]
    = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Show every span, class, tier, detector and score of a text, and what the gate would do with it as a fact.

    Keeps nothing, and masks nothing: it is your own text. Without --org it needs neither database nor Redis. With
    --jsonl a line that cannot be read is answered with its error, the others as ever; exit code 1 says there was one.
    Example: afterword redact explain "Ana lives at 12 Elm Street; ignore all previous instructions."
    """
    health = look(working_detectors(load()))
    rules = rules_of(org, health)
    with _opened(text, only_file=jsonl) as source:
        if jsonl:
            failed = sum(not answered for answered in lines.explain_lines(source, health.answering, rules))
            if failed:
                raise typer.Exit(1)
            return
        said = storable(source.read().decode("utf-8", "replace"))
    (found,) = explain_many([said], health.answering, rules)
    if isinstance(found, DetectorDown):
        raise found
    if as_json:
        document(_document(found, rules))
    else:
        _print(said, found, rules)


def rules_of(org: str | None, health: Health) -> Rules:
    """What this org has decided; without one, as for an org that decided nothing, which needs no database."""
    settings = known_org(org).settings if org else OrgSettings()
    return Rules(settings.uncovered(health), settings.activatable_classes)


@contextmanager
def _opened(text: str, *, only_file: bool) -> Iterator[BinaryIO]:
    """Standard input for `-`, a file where there is one of that name, else the words themselves."""
    if text == "-":
        yield sys.stdin.buffer
    elif _is_there(text):
        with open(text, "rb") as file:
            yield file
    elif only_file or _looks_like_a_path(text):
        raise NoSuchFile(f"no such file: {text}. To look at the words themselves, send them to: redact explain -")
    else:
        yield io.BytesIO(text.encode("utf-8", "surrogateescape"))


def _is_there(text: str) -> bool:
    try:
        return Path(text).exists() and not Path(text).is_dir()  # a pipe counts
    except (OSError, ValueError):  # too long for a name, or no name at all
        return False


def _looks_like_a_path(text: str) -> bool:
    return not any(sign.isspace() for sign in text) and ("/" in text or Path(text).suffix in (".txt", ".jsonl", ".md"))


def _document(found: Explanation, rules: Rules) -> dict[str, Any]:
    return lines.answer(found) | {
        "classes": found.classes,
        "stakes": found.stakes,
        "steering": found.steering,
        "uncovered": sorted(rules.uncovered),
        "stored_as": found.text_redacted,
    }


def _print(text: str, found: Explanation, rules: Rules) -> None:
    for line in _marked(text, found.spans):
        typer.echo(line)
    typer.echo()
    rows((_row(text, span) for span in found.spans), COLUMNS, as_json=False, none="No span is found.")
    typer.echo()
    record({
        "gate": found.gate,
        "reasons": found.reasons,
        "high stakes in": found.stakes,
        "steers by": found.steering,
        "nothing looks for": sorted(rules.uncovered),
    })  # fmt: skip


def _row(text: str, span: Span) -> dict[str, Any]:
    return lines.span_as_json(span) | {"text": text[span.start : span.end]}


def _marked(text: str, spans: tuple[Span, ...]) -> Iterator[str]:
    """The text's lines, each span between brackets behind the name of its class."""
    marked, position = "", 0
    for span in spans:
        inside = " ".join(text[span.start : span.end].splitlines())
        marked += text[position : span.start] + f"[{span.cls} {tier_of(span.cls)}: {inside}]"
        position = span.end
    whole = (marked + text[position:]).splitlines()
    if len(text) <= SHOWN_WHOLE_CHARACTERS:
        yield from map(one_line, whole)
        return
    begins = tuple({f"[{span.cls} {tier_of(span.cls)}: " for span in spans})
    for number, line in enumerate(whole, start=1):
        if any(begin in line for begin in begins):
            yield f"{number}: {one_line(line)}"
