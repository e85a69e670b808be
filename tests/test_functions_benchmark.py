"""The benchmark of functions: what it counts, and what its table says."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks import functions


def test_limits_are_limits():
    y = np.repeat([1, 0], [10, 90])
    most = np.where(np.arange(100) < 7, 1, 0)
    assert functions.precision_with_floor(y, most) == 1.0
    assert functions.precision_with_floor(y, np.where(np.arange(100) < 6, 1, 0)) < 0.0
    assert functions.hits_within_capacity(y, np.where(np.arange(100) < 20, 1, 0)) == 0.1
    assert functions.hits_within_capacity(y, np.where(np.arange(100) < 25, 1, 0)) < 0.0


def test_calls_are_counted_and_the_budget_is_kept():
    row = functions.measure(functions.accuracy_less_odds_gap, "compas", "anymetric, 200 calls", 0)
    assert 0 < row.calls <= 200
    assert 0.3 < row.value < 0.8


def test_the_table_marks_the_best_and_gives_the_median_of_the_calls():
    rows = [
        functions.Row("f1", "compas", name, seed, 0.5 + 0.1 * k, 1.0, 10 * k + seed)
        for k, name in enumerate(functions.methods(0))
        for seed in (0, 1, 2)
    ]
    line = next(one for one in functions.report(rows).splitlines() if one.startswith("| f1"))
    cells = [cell.strip() for cell in line.split("|")[1:-1]]
    assert cells[2:4] == ["3", "0.5000 ± 0.0000"]
    assert cells[5] == "**0.7000 ± 0.0000**"
    assert [float(cell) for cell in cells[6:]] == pytest.approx([1, 11, 21])
