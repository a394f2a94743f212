"""The alert rules name metrics and labels that the fleet declares."""

from __future__ import annotations

import importlib
import importlib.util
import re
from typing import Any

import pytest
from prometheus_client.metrics import MetricWrapperBase

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
