"""Targets whose effects multiply: the logarithm is tried, and taken where it is better."""

import pickle

import numpy as np
import pytest
from sklearn.callback import ProgressBar
from sklearn.metrics import mean_absolute_error

from anymetric import MetricRegressor
from anymetric.estimators.regressor import UntilBehind
from anymetric.ledger import Probe
from anymetric.solution import Interrupted, Iteration, Solution, Status

ROWS = 250
MAPE = "mean_absolute_percentage_error"
MSLE = "neg_mean_squared_log_error"


def multiplied(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1250, 4))
    return X, np.exp(1.0 + X @ np.array([0.8, 0.5, -0.3, 0.0]) + 0.3 * rng.normal(size=1250))


def added(seed):
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(1250, 4))
    return X, X @ np.array([3.0, 2.0, 1.0, 0.0]) + rng.exponential(size=1250)


def fitted(metric, X, y, **settings):
    return MetricRegressor(metric, **{"model": "linear", "random_state": 0, **settings}).fit(
        X[:ROWS], y[:ROWS]
    )


@pytest.mark.parametrize(("metric", "part"), [(MAPE, 0.8), ("mean_absolute_error", 0.8)])
def test_effects_that_multiply_are_found(metric, part):
    costs = {"auto": [], "identity": []}
    for seed in range(3):
        X, y = multiplied(seed)
        for link, found in costs.items():
            found.append(abs(fitted(metric, X, y, link=link).score(X[ROWS:], y[ROWS:])))
    assert np.mean(costs["auto"]) < part * np.mean(costs["identity"])


def test_a_metric_that_fails_below_zero_is_asked_above_it():
    X, y = multiplied(0)
    model = fitted(MSLE, X, y)
    assert model.link_ == "log"
    assert model.score(X[ROWS:], y[ROWS:]) > -0.1


@pytest.mark.parametrize("metric", [MAPE, "mean_absolute_error", "r2"])
def test_effects_that_add_up_stay_a_line(metric):
    X, y = added(0)
    auto, plain = (fitted(metric, X, y, link=link) for link in ("auto", "identity"))
    assert auto.link_ == "identity"
    np.testing.assert_array_equal(auto.coef_, plain.coef_)
    assert set(auto.summary_.link_costs) == {"identity", "log"}
    assert auto.n_metric_calls_ > plain.n_metric_calls_


def test_targets_below_zero_or_near_each_other_are_left_as_they_are():
    X, y = multiplied(0)
    for other in (y - y.mean(), 1000.0 + y):
        model = fitted("r2", X, other)
        assert model.link_ == "identity"
        assert not model.summary_.link_costs
    with pytest.raises(ValueError, match="zero or more"):
        fitted("r2", X, y - y.mean(), link="log")


@pytest.mark.parametrize("settings", [{}, {"standardize": False}, {"method": "descent"}])
def test_the_line_is_one_of_logarithms(settings):
    X, y = multiplied(0)
    model = fitted("mean_absolute_error", X, y, link="log", **settings)
    assert model.link_ == "log"
    np.testing.assert_allclose(model.predict(X), np.exp(X @ model.coef_ + model.intercept_))
    np.testing.assert_allclose(model.coef_, [0.8, 0.5, -0.3, 0.0], atol=0.15)
    assert model.score(X, y) == pytest.approx(mean_absolute_error(y, model.predict(X)))
    assert model.diagnose(X, y).cost == pytest.approx(model.score(X, y), rel=1e-6)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_the_unit_of_the_target_does_not_matter():
    X, y = multiplied(0)
    small, large = (fitted("mean_absolute_error", X, unit * y) for unit in (1.0, 1e6))
    np.testing.assert_allclose(1e6 * small.predict(X), large.predict(X), rtol=1e-6)


def test_counts_with_zeros_have_a_logarithm():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1250, 3))
    y = rng.poisson(np.exp(0.5 + X @ np.array([0.7, 0.4, 0.0])))
    plain, auto = (fitted("r2", X, y, link=link) for link in ("identity", "auto"))
    assert (y == 0).mean() > 0.1
    assert auto.link_ == "log"
    assert auto.score(X[ROWS:], y[ROWS:]) > plain.score(X[ROWS:], y[ROWS:]) + 0.05


@pytest.mark.parametrize("model", ["boosted", "auto"])
def test_trees_grow_on_logarithms_too(model):
    pytest.importorskip("lightgbm")
    X, y = multiplied(0)
    found = fitted(MAPE, X, y, model=model, link="log")
    scores = found.model_.scores(X)
    np.testing.assert_allclose(found.predict(X), np.exp(scores))
    assert found.diagnose(X[ROWS:], y[ROWS:]).cost == pytest.approx(
        found.score(X[ROWS:], y[ROWS:]), rel=1e-6
    )


@pytest.mark.parametrize("budget", [1, 20, 200, 5000])
def test_calls_for_both_are_counted(budget):
    X, y = multiplied(0)
    model = fitted("mean_absolute_error", X, y, max_metric_calls=budget)
    assert model.n_metric_calls_ <= budget
    assert model.link_ == ("log" if budget == 5000 else "identity")


@pytest.mark.filterwarnings("ignore")
def test_a_stop_among_the_logarithms_keeps_the_line():
    X, y = multiplied(0)
    calls = fitted("mean_absolute_error", X, y, link="identity").n_metric_calls_
    asked = []

    def impatient(y_true, y_pred):
        asked.append(1)
        if len(asked) > calls + 50:
            raise KeyboardInterrupt
        return mean_absolute_error(y_true, y_pred)

    model = MetricRegressor(impatient, model="linear", greater_is_better=False, random_state=0)
    with pytest.raises(Interrupted) as stop:
        model.fit(X[:ROWS], y[:ROWS])
    assert stop.value.best is model
    assert model.link_ == "identity"
    np.testing.assert_allclose(model.predict(X), X @ model.coef_ + model.intercept_)


def test_both_runs_are_one_task_for_callbacks():
    X, y = multiplied(0)
    model = MetricRegressor("mean_absolute_error", random_state=0).set_callbacks(ProgressBar())
    assert model.fit(X[:ROWS], y[:ROWS]).link_ == "log"


def test_logarithms_are_given_up_once_their_first_trees_are_behind():
    def iteration(cost, family):
        probe = Probe(np.zeros(0), np.ones(1), cost)
        return Iteration(0, 0, probe, np.ones(1), family=family)

    plain = Solution(
        iteration(1.0, "boosted"), Status.SELECTED, tuple(iteration(c, f) for c, f in SEEN)
    )
    for cost, ended in ((1.02, False), (1.04, True)):
        watched = UntilBehind.of(plain, None)
        assert not watched(iteration(9.0, "linear"))
        assert watched(iteration(cost, "boosted")) == watched.behind == ended
    stopped = UntilBehind.of(plain, lambda seen: True)
    assert stopped(iteration(9.0, "boosted"))
    assert not stopped.behind


SEEN = ((2.0, "linear"), (1.0, "boosted"), (0.8, "boosted"))


def test_given_up_logarithms_end_no_fit_early():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, size=(400, 3))
    y = 10.0 + 8.0 * np.sign(X[:, 0] * X[:, 1]) + X[:, 2] + rng.normal(size=400)
    model = MetricRegressor("root_mean_squared_error", random_state=0).fit(X, np.maximum(y, 0.0))
    assert model.status_.name == "SELECTED"
