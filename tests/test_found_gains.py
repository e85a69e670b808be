"""Functions that are sums of every row's own gain: found by some answers, decided by row."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anymetric import MetricClassifier
from anymetric.auto.judges.gains import CHECKS, find_gains
from anymetric.data import Data
from anymetric.errors import MetricWarning
from anymetric.ledger import Ledger
from anymetric.metrics import Profit, metric
from anymetric.problem import Problem
from anymetric.rules import RowRule, ThresholdRule
from test_row_rule import clients

COEFFICIENT = st.floats(-9, 9).map(lambda x: round(x, 2))


def saved(y_true, y_pred, amount):
    return float(np.sum(y_pred * (y_true * amount - 1.0)))


def problem_of(function, n=300, seed=0, greater_is_better=True):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0.5, 1.0, -1.0)
    side = {"a": rng.lognormal(size=n), "b": rng.normal(size=n)}
    wrapped = metric(function, greater_is_better=greater_is_better)
    return Problem(Data(X, y, side=side), "logistic", wrapped, labels=(0, 1))


def found(problem, limit=None):
    ledger = Ledger(problem, limit)
    scores = problem.valid.X[:, :1] - 0.5
    return find_gains(ledger, scores, np.random.default_rng(1)), ledger.calls


@settings(max_examples=40, deadline=None)
@given(st.tuples(*[COEFFICIENT] * 6), COEFFICIENT, st.booleans(), st.booleans())
def test_any_sum_of_linear_gains_is_found_and_is_the_function(coefficients, left, mean, greater):
    own, other = np.array(coefficients[:3]), np.array(coefficients[3:])
    if not np.any(coefficients):
        return

    def f(y_true, y_pred, a, b):
        terms = np.column_stack([np.ones(len(a)), a, b])
        gains = np.where(y_true == 1, terms @ own, terms @ other)
        return (np.mean if mean else np.sum)(y_pred * gains + left)

    problem = problem_of(f, greater_is_better=greater)
    gains, calls = found(problem)
    assert calls <= 2 * 3 + 1 + CHECKS
    rng = np.random.default_rng(2)
    for share in (0.0, 0.3, 1.0):
        scores = np.where(rng.random(len(problem.valid)) < share, 1.0, -1.0)
        bound = gains.bind(problem.valid.y, side=problem.valid.side)
        cost = float(problem.judge.costs(scores))
        assert -float(bound.values(scores)) == pytest.approx(cost, rel=1e-6, abs=1e-6)


def test_products_of_columns_are_found_too():
    def f(y_true, y_pred, a, b):
        return np.sum(y_pred * np.where(y_true == 1, a * b, -0.3 * a))

    gains, calls = found(problem_of(f))
    assert ("a", "b") in gains.terms
    assert calls <= 2 * 4 + 1 + CHECKS
    assert gains.shown == "f: positive +1 a * b, negative -0.3 a"


@pytest.mark.parametrize("last", [lambda x: round(float(x), 2), np.float32])
def test_rounded_totals_are_sums_all_the_same(last):
    def f(y_true, y_pred, a):
        return last(np.sum(y_pred * (1000.0 * y_true * a - 300.0)))

    gains, _ = found(problem_of(f))
    own, other = np.array(gains.positive), np.array(gains.negative)
    assert own / own[1] == pytest.approx([-0.3, 1.0], rel=1e-3)
    assert other / own[1] == pytest.approx([-0.3, 0.0], abs=1e-3)


@pytest.mark.parametrize(
    "gain",
    [
        lambda y, d, a: np.sum(d * y * a) / max(np.sum(d), 1.0),  # a ratio
        lambda y, d, a: min(float(np.sum(d * (y * a - 0.5))), 20.0),  # a cap
        lambda y, d, a: np.sum(d * (y * a - 0.5)) - 50.0 * (np.mean(d) > 0.3),  # a leap
        lambda y, d, a: np.sum(d * y * np.sqrt(a)),  # not linear in the column
        lambda y, d, a: np.sum(d * y * a) + np.sum(d) ** 2 / 1e4,  # nearly a sum
        lambda y, d, a: 0.25,  # constant
    ],
)
def test_what_is_no_such_sum_is_left_alone(gain):
    def f(y_true, y_pred, a):
        return float(gain(y_true, y_pred, a))

    gains, calls = found(problem_of(f))
    assert gains is None
    assert calls <= 2 * 2 + 1 + CHECKS


def test_answers_that_vary_and_few_calls_tell_nothing():
    rng = np.random.default_rng(0)

    def f(y_true, y_pred, a):
        return float(np.sum(y_pred * (y_true * a - 0.5)) + 0.01 * rng.normal())

    assert found(problem_of(f))[0] is None
    gains, calls = found(problem_of(f), limit=5)
    assert (gains, calls) == (None, 0)


def test_a_function_decides_as_the_profit_that_it_is():
    X, y, amount, _ = clients()
    side, calls = {"amount": amount}, []

    def counted(y_true, y_pred, amount):
        calls.append(1)
        return saved(y_true, y_pred, amount)

    given = {"model": "linear", "random_state": 0}
    clf = MetricClassifier(counted, greater_is_better=True, **given).fit(X, y, side=side)
    assert len(calls) <= 12
    assert isinstance(clf.decision_rule_, RowRule)
    assert clf.decision_rule_.reads == ("amount",)
    profit = MetricClassifier(Profit(tp="amount", flag_cost=1.0), **given).fit(X, y, side=side)
    one, two = clf.predict(X, side=side), profit.predict(X, side=side)
    assert np.mean(one == two) > 0.995  # folds may be dealt otherwise after the questions
    assert clf.score(X, y, side=side) == pytest.approx(saved(y, one, amount))


def test_without_the_columns_one_threshold_decides_and_says_so():
    X, y, amount, _ = clients()
    clf = MetricClassifier(saved, greater_is_better=True, model="linear", random_state=0)
    clf.fit(X, y, side={"amount": amount})
    with pytest.warns(MetricWarning, match=r"column\(s\) amount, which were not given: one thr"):
        flagged = clf.predict(X)
    given = saved(y, clf.predict(X, side={"amount": amount}), amount)
    single = MetricClassifier(
        saved, greater_is_better=True, model="linear", decision="threshold", random_state=0
    ).fit(X, y, side={"amount": amount})
    assert isinstance(single.decision_rule_, ThresholdRule)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other = saved(y, single.predict(X), amount)
    assert given > saved(y, flagged, amount) > 0.9 * other > 0.0


def test_a_rule_by_row_can_be_asked_of_a_function_that_is_a_sum_and_of_no_other():
    X, y, amount, _ = clients(600)
    given = {"greater_is_better": True, "model": "linear", "decision": "row", "random_state": 0}
    clf = MetricClassifier(saved, **given).fit(X, y, side={"amount": amount})
    assert isinstance(clf.decision_rule_, RowRule)

    def ratio(y_true, y_pred, amount):
        return saved(y_true, y_pred, amount) / max(y_pred.sum(), 1)

    with pytest.raises(ValueError, match="'ratio' was not found to be a sum of gains"):
        MetricClassifier(ratio, **given).fit(X, y, side={"amount": amount})


def test_rows_that_can_only_win_do_not_hide_the_others_from_a_diagnosis():
    X, y, amount, _ = clients()
    side = {"amount": amount}
    clf = MetricClassifier(Profit(tp="amount", flag_cost=1.0), model="linear", random_state=0)
    found = clf.fit(X, y, side=side).diagnose(X, y, side=side)
    assert found.r_squared > 0.5
    assert any(abs(slope) > 0.0 for slope in found.slopes.values())
