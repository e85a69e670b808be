"""Regression under noise: the metric on clean rows says how much outliers may count."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, make_regression
from sklearn.linear_model import HuberRegressor, LinearRegression, QuantileRegressor, RidgeCV
from sklearn.metrics import (
    mean_absolute_percentage_error,
    mean_pinball_loss,
    median_absolute_error,
)
from sklearn.model_selection import cross_val_predict, train_test_split

from anymetric import MetricRegressor, as_metric
from anymetric.data import Data
from anymetric.errors import MetricWarning
from anymetric.estimators._units import Unit
from anymetric.estimators.regressor import POWERS
from anymetric.models import Linear

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import regression

METRICS = ["median_absolute_error", "pinball_0.9", "within_10%", regression.stock_profit]
NAMES = list(regression.METRICS)


def linear(seed):
    """Three hundred rows to train, clean ones to validate and to test."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(900, 4))
    y = 20.0 + X @ np.array([3.0, -2.0, 1.0, 0.0]) + rng.normal(size=900)
    noisy = y[:300].copy()
    corrupted = rng.random(300) < 0.2
    noisy[corrupted] += 60.0 * rng.random(corrupted.sum())
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
        model = MetricRegressor(metric, model="linear", random_state=seed)
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
    model = MetricRegressor("median_absolute_error", model="linear", random_state=0)
    ours = model.fit(*train, X_val=valid[0], y_val=valid[1]).score(*test)
    assert ours < 0.3 * np.median(np.abs(squared - test[1]))
    # Clean rows and noise of size one: the median of its absolute value is 0.67.
    assert ours < 0.85


def test_descent_combines_powers_between_one_and_four():
    train, valid, test = linear(2)
    model = MetricRegressor(
        "median_absolute_error", method="descent", model="linear", random_state=0
    )
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
    corrupted = ~np.isin(train[1], y)
    assert 0.1 < corrupted.mean() < 0.3
    away = train[1][corrupted]
    assert np.all(np.abs(away - y.mean()) > y.std())
    assert (away.min() < y.min()) == (outliers == "either way")
    assert np.shape(X)[0] == len(load_diabetes().target) or task != "diabetes"


def test_the_table_of_the_benchmark_names_the_best_power(tmp_path):
    def row(method, value):
        return regression.Row("linear", "upwards", "within_10%", method, 0, value)

    text = regression.report([row("p = 2", 0.2), row("p = 1.2", 0.5), row("anymetric", 0.6)])
    assert "| p = 1.2 | 0.500   | 0.200 | 0.600     | +20.0 %" in text


def halves():
    X, y = load_diabetes(return_X_y=True)
    return train_test_split(X, y, random_state=0)


def stock_loss(y_true, y_pred):
    off = y_true - y_pred
    return float(np.mean(np.where(off > 0, 9.0 * off, -off)))


@pytest.mark.parametrize("level", [0.1, 0.75, 0.95])
def test_a_metric_that_leans_gets_predictions_to_one_side(level):
    X, X_test, y, y_test = halves()
    ridge = RidgeCV(np.logspace(-3, 1, 9)).fit(X, y)
    off = y - cross_val_predict(ridge, X, y)
    baseline = mean_pinball_loss(
        y_test, ridge.predict(X_test) + np.quantile(off, level), alpha=level
    )
    model = MetricRegressor(f"pinball_{level}", model="linear", random_state=0).fit(X, y)
    assert model.score(X_test, y_test) <= 1.05 * baseline
    assert np.mean(y_test <= model.predict(X_test)) == pytest.approx(level, abs=0.1)
    assert any(name.startswith("tilted") for name in model.weights_)


@pytest.mark.parametrize(("budget", "most"), [(None, 105.0), (200, 107.0), (20, 110.0)])
def test_a_function_that_leans_is_followed_within_its_budget(budget, most):
    X, X_test, y, y_test = halves()
    model = MetricRegressor(
        stock_loss, max_metric_calls=budget, model="linear", random_state=0
    ).fit(X, y)
    assert budget is None or model.n_metric_calls_ <= budget
    assert stock_loss(y_test, model.predict(X_test)) < most


def test_a_metric_that_does_not_lean_is_left_alone():
    X, _, y, _ = halves()
    model = MetricRegressor("r2", model="linear", random_state=0).fit(X, y)
    assert not any(name.startswith("tilted") for name in model.weights_)


