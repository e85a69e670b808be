"""The benchmark without a validation set: its samples, its baselines and its table."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks import alone


def found(name):
    return next(task for task in alone.TASKS if task.data == name)


def test_every_method_is_evaluated_on_the_same_rows_by_functions_of_scikit_learn():
    task = found("wine")
    X, X_test, y, y_test = alone.parts(task, 3)
    assert len(X) == len(y) > len(y_test) == len(X_test)
    assert not {row.tobytes() for row in X} & {row.tobytes() for row in X_test}
    rows = {row.method: row for row in alone.measure(task, 3, list(alone.methods("f1", 3)))}
    assert list(rows) == list(alone.methods("f1", 0))
    model = alone.scaled().fit(X, y)
    recalls = [np.mean(model.predict(X_test)[y_test == k] == k) for k in (0, 1)]
    assert rows["logistic regression"].value == pytest.approx(np.mean(recalls))
    assert rows[alone.OURS].value > 0.8


def test_the_table_counts_clear_wins_and_ranks_linear_models_only():
    names = list(alone.methods("f1", 0))
    value = dict.fromkeys(names, 0.5) | {alone.OURS: 0.7, "balanced": 0.8, alone.TREES: 0.9}
    rows = [
        alone.Row("a", "f1", 300, name, seed, value[name] + 0.001 * seed * k, 1.0)
        for k, name in enumerate(names)
        for seed in (0, 1)
    ]
    text = alone.report(rows)
    assert "**0.8010 ± 0.0010**" in text
    lines = {line.split("|")[1].strip(): line for line in text.splitlines() if "|" in line}
    cells = [cell.strip() for cell in lines["balanced"].split("|")[2:5]]
    assert cells == ["1.00", "0", "1"]
    assert [cell.strip() for cell in lines["threshold"].split("|")[3:5]] == ["1", "0"]
    assert lines[alone.TREES].split("|")[2].strip() == "–"
