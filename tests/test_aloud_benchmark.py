"""The benchmark of explanations: what it measures, and what its table says."""

import re
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.learned import aloud
from benchmarks.learned.metrics_users_write import WRITTEN

BY_NAME = {one.name: one for one in WRITTEN}


def test_there_are_twenty_functions_half_of_them_new():
    assert len(BY_NAME) == len(WRITTEN) == 20
    assert sum(one.new for one in WRITTEN) == 10


def test_limits_are_limits():
    y = np.repeat([1, 0], [10, 90])
    few, many = (np.where(np.arange(100) < k, 1, 0) for k in (30, 31))
    assert BY_NAME["recall_within_capacity"].function(y, few) == 1.0
    assert BY_NAME["recall_within_capacity"].function(y, many) == -1.0


def test_a_streak_is_counted_in_the_order_of_the_rows():
    y, wrong = np.zeros(6, dtype=int), np.array([1, 1, 0, 1, 1, 1])
    assert BY_NAME["longest_streak"].function(y, wrong) == -3.0


def test_a_function_is_measured_on_unseen_decisions():
    row = aloud.measure(BY_NAME["women_cost_more"], "compas", 100)
    assert row.right
    assert row.named
    assert 0 < row.calls <= 60


def test_the_table_counts_functions_that_are_right_in_all_runs():
    rows = [
        aloud.Row(
            "f_two", "development", "adult", seed, value, 1, 1, "F-beta with beta 2", 33, 60, 0.1
        )
        for seed, value in ((0, 1.0), (1, 0.5))
    ]
    rows.append(aloud.Row("coin", "new", "adult", 0, 0.0, 0, 0, "", 33, 60, 0.1))
    text = aloud.report(rows)
    assert "0 of 2 functions are predicted and 1 are named" in text
    assert re.search(r"\| f_two +\| +\| 2 .*\| 1/2 +\| 2/2 +\| 2/2", text)
