"""Small files and small functions, as a ratchet: these figures may be lowered, not raised."""

from __future__ import annotations

from statistics import median, quantiles

from tests.unit.house.sources import ROOT, functions, modules

FUNCTION_LINES_MAX = 70
FUNCTION_LINES_P95 = 40
FUNCTION_LINES_MEDIAN = 8
FILE_LINES_MAX = 500
FILE_LINES_MEDIAN = 120


def test_no_function_is_long() -> None:
    assert [(where, lines) for where, lines in functions() if lines > FUNCTION_LINES_MAX] == []


def test_most_functions_are_short() -> None:
    lengths = [lines for _, lines in functions()]
    assert quantiles(lengths, n=20)[-1] <= FUNCTION_LINES_P95
    assert median(lengths) <= FUNCTION_LINES_MEDIAN


def test_files_are_short() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in modules().values()}
    assert {name: lines for name, lines in lengths.items() if lines > FILE_LINES_MAX} == {}
    assert median(lengths.values()) <= FILE_LINES_MEDIAN
