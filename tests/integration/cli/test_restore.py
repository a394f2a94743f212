"""A database restored from a copy of its files: sealing goes on, the witness says what was lost, the erased stay so."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ops.embedded.home import give_tree_to_servers
from ops.embedded.postgres import EmbeddedPostgres
from tests.fleet import Fleet, event
from tests.integration.cli.conftest import Cli
from tests.integration.cli.planted import ASKED, NAME, plant
from tests.integration.cli.test_dsar import FORGET, register, seen
from workers import housekeeping

__all__ = ["register"]
RESTORED = ("ledger", "restored", "--reason", "the disk failed")


@pytest.fixture
def backup(postgres: EmbeddedPostgres, fleet: Fleet, tmp_path: Path) -> Callable[[], Callable[[], None]]:
    """Takes a physical backup; what it returns restores it."""
    data, copy = postgres._data, tmp_path / "backup"

    def stopped(act: Callable[[], None]) -> None:
        postgres.stop()
        act()
        postgres.start(die_with_parent=True, fast=True)

    def restore() -> None:
        shutil.rmtree(data)
        shutil.copytree(copy, data, symlinks=True)
        give_tree_to_servers(data)

    def take() -> Callable[[], None]:
        stopped(lambda: shutil.copytree(data, copy, symlinks=True) and None)
        return lambda: stopped(restore)

    return take


def sealed(fleet: Fleet, folder: Path) -> None:
    fleet.install(witness=str(folder))
    with fleet.using.pool.connection() as conn:
        housekeeping.seal(fleet.using, conn)


def test_after_a_restore_the_erased_are_erased_again_and_sealing_goes_on(
    cli: Cli, fleet: Fleet, register: Path, backup: Callable[[], Callable[[], None]]
) -> None:
    plant(cli, fleet, "acme")
    sealed(fleet, register)
    restore = backup()
    fleet.ingest(event("The backup window is at three in the night.", session="later"))
    sealed(fleet, register)
    erased = cli.json(*FORGET, "--yes")["erasure"]
    sealed(fleet, register)
    assert cli.json("ledger", "verify")["witnessed"] == 3

    restore()
    assert NAME in seen(fleet)["memories.content"]
    assert "the witness holds a seal" in cli.refused("ledger", "verify")
    assert cli.json(*RESTORED, "--dry-run")["seals_lost"] == 2
    assert "the witness holds a seal" in cli.refused("ledger", "verify")
    assert cli.json(*RESTORED)["seals_lost"] == 2
    assert cli.json(*RESTORED)["seals_lost"] == 0

    (would,) = cli.json("dsar", "reapply", "--dry-run")
    assert would["stores"]["memories"] > 3
    (done,) = cli.json("dsar", "reapply")
    assert (done["erasure"], done["kept"]) == (erased, [])
    fleet.run()
    assert seen(fleet, *(file.read_text() for file in register.iterdir())) == {}
    assert cli.json("dsar", "held", "--org", "acme", *ASKED)["stores"] == {}
    (again,) = cli.json("dsar", "reapply")
    assert again["stores"] == done["stores"]

    sealed(fleet, register)
    verified = cli.json("ledger", "verify")
    assert (verified["restores"], verified["sealed"]) == (1, verified["entries"])
