"""The benchmark of recommendations: one fit by the command, and its table."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks import recommendations as bench


def test_the_saved_model_is_evaluated_on_rows_that_the_command_never_saw():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(360, 3))
    table = bench.framed(X, (X[:, 0] + 0.3 * rng.normal(size=360) > 0.5).astype(int))
    row = bench.measured("drawn", table, "f1", 0)
    assert min(row.value, row.ours, row.baseline) > 0.7
    assert row.value == (row.ours if row.own else row.baseline)
    assert row.choice in bench.MEANS


def test_the_table_counts_choices_and_pairs_values():
    rows = [
        bench.Row("a", "f1", 0, 0.8, 0.8, 0.6, "MODEL", 1),
        bench.Row("b", "f1", 0, 0.7, 0.6, 0.7, "EQUAL", 0),
        bench.Row(bench.RANDOM[0], "f1", 0, 0.1, 0.1, 0.2, "EQUAL", 1),
    ]
    lines = {
        tuple(cell.strip() for cell in line.split("|")[1:3]): line
        for line in bench.report(rows).splitlines()
        if line.startswith("|")
    }
    assert "1 of 2" in lines["tables", bench.MEANS["MODEL"]]
    assert "+0.1000 ± 0.1000" in lines["tables", "all"]
    assert "-0.1000" in lines["random labels", "all"]


def test_random_labels_are_predicted_by_nothing():
    found = dict(bench.drawn(3))
    for name in bench.RANDOM:
        table = found[name]
        sizes = [abs(np.corrcoef(table[x], table.target)[0, 1]) for x in table.columns[:-1]]
        assert max(sizes) < 0.15
        assert table.target.mean() == pytest.approx(float(name.split()[2]) / 100, abs=0.05)
