"""Every comparison method at the same door: labels, scores, budgets, failures."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import f1_score
from sklearn.utils.estimator_checks import check_estimator

from anymetric.baselines import (
    FWEG,
    BalancedLogistic,
    BothLogistic,
    ClassWeightSearch,
    DomainWeighted,
    GenRates,
    GroupThresholds,
    KarRanker,
    LightGBMThreshold,
    LogisticBaseline,
    RelaxedFM,
    TunedThreshold,
    ValidationLogistic,
)
from anymetric.metrics import MetricError
from anymetric.solution import Status
from baseline_tasks import ARRAY_API, fitted, plain_macro_f1, task

EVERY = [
    LogisticBaseline,
    TunedThreshold,
    BalancedLogistic,
    ClassWeightSearch,
    GroupThresholds,
    ValidationLogistic,
    BothLogistic,
    DomainWeighted,
    RelaxedFM,
    GenRates,
    FWEG,
]
# Their validation score is that of models that had not seen the row.
CROSS_FITTED = (ValidationLogistic, BothLogistic)
GROUPED = (GroupThresholds, FWEG)


def known(estimator, groups):
    return {"groups": groups} if isinstance(estimator, GROUPED) else {}


@pytest.mark.parametrize("kind", EVERY, ids=lambda k: k.__name__)
def test_every_baseline_keeps_the_interface(kind):
    X, y, groups = task()
    found = fitted(kind("group_mean_f1", random_state=0))
    labels = found.predict(X, **known(found, groups))
    scores = found.decision_function(X, **known(found, groups))
    np.testing.assert_array_equal(labels, np.where(scores > 0, "yes", "no"))
    value = plain_macro_f1(y == "yes", labels == "yes", groups)
    assert found.score(X, y, groups=groups) == pytest.approx(value)
    assert found.coef_.shape == (1, 4)
    assert found.intercept_.shape == (1,)
    assert found.cost_ == pytest.approx(1.0 - found.validation_score_)
    assert found.n_metric_calls_ >= len(found.history_)
    judged = found.score(X[160:], y[160:], groups=groups[160:])
    if kind not in CROSS_FITTED:
        assert judged == pytest.approx(found.validation_score_)
    assert value > 0.4


@pytest.mark.parametrize("kind", EVERY, ids=lambda k: k.__name__)
def test_sparse_and_dense_features_agree(kind):
    X, _, groups = task()
    # A kink magnifies rounding: a long subgradient path is not to be compared.
    short = {"iterations": 5} if issubclass(kind, RelaxedFM) else {}
    dense = fitted(kind("group_mean_f1", random_state=0, **short))
    thin = fitted(kind("group_mean_f1", random_state=0, **short), sparse.csr_array(X))
    more = known(dense, groups)
    np.testing.assert_allclose(
        dense.decision_function(X, **more),
        thin.decision_function(sparse.csr_array(X), **more),
        atol=1e-6,
    )


@pytest.mark.parametrize("kind", EVERY, ids=lambda k: k.__name__)
@pytest.mark.parametrize("calls", [1, 13])
def test_no_baseline_calls_the_metric_more_often_than_allowed(kind, calls):
    calls_made = []

    def macro_f1_score(y_true, y_pred, groups):
        calls_made.append(1)
        return plain_macro_f1(y_true == "yes", y_pred == "yes", groups)

    asked = "group_mean_f1" if kind in (RelaxedFM, GenRates) else macro_f1_score
    found = fitted(kind(asked, max_metric_calls=calls, random_state=0))
    assert found.n_metric_calls_ <= calls
    assert len(calls_made) <= calls


def test_a_user_metric_finds_the_threshold_of_the_ready_made_one():
    def positive_f1_score(y_true, y_pred):
        return f1_score(y_true == "yes", y_pred == "yes", zero_division=0)

    ours, theirs = (
        fitted(TunedThreshold("f1", C=1.0)),
        fitted(TunedThreshold(positive_f1_score, C=1.0)),
    )
    assert theirs.intercept_ == pytest.approx(ours.intercept_)
    assert (ours.n_metric_calls_, theirs.n_metric_calls_) == (1, 81)


def test_a_metric_that_fails_leaves_the_best_model_so_far():
    calls = []

    def broken_score(y_true, y_pred):
        calls.append(1)
        return np.nan if len(calls) > 2 else float(np.mean(y_true == y_pred))

    with pytest.raises(MetricError, match="call 3") as failure:
        fitted(LogisticBaseline(broken_score))
    assert failure.value.best.status_ is Status.FAILED
    assert len(failure.value.best.history_) == 2


class FailsAfter:
    """A user's metric that answers so often, and no more."""

    def __init__(self, function, answers):
        self.function, self.left, self.values = function, answers, []

    def __call__(self, y_true, y_pred, groups):
        if len(self.values) == self.left:
            raise ZeroDivisionError
        self.values.append(float(self.function(y_true, y_pred, groups)))
        return self.values[-1]


