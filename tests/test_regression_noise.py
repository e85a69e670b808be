"""Regression under noise: the metric on clean rows says how much outliers may count."""

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression

from anymetric import MetricRegressor, as_metric
from anymetric.estimators.regressor import POWERS

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import regression

METRICS = ["median_absolute_error", "pinball_0.9", "within_10%", regression.stock_profit]
NAMES = list(regression.METRICS)


def linear(seed):
    """Three hundred rows to train, clean ones to judge and to test."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(900, 4))
    y = 20.0 + X @ np.array([3.0, -2.0, 1.0, 0.0]) + rng.normal(size=900)
    noisy = y[:300].copy()
    spoilt = rng.random(300) < 0.2
    noisy[spoilt] += 60.0 * rng.random(spoilt.sum())
    return (X[:300], noisy), (X[300:500], y[300:500]), (X[500:], y[500:])


@pytest.mark.parametrize("metric", METRICS, ids=NAMES)
def test_the_default_is_within_a_twentieth_of_the_best_power_with_hindsight(metric):
    judge = as_metric(metric)
    ours, alone = [], {}
    for seed in range(3):
        train, valid, test = linear(seed)
        bound = judge.bind(test[1])
        for name, predicted in regression.singles(train, test[0]):
            alone.setdefault(name, []).append(bound.values(predicted))
        model = MetricRegressor(metric, random_state=seed)
        model.fit(*train, X_val=valid[0], y_val=valid[1])
        ours.append(bound.values(model.predict(test[0])))
    pick = max if judge.greater_is_better else min
    best = pick(np.mean(values) for values in alone.values())
    assert regression.behind(judge.name, np.mean(ours), best) < 0.05


def test_the_best_power_depends_on_the_metric():
    train, _, test = linear(0)
    found = {}
    for name, judge in regression.METRICS.items():
        values = {p: judge.bind(test[1]).values(f) for p, f in regression.singles(train, test[0])}
        pick = max if judge.greater_is_better else min
        found[name] = pick(values, key=values.get)
    assert len(set(found.values())) > 1


def test_least_squares_is_led_astray_where_the_default_is_not():
    train, valid, test = linear(1)
    squared = LinearRegression().fit(*train).predict(test[0])
    model = MetricRegressor("median_absolute_error", random_state=0)
    ours = model.fit(*train, X_val=valid[0], y_val=valid[1]).score(*test)
    assert ours < 0.3 * np.median(np.abs(squared - test[1]))
    # Clean rows and noise of size one: the median of its absolute value is 0.67.
    assert ours < 0.85


def test_descent_combines_powers_between_one_and_four():
    train, valid, test = linear(2)
    model = MetricRegressor("median_absolute_error", method="descent", random_state=0)
    model.fit(*train, X_val=valid[0], y_val=valid[1])
    assert set(model.weights_) == {f"lp({p:g})[all]" for p in POWERS}
    assert min(POWERS) < 1.2
    assert max(POWERS) == 4.0
    squared = LinearRegression().fit(*train).predict(test[0])
    assert model.score(*test) < np.median(np.abs(squared - test[1]))


@pytest.mark.parametrize("outliers", list(regression.SIDES))
@pytest.mark.parametrize("task", ["diabetes", "linear", "friedman", "credit"])
def test_a_fifth_of_the_training_targets_of_the_benchmark_are_gross_outliers(task, outliers):
    X, y = regression.TASKS[task](0)
    train, valid, test = regression.parts(task, outliers, 0)
    assert len(train[1]) + len(valid[1]) + len(test[1]) == len(y)
    assert set(valid[1]) | set(test[1]) <= set(y)
    spoilt = ~np.isin(train[1], y)
    assert 0.1 < spoilt.mean() < 0.3
    away = train[1][spoilt]
    assert np.all(np.abs(away - y.mean()) > y.std())
    assert (away.min() < y.min()) == (outliers == "either way")
    assert np.shape(X)[0] == len(load_diabetes().target) or task != "diabetes"


def test_the_table_of_the_benchmark_names_the_best_power(tmp_path):
    def row(method, value):
        return regression.Row("linear", "upwards", "within_10%", method, 0, value)

    text = regression.report([row("p = 2", 0.2), row("p = 1.2", 0.5), row("anymetric", 0.6)])
    assert "| p = 1.2 | 0.500   | 0.200 | 0.600     | +20.0 %" in text