@pytest.mark.parametrize("size", [300.0, 1e4, 1e9])
@pytest.mark.parametrize("part", [0.05, 0.2])
def test_gross_outliers_are_not_the_unit(size, part):
    rng = np.random.default_rng(0)
    X, y = make_regression(500, 5, noise=5, random_state=0)
    wrong = rng.random(500) < part
    corrupted = y + np.where(wrong, size * rng.choice([-1.0, 1.0], 500), 0.0)
    model = MetricRegressor("median_absolute_error", model="linear", random_state=0).fit(
        X[:300], corrupted[:300]
    )
    exact = QuantileRegressor(alpha=0).fit(X[:300], corrupted[:300]).predict(X[300:])
    found = median_absolute_error(y[300:], model.predict(X[300:]))
    assert found < 1.25 * median_absolute_error(y[300:], exact)


def test_targets_without_outliers_are_not_drawn_in():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=200)
    data, model = Data(X, y), Linear.standardised(X)
    left = y - LinearRegression().fit(X, y).predict(X)
    assert Unit.of(data, model).spread == pytest.approx(np.sqrt(np.mean(left**2)), rel=1e-3)


def test_a_handful_of_rows_is_no_worse_than_their_median():
    X, y = load_diabetes(return_X_y=True)
    errors = []
    for seed in range(8):
        rows = np.random.default_rng(seed).choice(len(y), 8, replace=False)
        rest = np.setdiff1d(np.arange(len(y)), rows)
        model = MetricRegressor("mean_absolute_error", model="linear", random_state=0).fit(
            X[rows], y[rows]
        )
        errors.append(
            [
                np.mean(np.abs(y[rest] - model.predict(X[rest]))),
                np.mean(np.abs(y[rest] - np.median(y[rows]))),
            ]
        )
    ours, median = np.mean(errors, axis=0)
    assert ours < 1.02 * median


@pytest.mark.parametrize("budget", [1, 2, 5])
def test_few_calls_look_at_a_line_before_trees(budget):
    X, y = make_regression(150, 6, noise=20, random_state=0)
    found = {
        model: MetricRegressor(
            stock_loss, model=model, max_metric_calls=budget, random_state=0
        ).fit(X, y)
        for model in ("linear", "auto")
    }
    assert found["auto"].cost_ <= 1.05 * found["linear"].cost_
    assert found["auto"].n_metric_calls_ <= budget


@pytest.mark.parametrize("seed", range(3))
def test_errors_by_their_share_of_the_target_can_be_trained_for(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 5))
    y = np.exp(X[:, 0] + 0.5 * X[:, 1] + 0.5 * rng.normal(size=400))
    model = MetricRegressor("neg_mean_absolute_percentage_error", model="linear", random_state=0)
    model.fit(X[:200], y[:200])
    levels = np.quantile(y[:200], np.linspace(0.0, 1.0, 51))
    constant = min(mean_absolute_percentage_error(y[200:], np.full(200, c)) for c in levels)
    found = mean_absolute_percentage_error(y[200:], model.predict(X[200:]))
    assert found < 0.9 * constant


def test_targets_of_both_signs_have_no_shares():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    model = MetricRegressor("mean_absolute_error", model="linear", random_state=0).fit(X, X[:, 0])
    assert not any("relative" in one.name for one in model.summary_.candidates)


def test_surrogates_that_the_default_does_not_read_are_warned_of():
    X, y = make_regression(200, 4, noise=1.0, random_state=0)
    given = MetricRegressor(
        "median_absolute_error", surrogates="squared", model="linear", random_state=0
    )
    with pytest.warns(MetricWarning, match="losses of its own"):
        given.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MetricRegressor("median_absolute_error", model="linear", random_state=0).fit(X, y)
        given.set_params(method="descent").fit(X, y)


def test_the_ridge_of_middling_wide_tables_is_sought():
    rng = np.random.default_rng(0)
    w, X = rng.normal(size=700), rng.normal(size=(2800, 700))
    y = X @ w + 60.0 * rng.normal(size=2800)
    found = MetricRegressor("r2", model="linear", random_state=0).fit(X[:800], y[:800])
    assert found.score(X[800:], y[800:]) > -0.05  # a ridge of one row has -1.7


@pytest.mark.parametrize("kind", ["exponential", "cauchy"])
def test_outliers_do_not_ask_for_ridge_where_rows_are_few(kind):
    rng = np.random.default_rng(0)
    w, X = rng.normal(size=50), rng.normal(size=(2300, 50))
    y = X @ w + rng.normal(size=2300)
    wild = rng.exponential(30.0, 300) if kind == "exponential" else 20 * rng.standard_cauchy(300)
    corrupted = y[:300] + np.where(rng.random(300) < 0.1, wild, 0.0)
    ours = MetricRegressor("median_absolute_error", model="linear", random_state=0).fit(
        X[:300], corrupted
    )
    theirs = HuberRegressor(max_iter=1000).fit(X[:300], corrupted)
    assert ours.score(X[300:], y[300:]) < 1.15 * np.median(
        np.abs(theirs.predict(X[300:]) - y[300:])
    )