SWEEPING = [TunedThreshold, GroupThresholds, ValidationLogistic, BothLogistic, DomainWeighted]


@pytest.mark.parametrize("kind", [*SWEEPING, LightGBMThreshold], ids=lambda k: k.__name__)
@pytest.mark.parametrize("answers", [1, 12, 100])
def test_a_sweep_that_fails_part_way_leaves_the_best_that_was_evaluated(kind, answers):
    if kind is LightGBMThreshold:
        pytest.importorskip("lightgbm")
        answers = min(answers, 20)
    own = FailsAfter(lambda y_true, y_pred, groups: np.mean(y_true == y_pred), answers)
    with pytest.raises(MetricError, match=f"call {answers + 1} of the run") as failure:
        fitted(kind(own, greater_is_better=True, random_state=0))
    best = failure.value.best
    assert best.status_ is Status.FAILED
    assert best.n_metric_calls_ == answers + 1
    assert best.validation_score_ == max(own.values)
    if kind not in CROSS_FITTED:
        X, y, groups = task()
        own.left = None
        assert best.score(X[160:], y[160:], groups=groups[160:]) == best.validation_score_


def test_thresholds_of_groups_found_before_a_failure_are_kept():
    def macro_f1(y_true, y_pred, groups):
        return plain_macro_f1(y_true == "yes", y_pred == "yes", groups)

    own = FailsAfter(macro_f1, 600)
    with pytest.raises(MetricError) as failure:
        fitted(GroupThresholds(own, C=1.0, greater_is_better=True, random_state=0))
    best, common = failure.value.best, max(own.values[:81])
    assert best.validation_score_ > common
    assert len(set(best.shifts_.values())) == 2


def test_a_path_that_fails_part_way_leaves_the_best_that_was_evaluated():
    X, y, _ = task()
    own = FailsAfter(lambda y_true, y_score, _: np.mean((y_true > 0) == (y_score > 0)), 12)

    def hits(y_true, y_score):
        return own(y_true, y_score, None)

    ranker = KarRanker(hits, step=0.1, greater_is_better=True, random_state=0)
    with pytest.raises(MetricError, match="call 13 of the run") as failure:
        ranker.fit(X[:160], y[:160] == "yes", X_val=X[160:], y_val=y[160:] == "yes")
    assert failure.value.best.validation_score_ == max(own.values)
    assert failure.value.best.summary_.chosen["iteration"] == int(np.argmax(own.values))


def test_bad_settings_are_explained():
    with pytest.raises(ValueError, match=r"positive number or a list of them is needed; got \[\]"):
        fitted(TunedThreshold(C=[]))
    with pytest.raises(ValueError, match=r"made for F-measures .* the metric is 'accuracy'"):
        fitted(RelaxedFM("accuracy"))
    with pytest.raises(ValueError, match="'C' parameter of TunedThreshold"):
        fitted(TunedThreshold(C=-1.0))


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticBaseline(),
        TunedThreshold(),
        BalancedLogistic(tune_threshold=True),
        ClassWeightSearch(ratios=[0.5, 2.0]),
        DomainWeighted(),
        RelaxedFM(step=1.0, iterations=40),
        GenRates(step=1.0, iterations=60),
        FWEG(rounds=3),
    ],
    ids=lambda e: type(e).__name__,
)
def test_scikit_learn_accepts_the_estimator(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, on_skip=None, on_fail=None)
    wrong = {r["check_name"]: r["exception"] for r in results if r["status"] != "passed"}
    assert set(wrong) <= {ARRAY_API}, wrong


def test_arrays_of_the_array_api_are_taken():
    """The one check that scikit-learn skips unless SciPy is told so before it is imported."""
    names = [kind.__name__ for kind in EVERY if kind is not GroupThresholds]  # which needs groups
    code = f"""
import warnings
from sklearn.utils.estimator_checks import {ARRAY_API}
from anymetric import baselines

warnings.simplefilter("ignore")
for name in {names}:
    {ARRAY_API}(name, getattr(baselines, name)(), "numpy", expect_only_array_outputs=False)
    print(name)
"""
    env = {**os.environ, "SCIPY_ARRAY_API": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == names, done.stderr
