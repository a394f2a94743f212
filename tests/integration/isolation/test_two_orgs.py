"""Whatever one org's people, agents and commands do, they see and change nothing of another with the same content."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings

from db.connect import DatabaseError
from ops.embedded.valkey import EmbeddedValkey
from tests.fleet import Fleet
from tests.integration.cli.conftest import Cli
from tests.integration.isolation import catalog
from tests.integration.isolation.catalog import ids_in
from tests.integration.isolation.surface import COMMANDS, FUNCTIONS
from tests.integration.isolation.twins import DIES, Reading, Story, Twin, live, stories, twins
from workers import housekeeping, replay


def told(hold: Callable[[Story], None], examples: int = 4) -> None:
    """Holds for these stories. They are not made smaller, since each costs a passage of the fleet."""
    few = settings(max_examples=examples, deadline=None, phases=[Phase.explicit, Phase.generate], print_blob=True)
    few(given(stories)(hold))()


def names(of: Twin, other: Twin) -> dict[str, str]:
    """What the texts of `surface` are filled with."""
    mine, theirs = _names(of), _names(other)
    return mine | {f"their_{key}": value for key, value in theirs.items()} | {"block": "00" * 32}


def _names(twin: Twin) -> dict[str, str]:
    memory, *_ = twin.ids("memories", "status = 'active'")
    pending, *_ = twin.ids("memories", "status = 'pending'")
    run, *_ = twin.ids("runs")
    dead, *_ = twin.ids("runs", "state = 'dead_letter'")
    found, *_ = twin.ids("recalls")
    drop, *_ = twin.ids("drops")
    return {"name": twin.org.name, "memory": str(memory), "pending": str(pending), "run": str(run), "dead": str(dead),
            "recall": str(found), "drop": str(drop)}  # fmt: skip


def leaked(text: str, marks: set[str], *given: str) -> list[str]:
    """Which of the other's marks stand in a text, but for those it was asked with."""
    return [mark for mark in marks if mark in text and not any(mark in word for word in given)]


def test_their_rows_name_nothing_of_each_other(fleet: Fleet) -> None:
    """References, lists, JSON, ledger: no row of one holds an id of the other; and what became of both is the same."""
    fleet.install(extractor=Reading())

    def hold(story: Story) -> None:
        one, other = twins(fleet)
        live(story, one, other)
        assert ids_in(one.rows) & ids_in(other.rows) == set()
        assert _became(one) == _became(other)

    told(hold)


def test_an_org_becomes_what_it_would_alone(fleet: Fleet) -> None:
    """A repeat, a replacement or an event key of the other would make a difference."""
    fleet.install(extractor=Reading())

    def hold(story: Story) -> None:
        one, other = twins(fleet)
        live(story, one)
        live(story, other)
        assert _became(one) == _became(other)
        assert _counts(one) == _counts(other)

    told(hold)


def _became(twin: Twin) -> list[tuple[str, ...]]:
    found = twin.fleet.rows(
        "SELECT m.kind, m.status, m.content, m.occurrences, m.classes, m.hold_reasons, r.session"
        " FROM memories m JOIN runs r ON r.id = m.run_id WHERE m.org_id = %s", twin.org.id
    )  # fmt: skip
    return sorted(tuple(map(str, row.values())) for row in found)


def _counts(twin: Twin) -> dict[str, int]:
    """Rows by table, but for the audits: which memories are sampled follows from their ids."""
    return {name: len(found) for name, found in twin.rows.items() if name not in ("reviews", "ledger")}


def test_no_door_shows_or_changes_anything_of_another_org(fleet: Fleet) -> None:
    fleet.install(extractor=Reading())

    def hold(story: Story) -> None:
        one, other = twins(fleet)
        live(story, one, other)
        before, marks, words = other.rows, other.markers, names(one, other)
        for token in one.tokens:
            role = token.partition(" ")[0]
            with one.door(token) as conn:
                shown = catalog.read_all(conn, catalog.readable(fleet.database, role))
            assert shown
            assert leaked(shown, marks) == [], token
            for calls in FUNCTIONS[role].values():
                for call in calls:
                    _try(one, token, call, words, marks)
        assert other.rows == before

    told(hold)


def _try(one: Twin, token: str, call: str, words: dict[str, str], marks: set[str]) -> None:
    statement = call.format(**words)
    refused = False
    try:
        with one.door(token) as conn:
            shown = str(conn.execute(statement).fetchall())  # type: ignore[call-overload]
    except DatabaseError as error:
        shown, refused = str(error), True
    assert leaked(shown, marks, statement) == [], statement
    if re.search(r"\{their_(memory|pending|drop)\}'[,)]", call) and "recall" not in call:
        assert refused, statement


@pytest.fixture
def log(tmp_path: Path, valkey: EmbeddedValkey, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AFTERWORD_REDIS_PASSWORD_EMITTER", valkey.password("emitter"))
    file = tmp_path / "session.json"
    file.write_text(json.dumps([{"role": "user", "content": DIES.said[0]}]))
    return file


def test_no_command_shows_or_changes_anything_of_another_org(fleet: Fleet, cli: Cli, log: Path) -> None:
    fleet.install(extractor=Reading())

    workspace = log.with_suffix(".yaml")
    workspace.write_text("namespaces: [{name: review, rules: [Ask for a test with every fix.]}]")

    def hold(story: Story) -> None:
        one, other = twins(fleet)
        live(story, one, other)
        _keep_house(fleet)
        before, marks, words = (
            other.rows,
            other.markers,
            names(one, other) | {"file": str(log), "workspace": str(workspace)},
        )
        for command, calls in COMMANDS.items():
            for call in calls:
                typed = [*command.split(), *shlex.split(call.format(**words))]
                said = cli(*typed)
                assert leaked(said.out + said.err, marks, *typed) == [], typed
                refused = "{their_" in call and command not in ("recall", "redact explain")
                assert said.code == (1 if refused else 0), (typed, said)
        _carry_on(fleet, one, story)
        assert other.rows == before

    told(hold, examples=2)


def _carry_on(fleet: Fleet, one: Twin, story: Story) -> None:
    """Workers do what was asked for; the same sessions come again, and new ones under the same names."""
    while replay.step(fleet.using):
        pass
    for day, told in enumerate(story.sessions):
        fleet.ingest(told.event(one.org, day), told.event(one.org, day + 1))
    fleet.run()
    _keep_house(fleet)


def _keep_house(fleet: Fleet) -> None:
    with fleet.using.pool.connection() as conn:
        for duty in (housekeeping.mark_used, housekeeping.purge, housekeeping.index):
            duty(conn)
