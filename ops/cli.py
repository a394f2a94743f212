"""afterword: the command line. Exit codes: 0 done, 1 refused or broken, 2 misused."""

from __future__ import annotations

import sys

import typer
from redis.exceptions import RedisError

from db.connect import DatabaseDown
from ops.commands import (
    audit,
    consolidate,
    dead_letters,
    drops,
    dsar,
    embed,
    eval_,
    extraction,
    feedback,
    ledger,
    near_duplicates,
    org,
    outcome,
    preference,
    recall,
    redact,
    rejected,
    replay,
    retention,
    review,
    runs,
    tokens,
    usage,
    workspace,
)
from ops.commands.check import check
from ops.commands.demo import demo
from ops.commands.digest import digest
from ops.commands.emit import emit
from ops.commands.extract import extract
from ops.commands.gateway import gateway
from ops.commands.migrate import migrate
from ops.commands.reevaluate import reevaluate
from ops.commands.repair import repair
from ops.commands.up import up
from ops.commands.worker import worker
from pipeline.errors import AfterwordError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # its frames would print local variables, which may hold content
    help="Governed agent memory, operated from here.",
)
app.command()(demo)
app.command()(up)
app.command()(worker)
app.command()(gateway)
app.command()(migrate)
app.command()(check)
app.command()(emit)
app.command()(extract)
app.command()(digest)
app.command()(repair)
app.command()(reevaluate)
for _group in (
    recall,
    org,
    extraction,
    eval_,
    runs,
    dead_letters,
    rejected,
    replay,
    review,
    drops,
    near_duplicates,
    consolidate,
    feedback,
    preference,
    workspace,
    outcome,
    audit,
    redact,
    ledger,
    embed,
    retention,
    dsar,
    usage,
    tokens,
):
    app.add_typer(_group.app, name=_group.__name__.rpartition(".")[2].strip("_").replace("_", "-"))


def main() -> None:
    """Run a command; what Afterword refuses is said on standard error, with the way out."""
    try:
        app()
    except AfterwordError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(1)
    except DatabaseDown as error:
        said = str(error).splitlines()[0]
        typer.echo(f"error: the database does not answer ({said}). Is the stack running? See: afterword up", err=True)
        sys.exit(1)
    except RedisError as error:
        typer.echo(f"error: Redis does not answer ({error}). Is the stack running? See: afterword up", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
