"""The benchmarks of costs by row and of probabilities: costs as published, splits, tables."""

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.decisions import german, probabilities, profit, tables


def some_costs(n=180):
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.3).astype(int)
    gains = tables.gains_of(n, tp=rng.random(n), fp=-1.0)
    return tables.Costs("some", rng.normal(size=(n, 2)), y, gains, np.arange(n) % 2 == 0)


def test_a_loan_costs_what_its_instalments_say():
    income, debt = np.array([2000.0, 9000.0, 3000.0]), np.array([0.1, 0.2, 0.95])
    rates = {"int_r": 0.0479 / 12, "int_cf": 0.0294 / 12, "cl_max": 25_000.0}
    gains = tables.loan_gains(income, debt, 0.07, **rates)
    months, rate = 24, rates["int_r"]
    # What the third can pay back: a twentieth of the income, month by month.
    third = sum(0.05 * 3000.0 / (1 + rate) ** t for t in range(1, months + 1))
    assert gains["fn"] == pytest.approx(-0.75 * np.array([6000.0, 25_000.0, third]) / 1000.0)
    assert np.all(gains["fp"] <= 0.0)
    assert not np.any(gains["tp"])


def test_only_training_labels_of_the_group_are_flipped():
    costs = some_costs()
    plain, corrupted = (profit.parts_of(costs, labels, 3) for labels in ("as they are", "flipped"))
    np.testing.assert_array_equal(plain.train, corrupted.train)
    wrong = np.flatnonzero(corrupted.y != costs.y)
    assert 0.1 < len(wrong) / np.isin(np.flatnonzero(costs.group), corrupted.train).sum() < 0.5
    assert np.isin(wrong, corrupted.train).all()
    assert costs.group[wrong].all()
    rows = np.concatenate([plain.train, plain.valid, plain.test])
    assert len(np.unique(rows)) == len(rows) == 180


def test_the_textbooks_rule_flags_rows_of_positive_expectation():
    parts = profit.parts_of(some_costs(), "as they are", 0)
    flagged = profit.by_rule(parts, np.full(len(parts.test), 0.6))
    np.testing.assert_array_equal(flagged, 0.6 * parts.side(parts.test)["tp"] > 0.4)


def test_tables_tell_who_is_ahead_and_who_is_behind():
    rows = [
        profit.Row("some", "as they are", method, seed, value + 0.01 * seed * own, 0.1, "v")
        for method, value, own in ((profit.OURS, 1.0, 1), ("logistic + rule", 0.5, 1.1))
        for seed in range(4)
    ]
    text = profit.report(rows)
    assert "seeds 0 to 3" in text
    assert "+0.4985 ± 0.0006 **" in text
    assert profit.mark([-1.0, -1.1]) == " !"
    assert "+0.1000" in german.report(
        [german.Row(m, 0, v, 1.0) for m, v in zip(german.METHODS, (-0.5, -0.6, -0.6), strict=True)]
    )


def test_the_gain_is_that_of_the_cost_matrix():
    y, flagged = np.array([1, 1, 0, 0]), np.array([1, 0, 1, 0])
    bound = german.GAINS.bind(2.0 * y - 1.0)
    assert german.gain(y, flagged) == float(bound.values(2.0 * flagged - 1.0)) == -1.5


def test_calibration_errors_agree_with_scikit_learns_curve():
    rng = np.random.default_rng(0)
    p = rng.random(1000)
    y = (rng.random(1000) < p**2).astype(int)
    true, said = calibration_curve(y, p, n_bins=10, strategy="quantile")
    found = probabilities.calibration_error(y, np.column_stack([1.0 - p, p]))
    assert found == pytest.approx(np.mean(np.abs(true - said)), abs=0.005)
