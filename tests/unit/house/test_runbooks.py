"""Every alert leads to a page, every page is in the index, and pages and alerts speak of what exists."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

from tests.unit.house.sources import ROOT, commands, wrong_calls, yaml

ALERTS: list[dict[str, Any]] = [
    rule for group in yaml("ops/deploy/alerts.yml")["groups"] for rule in group["rules"] if "alert" in rule
]
PAGES = sorted(path.name for path in (ROOT / "runbooks").glob("*.md") if path.name != "README.md")
INDEX = (ROOT / "runbooks/README.md").read_text()


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert["alert"])
def test_an_alert_says_what_is_wrong_and_which_page_helps(alert: dict[str, Any]) -> None:
    assert alert["annotations"].keys() == {"summary", "description", "runbook"}
    assert alert["labels"]["severity"] in {"page", "ticket"}
    assert (ROOT / alert["annotations"]["runbook"]).is_file()


def test_the_index_lists_every_page_with_its_alerts() -> None:
    rows = re.findall(r"^\| \[[\w.-]+\]\(([\w.-]+)\) \|[^|]*\|([^|]*)\|$", INDEX, re.MULTILINE)
    assert sorted(page for page, _ in rows) == PAGES
    listed = {(page, name) for page, names in rows for name in re.findall(r"`(\w+)`", names)}
    assert listed == {(alert["annotations"]["runbook"].removeprefix("runbooks/"), alert["alert"]) for alert in ALERTS}


def test_every_alert_has_a_test_that_fires_it() -> None:
    cases = [case for test in yaml("ops/deploy/alerts.test.yml")["tests"] for case in test["alert_rule_test"]]
    assert {case["alertname"] for case in cases if case["exp_alerts"]} == {alert["alert"] for alert in ALERTS}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_the_wrong_way_before_the_right_one(page: str) -> None:
    headings = re.findall(r"^## (.+)$", (ROOT / "runbooks" / page).read_text(), re.MULTILINE)
    assert headings == ["Tempting and wrong", "Right", "It is over when"]


PAGES_WITH_COMMANDS = sorted([*(ROOT / "runbooks").glob("*.md"), ROOT / "ops/deploy/README.md"])


@pytest.mark.skipif(importlib.util.find_spec("ops.cli") is None, reason="the command line is not written yet")
@pytest.mark.parametrize("page", PAGES_WITH_COMMANDS, ids=lambda page: page.name)
def test_a_page_names_only_commands_that_exist(page: Path) -> None:
    assert wrong_calls(_calls(page.read_text()), commands()) == []


def _calls(text: str) -> list[str]:
    """What follows `afterword` in code blocks and in code spans of a page."""
    start = r"(?:afterword|docker compose run --rm cli)"
    return [
        *re.findall(rf"^ *{start} ([a-z].*)$", text, re.MULTILINE),
        *re.findall(rf"`{start} ([a-z][^`]*)`", text),
    ]


def test_a_call_is_judged_by_its_words_and_options() -> None:
    known = {"runs list": {"--state"}, "check": set[str]()}
    calls = _calls(
        "  afterword runs list --state received\n`afterword check` `afterword runs drop`\nafterword check --all\n"
    )
    assert wrong_calls(calls, known) == ["check --all", "runs drop"]
