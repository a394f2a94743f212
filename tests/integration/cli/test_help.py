"""Every operating command says what it does with an example, and can answer as one JSON document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command

from ops.cli import app

GROUPS = ("org", "extraction", "runs", "dead-letters", "rejected", "replay", "review", "drops", "audit", "ledger",
          "embed", "redact", "near-duplicates", "feedback", "preference", "workspace", "outcome", "recall",
          "tokens", "consolidate")  # fmt: skip
SINGLE = ("extract", "digest", "repair", "reevaluate")


def documented() -> Iterator[tuple[str, Any]]:
    commands = get_command(app).commands  # type: ignore[attr-defined]
    yield from ((name, commands[name]) for name in (*SINGLE, "replay"))
    for group in GROUPS:
        default = getattr(commands[group], "default", None)
        for name, command in commands[group].commands.items():
            yield (group if name == default else f"{group} {name}", command)


@pytest.mark.parametrize(("words", "command"), [pytest.param(*item, id=item[0]) for item in documented()])
def test_help_has_an_example_and_the_command_a_json_option(words: str, command: Any) -> None:
    assert f"afterword {words} " in f"{command.help.partition('Example:')[2]} "
    assert any("--json" in parameter.opts for parameter in command.params)
