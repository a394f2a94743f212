"""Every metric that is declared is emitted somewhere in the fleet."""

from __future__ import annotations

import ast
import re

import pytest
from prometheus_client.metrics import MetricWrapperBase

from tests.unit.house.sources import ROOT, tree
from workers import metrics

DECLARED = {name: value for name, value in vars(metrics).items() if isinstance(value, MetricWrapperBase)}
EMITTED = "|".join(
    ast.unparse(tree(path))
    for path in sorted([*(ROOT / "workers").glob("*.py"), *(ROOT / "gateway").glob("*.py")])
    if path.name != "metrics.py"
)


@pytest.mark.parametrize("name", DECLARED)
def test_a_metric_is_emitted(name: str) -> None:
    verbs = {"gauge": "set|set_to_current_time", "counter": "inc", "histogram": "observe"}[DECLARED[name]._type]
    assert re.search(rf"metrics\.{name}\b(\.labels\(.*\))?\.({verbs})\(", EMITTED)
