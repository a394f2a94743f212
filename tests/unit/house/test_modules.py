"""Which modules there may be, that the import contracts see all of them, and that none is dead."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.unit.house.sources import PACKAGES, ROOT, modules, project, strings, tracked, tree

FORBIDDEN = {"utils", "util", "common", "helpers", "helper", "misc"}
STAGE_NAMES = ("ingest", "extraction", "redaction", "embedding", "consolidation", "replay", "housekeeping")
STAGES = {f"workers.{name}" for name in STAGE_NAMES}


def test_the_contracts_see_every_root_folder_with_python() -> None:
    with_python = {path.relative_to(ROOT).parts[0] for path in ROOT.glob("*/**/*.py") if _is_ours(path)}
    assert with_python - {"tests"} == set(project()["tool"]["importlinter"]["root_packages"]) == set(PACKAGES)


def _is_ours(path: Path) -> bool:
    return not path.relative_to(ROOT).parts[0].startswith((".", "build", "dist"))


def test_mypy_and_the_wheel_see_them_too() -> None:
    tools = project()["tool"]
    assert set(tools["mypy"]["packages"]) == set(PACKAGES)
    assert {name.rstrip("*") for name in tools["setuptools"]["packages"]["find"]["include"]} == set(PACKAGES)


def test_stage_modules_are_independent_by_contract() -> None:
    present = STAGES & modules().keys()
    contracts = project()["tool"]["importlinter"]["contracts"]
    independent = {name for c in contracts if c["type"] == "independence" for name in c["modules"]}
    assert present <= independent


def test_a_module_is_named_for_what_it_holds() -> None:
    assert [str(path) for path in tracked() if path.suffix == ".py" and path.stem in FORBIDDEN] == []


def test_every_module_is_used() -> None:
    used = _entry_points() | {name for path in modules().values() for name in _uses(path)}
    files = {name for name, path in modules().items() if path.name not in ("__init__.py", "__main__.py")}
    assert sorted(files - used) == []


def _entry_points() -> set[str]:
    scripts = {target.partition(":")[0] for target in project()["project"]["scripts"].values()}
    return scripts | {name for name, path in modules().items() if 'if __name__ == "__main__":' in path.read_text()}


def _uses(path: Path) -> set[str]:
    """Modules that `path` imports, or names in a string, as jobs and child processes are named."""
    used = {name for _, text in strings(path) for name in _prefixes(text)}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            used |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(path, node)
            used |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return used - {name for name, file in modules().items() if file == path}


def _absolute(path: Path, node: ast.ImportFrom) -> str:
    package = path.relative_to(ROOT).parent.parts
    above = package[: len(package) - node.level + 1] if node.level else ()
    return ".".join([*above, *([node.module] if node.module else [])])


def _prefixes(text: str) -> list[str]:
    parts = text.split(".")
    return [".".join(parts[:n]) for n in range(2, len(parts) + 1)] if parts[0] in PACKAGES else []
