"""Verification: an untouched ledger verifies, a changed or cut one does not, nor one that the witness denies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from db import ledger
from tests.fleet import Fleet, event
from tests.integration.cli.conftest import Cli
from tests.integration.cli.test_repair import force
from tests.integration.cli.test_review import FACT
from workers.witness import SEALS, append

VERIFY = ("ledger", "verify")


@pytest.fixture
def folder(cli: Cli, fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A witness of two seals over an org and a run."""
    folder = tmp_path / "witness"
    monkeypatch.setenv("AFTERWORD_WITNESS_DIR", str(folder))
    seal(fleet, folder)
    fleet.ingest(event(FACT))
    fleet.run()
    seal(fleet, folder)
    return folder


def seal(fleet: Fleet, folder: Path) -> None:
    with fleet.using.pool.connection() as conn:
        made = ledger.seal(conn)
    assert made is not None
    row = {"id": made.id, "below": made.below, "entries": made.entries, "total": made.total}
    append(folder / SEALS, row | {"hash": made.hash.hex(), "at": made.at.isoformat()})


def test_what_was_not_touched_verifies(cli: Cli, folder: Path) -> None:
    document = cli.json(*VERIFY)
    assert (document["seals"], document["witnessed"], document["witness"]) == (2, 2, str(folder))
    assert document["entries"] >= document["sealed"] > 2
    assert "2 seals stand in the witness" in cli.ok(*VERIFY).out


def test_without_a_witness_it_says_so(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AFTERWORD_WITNESS_DIR")
    assert "no witness: set AFTERWORD_WITNESS_DIR" in cli.ok(*VERIFY).out
    assert cli.json(*VERIFY, "--witness", folder)["witnessed"] == 2


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("UPDATE ledger SET actor = 'nobody' WHERE action = 'run_received'", "does not match the entries it covers"),
        ("DELETE FROM ledger WHERE action = 'run_received'", "covers"),
        ("DELETE FROM ledger WHERE id > 4; DELETE FROM seals WHERE id = 2", "the witness holds a seal"),
        ("UPDATE seals SET hash = sha256('x') WHERE id = 2", "the witness holds a seal"),
    ],
)
def test_what_was_changed_or_cut_does_not_verify(cli: Cli, fleet: Fleet, folder: Path, damage: str, said: str) -> None:
    for statement in damage.split("; "):
        force(fleet, statement)
    assert said in cli.refused(*VERIFY)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (None, "there is no witness at"),
        (["{}"], "line 1: this is no seal"),
        (["1", "0", "torn"], "line 3: this is no seal"),
        (["1", "0"], "line 2: this seal does not follow the one before it"),
        (["0", "0"], "line 2: this seal does not follow the one before it"),
    ],
)
def test_a_witness_that_is_gone_or_out_of_order_does_not_verify(
    cli: Cli, folder: Path, lines: list[str] | None, said: str
) -> None:
    path = folder / "seals.jsonl"
    seals = path.read_text().splitlines()
    path.unlink()
    if lines is not None:
        kept = [seals[int(line)] if line.isdigit() else line for line in lines]
        if "torn" in lines:
            kept = [*seals, json.dumps({"id": 3})[:5]]
        path.write_text("\n".join(kept) + "\n")
    assert said in cli.refused(*VERIFY)


def test_a_subject_has_its_entries(cli: Cli, folder: Path) -> None:
    run = cli.json("runs", "list")[0]["id"]
    assert cli.ok("ledger", "show", run).columns[0]["action"] == "run_received"
    assert cli.json("ledger", "show", run)[0]["detail"] == {"kind": "session", "to": "received"}
    assert "holds nothing about 'nobody'" in cli.refused("ledger", "show", "nobody")
