"""afterword redact: what detectors find, and what follows from it.

explain.py   a text, or a file of them, through detectors and gate; nothing is kept
lines.py     the same for lines of JSON, many at a time
classes.py   the table of classes, with the health of each

What is stored already is looked at again by ops/commands/rescan.py.
"""

from __future__ import annotations

import typer

from ops.commands.redact.classes import classes
from ops.commands.redact.explain import explain
from ops.commands.rescan import rescan, rescans

app = typer.Typer(no_args_is_help=True, help="Redaction: what detectors find, and what follows from it.")
app.command()(explain)
app.command()(classes)
app.command()(rescan)
app.command()(rescans)
