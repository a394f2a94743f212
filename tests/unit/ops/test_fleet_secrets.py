"""The fleet's secrets: never replaced, closed to others, and no password written where only its hash is needed."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from ops.fleet_secrets import fleet_secrets, main, write_fleet_secrets


def test_every_start_makes_other_passwords() -> None:
    first, second = fleet_secrets(), fleet_secrets()
    assert first.keys() == second.keys()
    assert [name for name in first if first[name] == second[name]] == []


def test_workers_and_operators_share_what_both_connect_with() -> None:
    contents = fleet_secrets()
    migrate, worker, operator = (tomllib.loads(contents[f"{name}.toml"]) for name in ("migrate", "worker", "operator"))
    assert worker.items() <= operator.items()
    for name in operator.keys() & migrate.keys():
        assert operator[name] == migrate[name]
    assert "database_password_operator" not in worker


def test_the_access_list_holds_hashes_alone() -> None:
    contents = fleet_secrets()
    for name in ("worker", "operator"):
        for value in tomllib.loads(contents[f"{name}.toml"]).values():
            assert value not in contents["valkey_users.acl"]


def test_the_folder_is_closed_and_each_file_readable_by_a_container(tmp_path: Path) -> None:
    written = write_fleet_secrets(tmp_path / "secrets")
    assert {path.name for path in written} == fleet_secrets().keys()
    assert (tmp_path / "secrets").stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in written} == {0o444}


def test_secrets_in_use_are_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "secrets"
    write_fleet_secrets(folder)
    before = {path.name: path.read_text() for path in folder.iterdir()}
    monkeypatch.setattr("sys.argv", ["fleet_secrets", str(folder)])
    with pytest.raises(SystemExit, match="not empty"):
        main()
    assert {path.name: path.read_text() for path in folder.iterdir()} == before
