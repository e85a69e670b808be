"""Limits: `subject_to` is trained for, kept where it can be, and told where it cannot."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.metrics import accuracy_score, precision_score, recall_score

from anymetric import MetricClassifier, MetricRegressor, at_least, at_most, gap
from anymetric.auto.decisions import Threshold
from anymetric.auto.judges.counts import CountsJudge
from anymetric.data import Data
from anymetric.errors import MetricWarning
from anymetric.metrics import Limited, as_metric, limited
from anymetric.metrics.joint import JUMP, joined, settled
from anymetric.metrics.under_limits import LimitedConfusion, LimitedCounts

LINEAR = {"model": "linear", "random_state": 0}


@pytest.fixture(scope="module")
def rows():
    X, y = make_classification(
        2400, weights=[0.75], flip_y=0.1, class_sep=0.8, n_informative=4, random_state=107
    )
    group = (np.random.default_rng(107).random(len(y)) < 0.3 + 0.4 * y).astype(float)
    return np.column_stack([X, group]), y, np.where(group > 0, "b", "a")


def fit(rows, metric, limits, n=1200, **settings):
    X, y, groups = rows
    clf = MetricClassifier(metric, subject_to=limits, **{**LINEAR, **settings})
    return clf.fit(X[:n], y[:n], groups=groups[:n])


@given(
    st.lists(st.floats(0, 1), min_size=2, max_size=6),
    st.lists(st.floats(-1, 1), min_size=2, max_size=6),
)
def test_feasible_beats_infeasible_whatever_the_objective(costs, excess):
    n = min(len(costs), len(excess))
    costs, excess = np.array(costs[:n]), np.array(excess[:n])
    found = joined(costs, [excess])
    kept = excess <= 1e-12
    assert np.array_equal(found[kept], costs[kept])
    if kept.any() and not kept.all():
        assert found[kept].max() < found[~kept].min()


@given(st.integers(0, 10_000))
def test_on_resamples_who_keeps_the_limit_on_the_rows_costs_less(seed):
    rng = np.random.default_rng(seed)
    costs, excess = rng.random((6, 21)), 0.2 * rng.normal(size=(6, 21)) + rng.normal(size=(6, 1))
    total = settled(costs, [excess]).mean(axis=-1)
    kept = excess[:, 0] <= 0.0
    if kept.any() and not kept.all():
        short = np.sort(excess[:, :1] + excess[:, 1:] - excess[:, 1:].mean(1, keepdims=True))
        safe = kept & (short[:, 13] <= 0.0)  # the fourteenth of twenty resamples
        assert np.all(total[safe] < JUMP)
        assert np.all(total[~kept] >= JUMP)


def test_the_exact_judge_agrees_with_scikit_learn():
    rng = np.random.default_rng(3)
    y = np.where(rng.random(300) < 0.3, 1.0, -1.0)
    scores = rng.normal(y)[:, np.newaxis]
    metric = limited(as_metric("precision"), (at_least("recall", 0.7),))
    judge = CountsJudge.of(metric, Data(np.zeros((300, 1)), y), rng.exponential(size=(300, 50)))
    at = Threshold().assess(scores, judge).scores[:, 0] > 0
    assert recall_score(y, np.where(at, 1, -1)) >= 0.7
    best = 0.0
    for cut in np.quantile(scores[:, 0], np.linspace(0.2, 0.95, 60)):
        guess = np.where(scores[:, 0] > cut, 1, -1)
        if recall_score(y, guess) >= 0.7:
            best = max(best, precision_score(y, guess, zero_division=0))
    found = precision_score(y, np.where(at, 1, -1))
    assert best - 0.08 < found <= best


def test_forms_of_a_limited_metric_agree(rows):
    _, y, groups = rows
    signed, side = np.where(y == 1, 1.0, -1.0), {"groups": groups}
    scores = np.random.default_rng(0).normal(signed[:, np.newaxis], size=(len(y), 4))
    limits = (at_least("recall", 0.9), at_most(gap("recall"), 0.02))
    exact = limited(as_metric("accuracy"), limits)
    assert isinstance(exact, LimitedCounts)
    generic = Limited(exact.of, exact.limits)
    a, b = (one.bind(signed, side=side).values(scores) for one in (exact, generic))
    assert np.allclose(a, b)


@pytest.mark.parametrize("model", ["linear", "auto"])
def test_a_limit_is_kept_on_new_rows_and_costs_the_objective_little(rows, model):
    X, y, _ = rows
    clf = fit(rows, "precision", at_least("recall", 0.8), model=model)
    new, truth = clf.predict(X[1200:]), y[1200:]
    assert clf.constraints_[0].kept
    assert recall_score(truth, new) > 0.76
    assert precision_score(truth, new) > 1.5 * y.mean()
    (limit,) = clf.constraint_values(X[1200:], truth)
    assert limit.value == pytest.approx(recall_score(truth, new))


def test_texts_lists_and_objects_say_the_same(rows):
    ways = ["recall>=0.8", ["recall>=0.8"], at_least("recall", 0.8), (at_least("recall", 0.8),)]
    found = [fit(rows, "precision", way).coef_ for way in ways]
    assert all(np.array_equal(found[0], one) for one in found)


def test_without_limits_nothing_changes(rows):
    plain, none = fit(rows, "f1", None), fit(rows, "f1", [])
    assert np.array_equal(plain.coef_, none.coef_)
    assert not hasattr(plain, "constraints_")


def test_what_cannot_be_kept_is_missed_by_little_and_reported(rows):
    with pytest.warns(MetricWarning, match=r"least violation.*recall >= 0.99"):
        clf = fit(rows, "precision", ["recall>=0.99", "accuracy>=0.95"])
    assert not all(one.kept for one in clf.constraints_)
    assert 0.0 <= clf.validation_score_ <= 1.0


def test_several_limits_are_kept_together(rows):
    clf = fit(rows, "precision", ["recall>=0.6", "selection_rate<=0.3"])
    assert all(one.kept for one in clf.constraints_)


def test_a_gap_is_closed_and_predict_needs_no_groups_where_features_tell_them(rows):
    X, y, groups = rows
    free = fit(rows, "accuracy", None)
    limit = at_most(gap("selection_rate"), 0.05)
    clf = fit(rows, "accuracy", limit)

    def spread(model):
        flagged = model.predict(X[1200:]) == 1
        return abs(flagged[groups[1200:] == "a"].mean() - flagged[groups[1200:] == "b"].mean())

    assert spread(free) > 0.1 > spread(clf)
    assert np.array_equal(clf.predict(X), clf.predict(X, groups=groups))
    hidden = (X[:, :-1], y, groups)
    other = fit(hidden, "accuracy", limit)
    assert not hasattr(other, "shifts_")


def test_a_function_and_a_score_may_be_limited_or_limit(rows):
    def share(y_true, y_pred):
        return np.mean(y_pred)

    X, y, _ = rows
    clf = fit(rows, "recall", at_most(share, 0.2))
    assert clf.constraints_[0].value == pytest.approx(0.2, abs=0.05)
    assert clf.constraints_[0].kept
    ranked = fit(rows, "roc_auc", "recall>=0.8")
    assert ranked.constraints_[0].kept
    assert ranked.score(X, y) > 0.7


def test_many_classes_keep_limits():
    X, y = make_classification(
        900, n_classes=3, n_informative=4, weights=[0.6, 0.3], random_state=108
    )
    free = MetricClassifier("accuracy", **LINEAR).fit(X, y)
    clf = MetricClassifier("accuracy", subject_to="worst_class_recall>=0.6", **LINEAR).fit(X, y)
    assert isinstance(clf._goal(), LimitedConfusion)
    assert clf.constraints_[0].kept
    assert recall_score(y, clf.predict(X), average=None).min() > 0.55
    assert accuracy_score(y, clf.predict(X)) > accuracy_score(y, free.predict(X)) - 0.15


def test_numbers_keep_limits():
    X, y = make_regression(400, 5, noise=50.0, random_state=109)

    def covered(y_true, y_pred):
        return np.mean(y_pred >= y_true)

    reg = MetricRegressor(
        "mean_absolute_error", subject_to=at_least(covered, 0.7), random_state=0
    ).fit(X, 1e4 * y)
    assert reg.constraints_[0].kept
    assert covered(1e4 * y, reg.predict(X)) > 0.65


def test_a_limited_model_is_cloned_and_a_bad_limit_refused(rows):
    clf = MetricClassifier("precision", subject_to=at_least("recall", 0.8))
    assert clone(clf).subject_to == clf.subject_to
    with pytest.raises(ValueError, match="written as"):
        fit(rows, "precision", "recall=0.8")
    with pytest.raises(ValueError, match="groups"):
        MetricClassifier("accuracy", subject_to=at_most(gap("recall"), 0.1)).fit(*rows[:2])


def test_no_warning_where_limits_are_kept(rows):
    with warnings.catch_warnings():
        warnings.simplefilter("error", MetricWarning)
        fit(rows, "precision", "recall>=0.5")


def test_the_trade_off_is_shown_with_the_limit_and_the_choice(rows):
    from anymetric.displays import TradeOffDisplay

    clf = fit(rows, "precision", "recall>=0.8")
    shown = TradeOffDisplay.from_estimator(clf)
    assert np.all(np.diff(shown.limited) <= 1e-12)  # recall falls as the threshold rises
    assert shown.chosen == (clf.constraints_[0].value, clf.validation_score_)
    with pytest.raises(ValueError, match="subject_to"):
        TradeOffDisplay.from_estimator(fit(rows, "precision", None))
