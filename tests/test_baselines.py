"""Comparison methods around logistic regression: thresholds, class weights, clean rows."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, f1_score
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from anymetric.baselines import (
    BalancedLogistic,
    BothLogistic,
    ClassWeightSearch,
    DomainWeighted,
    GroupThresholds,
    LogisticBaseline,
    TunedThreshold,
    ValidationLogistic,
    tune_group_thresholds,
    tune_threshold,
)
from anymetric.baselines._fits import CrossFit, folds
from anymetric.baselines.clean import density_ratio
from anymetric.data import Data
from anymetric.metrics import as_metric
from anymetric.models import Linear
from baseline_tasks import fitted, plain_macro_f1, task


def cuts(scores):
    """One shift for every way to cut the scores."""
    levels = np.unique(scores)
    return -np.concatenate([[levels[0] - 1], (levels[1:] + levels[:-1]) / 2, [levels[-1] + 1]])


small = st.integers(0, 5).map(float)


@settings(deadline=None, max_examples=40)
@given(rows=st.lists(st.tuples(small, st.booleans()), min_size=2, max_size=12), data=st.data())
def test_a_tuned_threshold_is_the_best_of_all_cuts(rows, data):
    scores, positive = np.array([r[0] for r in rows]), np.array([r[1] for r in rows])
    positive[:2] = True, False
    name, plain = data.draw(
        st.sampled_from(
            [
                ("f1", lambda t, p: f1_score(t, p, zero_division=0)),
                ("balanced_accuracy", balanced_accuracy_score),
            ]
        )
    )
    shift, value = tune_threshold(as_metric(name).bind(np.where(positive, 1.0, -1.0)), scores)
    brute = max(plain(positive, scores + cut > 0) for cut in cuts(scores))
    assert value == pytest.approx(brute)
    assert plain(positive, scores + shift > 0) == pytest.approx(value)


def test_a_tuned_threshold_takes_the_smallest_of_equally_good_shifts():
    bound = as_metric("error").bind(np.array([-1.0, 1.0, -1.0, 1.0]))
    assert tune_threshold(bound, np.array([1.0, 2.0, 3.0, 4.0])) == (-1.5, 0.25)


def test_a_metric_of_scores_has_no_threshold_to_shift(rng):
    y = np.where(rng.random(30) < 0.5, 1.0, -1.0)
    scores = rng.normal(size=30)
    bound = as_metric("roc_auc").bind(y)
    assert tune_threshold(bound, scores) == (0.0, float(bound.values(scores)))


@settings(deadline=None, max_examples=25)
@given(
    rows=st.lists(st.tuples(small, st.booleans(), st.sampled_from("ab")), min_size=4, max_size=9),
    seed=st.integers(0, 5),
)
def test_group_thresholds_is_the_best_of_all_products_of_cuts(rows, seed):
    scores, positive, groups = (np.array([row[k] for row in rows]) for k in range(3))
    groups[:2] = "a", "b"
    bound = as_metric("group_mean_f1").bind(np.where(positive, 1.0, -1.0), side={"groups": groups})
    shifts, value = tune_group_thresholds(bound, scores, groups, np.random.default_rng(seed))
    each = [cuts(scores[groups == g]) for g in "ab"]
    brute = max(
        plain_macro_f1(positive, scores + np.where(groups == "a", a, b) > 0, groups)
        for a, b in product(*each)
    )
    assert value == pytest.approx(brute)
    decided = scores + np.array([shifts[g] for g in groups]) > 0
    assert plain_macro_f1(positive, decided, groups) == pytest.approx(value)


@pytest.mark.parametrize("name", ["worst_group_error", "penalised_demographic_parity", "gmean"])
def test_group_thresholds_never_loses_to_a_common_shift(name, rng):
    _, y, groups = task()
    target = np.where(y == "yes", 1.0, -1.0)
    scores = target + rng.normal(size=len(y)) + (groups == "f")
    bound = as_metric(name).bind(target, side={"groups": groups})
    shifts, value = tune_group_thresholds(bound, scores, groups, rng)
    _, common = tune_threshold(bound, scores)
    assert bound.metric.cost(value) <= bound.metric.cost(common)
    moved = scores + np.array([shifts[g] for g in groups])
    assert float(bound.values(moved)) == pytest.approx(value)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(LogisticBaseline, {}), (BalancedLogistic, {"class_weight": "balanced"})],
)
@pytest.mark.parametrize("C", [0.01, 10.0])
def test_coefficients_are_those_of_scikit_learn(ours, theirs, C):
    X, y, _ = task()
    plain = LogisticRegression(C=C, tol=1e-10, max_iter=1000, **theirs)
    pipe = make_pipeline(StandardScaler(), plain).fit(X[:160], y[:160])
    found = fitted(ours(C=C))
    np.testing.assert_allclose(
        found.decision_function(X), pipe.decision_function(X), rtol=1e-4, atol=1e-5
    )


def test_a_ratio_of_one_is_balanced():
    one, same = fitted(ClassWeightSearch(ratios=[1.0], C=2.0)), fitted(BalancedLogistic(C=2.0))
    np.testing.assert_allclose(one.coef_, same.coef_, rtol=1e-6)


def test_the_ratio_kept_is_the_best_on_validation_rows():
    X, y, _ = task()
    search = fitted(ClassWeightSearch("f1", ratios=[0.1, 1.0, 10.0]))
    values = {}
    for ratio in (0.1, 1.0, 10.0):
        found = fitted(ClassWeightSearch("f1", ratios=[ratio]))
        values[ratio] = f1_score(y[160:], found.predict(X[160:]), pos_label="yes")
    assert search.validation_score_ == pytest.approx(max(values.values()))
    assert values[search.summary_.chosen["ratio"]] == pytest.approx(max(values.values()))


def test_a_tuned_threshold_chooses_c_and_threshold_together():
    X, y, groups = task()
    grid = [0.01, 1.0, 100.0]
    found = fitted(TunedThreshold("group_mean_f1", C=grid))
    brute = []
    for C in grid:
        plain = make_pipeline(StandardScaler(), LogisticRegression(C=C, tol=1e-10, max_iter=1000))
        scores = plain.fit(X[:160], y[:160]).decision_function(X[160:])
        truth = y[160:] == "yes"
        brute += [plain_macro_f1(truth, scores + cut > 0, groups[160:]) for cut in cuts(scores)]
    assert found.validation_score_ == pytest.approx(max(brute))


def test_a_model_without_intercept_is_shifted_all_the_same():
    without, plain = (
        fitted(k("f1", fit_intercept=False)) for k in (TunedThreshold, LogisticBaseline)
    )
    assert plain.intercept_[0] == 0.0
    assert without.validation_score_ > plain.validation_score_


def test_group_thresholds_asks_for_groups_it_knows():
    X, y, groups = task()
    found = fitted(GroupThresholds())
    shifted = X @ found.coef_[0] + found.intercept_[0] + [found.shifts_[g] for g in groups]
    np.testing.assert_allclose(found.decision_function(X, groups=groups), shifted)
    with pytest.raises(ValueError, match=r"needs them here too: give groups="):
        found.predict(X)
    with pytest.warns(UserWarning, match=r"\['x'\] were never seen"):
        found.predict(X, groups=np.full(len(X), "x"))
    with pytest.raises(ValueError, match="one value for each of the 240 rows"):
        found.predict(X, groups=groups[:3])
    with pytest.raises(ValueError, match="give groups= too"):
        GroupThresholds("f1").fit(X, y)


def test_a_group_without_validation_rows_keeps_the_common_threshold():
    X, y, groups = task()
    only = groups == "m"
    found = GroupThresholds("f1").fit(
        X, y, groups=groups, X_val=X[only], y_val=y[only], groups_val=groups[only]
    )
    assert found.shifts_["f"] == 0.0


def test_cross_fitted_scores_are_those_of_scikit_learn(rng):
    X, y, _ = task()
    Z = StandardScaler().fit_transform(X)
    target = np.where(y == "yes", 1.0, -1.0)
    fold = folds(target, 4, rng)
    _, scores = CrossFit(Linear(), Data(Z, target), np.arange(len(y)), fold).at(0.5)
    plain = cross_val_predict(
        LogisticRegression(C=0.5, tol=1e-10, max_iter=1000),
        Z,
        y,
        cv=PredefinedSplit(fold),
        method="decision_function",
    )
    np.testing.assert_allclose(scores, plain, rtol=1e-4, atol=1e-5)


def test_the_validation_logistic_does_not_look_at_training_labels(rng):
    X, y, _ = task()
    first = ValidationLogistic("f1", random_state=0)
    first.fit(X[:160], y[:160], X_val=X[160:], y_val=y[160:])
    again = ValidationLogistic("f1", random_state=0)
    again.fit(X[:160], rng.permutation(y[:160]), X_val=X[160:], y_val=y[160:])
    np.testing.assert_allclose(first.coef_, again.coef_)
    np.testing.assert_allclose(first.intercept_, again.intercept_)


def test_both_logistic_trains_on_all_rows():
    X, y, _ = task()
    found = fitted(BothLogistic(C=1.0))
    plain = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-10, max_iter=1000))
    scores = plain.fit(X, y).decision_function(X)
    np.testing.assert_allclose(
        found.decision_function(X) - found.summary_.chosen["shift"], scores, rtol=1e-4, atol=1e-5
    )


def test_domain_weights_recover_a_known_density_ratio(rng):
    # Of N(mean, 1) to N(0, 1) the logarithm is mean x - mean^2 / 2.
    mean = np.array([0.5, -0.3])
    train = Data(rng.normal(size=(20000, 2)), np.ones(20000))
    valid = Data(rng.normal(size=(5000, 2)) + mean, np.ones(5000))
    ratio = density_ratio(Linear.standardised(train.X), train, valid)
    np.testing.assert_allclose(np.log(ratio), train.X @ mean - mean @ mean / 2, atol=0.15)


def test_domain_weights_pass_over_rows_that_look_corrupted(rng):
    X, y, _ = task(n=3000)
    corrupted = np.arange(3000) < 1500
    X = np.column_stack([X, np.where(corrupted, 3.0, 0.0) + rng.normal(size=3000)])
    X[corrupted, 0] *= -1.0
    kept, test = slice(0, 2000), slice(2500, None)
    valid = {"X_val": X[2000:2500], "y_val": y[2000:2500]}
    plain, weighted = (
        k("f1").fit(X[kept], y[kept], **valid) for k in (TunedThreshold, DomainWeighted)
    )
    assert weighted.score(X[test], y[test]) > plain.score(X[test], y[test]) + 0.05
