"""Costs by row: a break-even for every row, from calibrated probabilities and its metadata."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import uniform
from sklearn import config_context
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from anymetric import MetricClassifier, scorer
from anymetric.auto import Auto
from anymetric.auto.decisions import RowThresholds, Threshold
from anymetric.auto.judges.base import Judge
from anymetric.auto.judges.bootstrap import bootstrap_weights
from anymetric.auto.judges.counts import CountsJudge
from anymetric.data import Data
from anymetric.metrics import Gains, Profit, RowGains
from anymetric.rules import RowRule, TopRule, log_stakes

DESK = Profit(tp="amount", flag_cost=1.0)


def clients(n=2000, seed=0):
    """Rows of which the first feature tells what is likely; amounts have nothing to do with it."""
    rng = np.random.default_rng(seed)
    X, amount = rng.normal(size=(n, 2)), rng.lognormal(1.0, 1.5, size=n)
    p = expit(1.5 * X[:, 0] - 1.0)
    return X, (rng.random(n) < p).astype(int), amount, p


def fitted(metric=DESK, **settings):
    X, y, amount, _ = clients()
    clf = MetricClassifier(metric, model="linear", random_state=0, **settings)
    return clf.fit(X, y, side={"amount": amount})


@given(st.lists(st.tuples(*[st.floats(-9, 9).map(lambda x: round(x, 2))] * 4), min_size=1))
def test_a_row_is_flagged_exactly_where_its_expected_gain_is_above_zero(rows):
    gains = Gains(*np.array(rows).T)
    sign, shift = log_stakes(gains)
    for p in (0.013, 0.21, 0.5, 0.83, 0.977):
        expected = p * gains.positive + (1.0 - p) * gains.negative
        flagged = sign * np.log(p / (1.0 - p)) + shift > 0.0
        clear = np.abs(expected) > 1e-9
        np.testing.assert_array_equal(flagged[clear], expected[clear] > 0.0)


def test_known_odds_and_costs_give_nearly_the_profit_of_the_best_rule():
    X, y, amount, p = clients(6000, seed=1)
    clf = fitted()
    assert isinstance(clf.decision_rule_, RowRule)
    assert clf.decision_rule_.needs == ("amount",)
    best = np.mean(np.where(p * amount > 1.0, y * amount - 1.0, 0.0))
    one = max(np.mean(np.where(p > t, y * amount - 1.0, 0.0)) for t in np.linspace(0.01, 0.99, 99))
    earned = clf.score(X, y, side={"amount": amount})
    assert earned > best - 0.15 * (best - one)
    flagged = clf.predict(X, side={"amount": amount})
    assert earned == pytest.approx(np.mean(np.where(flagged == 1, y * amount - 1.0, 0.0)))
    values = clf.decision_function(X, side={"amount": amount})
    np.testing.assert_array_equal(values > 0.0, flagged == 1)


def test_where_costs_are_the_same_in_every_row_a_threshold_will_do():
    X, y, _, _ = clients()
    clf = MetricClassifier(Profit(tp=3.0, fp=-1.0), model="linear", random_state=0).fit(X, y)
    assert clf.predict(X).shape == y.shape  # nothing is asked for


def test_the_rule_says_which_column_it_reads():
    X, y, amount, _ = clients()
    with pytest.raises(ValueError, match=r"'profit' needs the column\(s\) amount"):
        MetricClassifier(DESK).fit(X, y)
    clf = fitted()
    for call in (clf.predict, clf.decision_function, lambda X: clf.score(X, y)):
        with pytest.raises(ValueError, match=r"reads the column\(s\) amount of every row.*Give si"):
            call(X)
    with pytest.raises(ValueError, match="one value for each of the 2000 rows"):
        clf.predict(X, side={"amount": amount[:-1]})


def test_columns_are_routed_to_predict():
    X, y, amount, _ = clients()
    side = pd.DataFrame({"amount": amount})
    pipe = make_pipeline(StandardScaler(), MetricClassifier(DESK, model="linear", random_state=0))
    with config_context(enable_metadata_routing=True):
        pipe[-1].set_fit_request(side="costs").set_predict_request(side="costs")
        judge = scorer(DESK).set_score_request(side="costs")
        found = cross_validate(pipe, X, y, scoring=judge, cv=3, params={"costs": side})
        pipe.fit(X, y, costs=side)
        assert pipe.predict(X, costs=side).shape == y.shape
    assert found["test_score"].min() > 0.0


def test_a_declared_function_of_rows_is_the_profit_that_it_says():
    def earned(y_true, y_pred, amount):
        return np.where(y_pred == 1, np.where(y_true == 1, amount, 0.0) - 1.0, 0.0)

    X, _, amount, _ = clients()
    one, two = fitted(), fitted(RowGains(earned))
    side = {"amount": amount}
    np.testing.assert_array_equal(one.predict(X, side=side), two.predict(X, side=side))
    assert "earned" in repr(two.decision_rule_)


def test_a_judge_of_ones_own_leaves_profit_its_rule_by_row():
    class Own(Judge):
        def __init__(self, ledger, sample, weights):
            self.inner = CountsJudge.of(DESK, sample.valid, weights)

        def evaluate(self, scores):
            return self.inner.evaluate(scores)

    assert isinstance(fitted(method=Auto(judge=Own)).decision_rule_, RowRule)


def test_a_distribution_counts_by_its_mean():
    one, two = Profit(tp=uniform(2.0, 4.0), fp=-1.0), Profit(tp=4.0, fp=-1.0)
    y, scores = np.array([1.0, -1.0]), np.array([1.0, 1.0])
    assert float(one.bind(y).values(scores)) == float(two.bind(y).values(scores))
    assert Profit(tp=np.array([1.0, 3.0])).gains({}, 2).positive.tolist() == [2.0, 2.0]
    with pytest.raises(TypeError, match="tp must be a number, a column's name or a distribution"):
        Profit(tp=[1.0, 2.0])


def test_it_pickles_and_can_be_diagnosed():
    X, y, amount, _ = clients()
    clf, side = fitted(), {"amount": amount}
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(again.predict(X, side=side), clf.predict(X, side=side))
    assert clf.diagnose(X, y, side=side).cost == pytest.approx(-clf.score(X, y, side=side))


def test_scores_without_a_meaning_are_made_log_odds_first(rng):
    X, y, amount, p = clients()
    data = Data(X, np.where(y == 1, 1.0, -1.0), side={"amount": amount})
    judge = CountsJudge.of(DESK, data, bootstrap_weights(len(y), 50, rng))
    scores = 0.01 * np.log(p / (1 - p))[:, np.newaxis] + 7.0
    found = RowThresholds(data, DESK).assess(scores, judge)
    assert found.scale == pytest.approx(100.0, rel=0.15)
    assert found.cost < Threshold().assess(scores, judge).cost


@given(st.integers(1, 40), st.sampled_from([1, 3, 7, 0.05, 0.29, 0.5]))
def test_the_top_is_as_many_rows_as_were_asked_for(n, top):
    scores = np.random.default_rng(n).integers(0, 5, n).astype(float)
    flagged = TopRule(top).moved(scores, {}) > 0.0
    assert flagged.sum() == min(max(int(top * n + 1e-9), 1) if top < 1 else top, n)
    assert flagged.all() or scores[flagged].min() >= scores[~flagged].max()
