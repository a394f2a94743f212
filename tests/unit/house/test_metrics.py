"""The alert rules name metrics, labels and label values that the fleet has."""

from __future__ import annotations

import importlib
import importlib.util
import re
from typing import Any

import pytest
from prometheus_client.metrics import MetricWrapperBase

from db.sql import query
from pipeline.outcome import Bury, Done, Retry, Skip, Snooze
from tests.unit.house.sources import yaml

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("workers.metrics") is None, reason="the fleet's metrics are not declared yet"
)
RULES: list[dict[str, Any]] = [rule for group in yaml("ops/deploy/alerts.yml")["groups"] for rule in group["rules"]]


def _declared() -> dict[str, set[str]]:
    """Name as scraped to label names."""
    declared = vars(importlib.import_module("workers.metrics")).values()
    metrics = [value for value in declared if isinstance(value, MetricWrapperBase)]
    return {
        metric._name + ("_total" if metric._type == "counter" else ""): set(metric._labelnames) for metric in metrics
    }


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_a_rule_names_declared_metrics_and_labels(rule: dict[str, Any]) -> None:
    declared = _declared()
    for name, selector in re.findall(r"(afterword_\w+)(?:\{([^}]*)\})?", rule["expr"]):
        assert name in declared
        assert set(re.findall(r"(\w+)\s*=", selector)) <= declared[name]
    for label, name in re.findall(r"by \((\w+)\) \((?:\w+\()?(afterword_\w+)", rule["expr"]):
        assert label in declared[name]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_a_rule_selects_label_values_that_occur(rule: dict[str, Any]) -> None:
    selected = set(re.findall(r'(\w+)="(\w+)"', rule["expr"])) - {("job", "afterword")}
    assert selected <= _values()


def _values() -> set[tuple[str, str]]:
    ages = re.findall(r"(?:THEN|ELSE) '(\w+)'", query("housekeeping.review_gauges"))
    return {
        *(("age", age) for age in ages),
        *(("kind", kind) for kind in importlib.import_module("workers.housekeeping").REVIEW_KINDS),
        *(("stage", stage) for stage in importlib.import_module("workers.fleet").NAMES),
        *(("reason", reason) for reason in importlib.import_module("workers.metering").WAITS_FOR),
        *(("outcome", kind.__name__.lower()) for kind in (Done, Retry, Snooze, Skip, Bury)),
    }
