"""The command line as a person calls it, over real services: arguments in; exit code, output and errors out."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from db.migrate import LOGINS
from ops.cli import main
from ops.embedded.valkey import EmbeddedValkey
from tests.fleet import KEY, Fleet
from tests.services import Database


@dataclass(frozen=True)
class Said:
    """What a command left: exit code, standard output, standard error."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def columns(self) -> list[dict[str, str]]:
        """The lines of a piped table by its header."""
        head, *lines = [line.split("\t") for line in self.out.splitlines()]
        return [dict(zip(head, line, strict=True)) for line in lines]


@dataclass
class Cli:
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def __call__(self, *words: object) -> Said:
        """Run one command to its exit code."""
        self.capsys.readouterr()
        self.monkeypatch.setattr(sys, "argv", ["afterword", *map(str, words)])
        with pytest.raises(SystemExit) as exit:
            main()
        seen = self.capsys.readouterr()
        return Said(int(exit.value.code or 0), seen.out, seen.err)

    def ok(self, *words: object) -> Said:
        said = self(*words)
        assert said.code == 0, said.err
        return said

    def json(self, *words: object) -> Any:
        return self.ok(*words, "--json").json

    def refused(self, *words: object) -> str:
        """The message of a refusal: exit code 1, nothing on standard output."""
        said = self(*words)
        assert (said.code, said.out) == (1, ""), said
        assert said.err.startswith("error: ")
        return said.err

    def misused(self, *words: object) -> str:
        said = self(*words)
        assert said.code == 2, said
        return said.err


@pytest.fixture
def cli(
    database: Database,
    valkey: EmbeddedValkey,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Cli:
    """Set up as on a managed Postgres and Redis: addresses without credentials, passwords beside them."""
    monkeypatch.setenv("AFTERWORD_HOME", str(tmp_path / "home"))
    bare = database.admin.replace(database.admin.partition("@")[0] + "@", "postgresql://")
    monkeypatch.setenv("AFTERWORD_DATABASE_URL", bare)
    monkeypatch.setenv("AFTERWORD_DATABASE_ADMIN_URL", database.admin)
    for login in LOGINS:
        name = f"AFTERWORD_DATABASE_PASSWORD_{login.upper()}"
        monkeypatch.setenv(name, database.server.password(f"afterword_{login}"))
    monkeypatch.setenv("AFTERWORD_REDIS_URL", f"unix://{valkey.socket}")
    monkeypatch.setenv("AFTERWORD_REDIS_PASSWORD_WORKER", valkey.password("worker"))
    monkeypatch.setenv("AFTERWORD_NER", "none")
    monkeypatch.setenv("AFTERWORD_INSTALLATION_KEY", KEY.decode())
    monkeypatch.setenv("LOGNAME", "operator-of-the-day")
    monkeypatch.setenv("COLUMNS", "300")
    return Cli(monkeypatch, capsys)


@pytest.fixture
def fleet(database: Database, valkey: EmbeddedValkey) -> Iterator[Fleet]:
    """The stages, run by hand, with the org `acme`: extraction on, nothing required."""
    made = Fleet(database, valkey)
    made.install()
    made.database.org("acme")
    yield made
    made.close()
