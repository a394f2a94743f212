"""afterword recall: what an agent would be given, many questions at a time, and what was handed out.

ask.py       one question, or a file of them: the command without a name of its own
lines.py     questions in as lines of JSON, hits out
asking.py    a question with its vector, asked and masked
log.py       the recalls that were, without content
explain.py   one of them: each hit, its scores, why it was allowed, and whether it is still what it was
"""

from __future__ import annotations

from typing import Any, ClassVar

import typer
from typer.core import TyperGroup

from ops.commands.recall.ask import ask
from ops.commands.recall.explain import explain
from ops.commands.recall.log import log


class Questions(TyperGroup):
    """A group in which what is no command is a question. A question that is one of their names: recall ask log."""

    default: ClassVar[str] = "ask"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in {*self.commands, *ctx.help_option_names}:
            args = [self.default, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=Questions,
    no_args_is_help=True,
    help="Recall: afterword recall QUESTION --org ORG, its options under: recall ask --help.",
)
app.command()(ask)
app.command()(log)
app.command()(explain)
