"""The repository as the tidiness tests see it: its tracked files, its Python modules, its YAML."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

ROOT = Path(__file__).parents[3]
PACKAGES = ("ops", "gateway", "workers", "db", "pipeline")


@cache
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


@cache
def modules() -> dict[str, Path]:
    """Dotted name to file, packages by their `__init__`."""
    files = (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")))
    return {_dotted(path): path for path in files}


def _dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


def functions() -> Iterator[tuple[str, int]]:
    """(where, lines) of every function, docstring counted, decorators not."""
    for path in modules().values():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
                yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", node.end_lineno - node.lineno + 1


def strings(path: Path) -> Iterator[tuple[int, str]]:
    """(line, value) of every string constant that is not a docstring."""
    docstrings = {id(node.value) for node in ast.walk(tree(path)) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


def tracked() -> list[Path]:
    """Every file git tracks that is still there; empty outside a clone."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    return [ROOT / name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]


def yaml(name: str) -> Any:
    return YAML(typ="safe").load((ROOT / name).read_text())


def commands() -> dict[str, set[str]]:
    """Every command of the command line by its words, such as `dead-letters list`, with its options."""
    from typer.main import get_command

    from ops.cli import app

    return dict(leaves(get_command(app)))


def leaves(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, set[str]]]:
    """The commands in one that may be a group; a group that does something by itself is one of them, and its default
    command goes by the group's words."""
    children = getattr(command, "commands", None)
    if not children or command.invoke_without_command:
        options = {option for parameter in command.params for option in parameter.opts if option.startswith("--")}
        yield " ".join(words), options | {"--help"}
    for name, child in (children or {}).items():
        yield from leaves(child, words if name == getattr(command, "default", None) else (*words, name))


def wrong_calls(lines: Iterable[str], known: dict[str, set[str]]) -> list[str]:
    """The lines that call a command which is not there, or with an option it does not take."""
    return [line for line in lines if not _is_callable(line, known)]


def _is_callable(line: str, known: dict[str, set[str]]) -> bool:
    options = set(re.findall(r"(?<= )--[a-z-]+", line))
    return any(f"{line} ".startswith(f"{command} ") and options <= takes for command, takes in known.items())
