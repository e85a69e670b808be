"""Comparison methods that need another package: they run with it, and say so without it."""

import sys
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from anymetric.baselines import CMAES, LightGBMThreshold, LogisticBaseline, TunedThreshold
from anymetric.errors import MissingExtra, import_extra
from baseline_tasks import ARRAY_API, fitted, plain_macro_f1, task

EXTRAS = [
    (CMAES(max_metric_calls=300, random_state=0), "cma"),
    (LightGBMThreshold(trees=30, random_state=0), "lightgbm"),
]
every = pytest.mark.parametrize(("estimator", "package"), EXTRAS, ids=[e[1] for e in EXTRAS])


def loaded_or_skip(package):
    """Skip where the package, or a system library that it needs, is not there."""
    try:
        import_extra(package, needed_by="This test", extra="baselines")
    except MissingExtra as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(("estimator", "package"), [e for e in EXTRAS if e[1] != "lightgbm"])
def test_a_missing_package_is_named(estimator, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    name = type(estimator).__name__
    with pytest.raises(
        MissingExtra, match=rf"{name} needs {package}: pip install 'anymetric\[baselines\]'\."
    ):
        fitted(clone(estimator))


@every
def test_the_interface_is_kept(estimator, package):
    loaded_or_skip(package)
    X, y, groups = task()
    found = fitted(clone(estimator).set_params(metric="group_mean_f1"))
    value = plain_macro_f1(y == "yes", found.predict(X) == "yes", groups)
    assert found.score(X, y, groups=groups) == pytest.approx(value)
    judged = found.score(X[160:], y[160:], groups=groups[160:])
    assert found.validation_score_ == pytest.approx(judged)
    again = fitted(clone(found), sparse.csr_array(X))
    np.testing.assert_allclose(again.decision_function(X), found.decision_function(X), atol=1e-6)


@every
def test_scikit_learn_accepts_the_estimator(estimator, package):
    loaded_or_skip(package)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(clone(estimator), on_skip=None, on_fail=None)
    wrong = {r["check_name"]: r["exception"] for r in results if r["status"] != "passed"}
    assert set(wrong) <= {ARRAY_API}, wrong


def test_the_evolution_strategy_goes_on_from_a_tuned_threshold_within_its_budget():
    loaded_or_skip("cma")
    plain = fitted(TunedThreshold("group_mean_f1", C=1.0))
    found = fitted(CMAES("group_mean_f1", max_metric_calls=250, random_state=0))
    assert found.history_[0]["cost"] == plain.cost_
    assert found.cost_ <= plain.cost_
    assert found.n_metric_calls_ <= 250


def test_boosted_trees_see_what_no_line_separates(rng):
    loaded_or_skip("lightgbm")
    X = rng.normal(size=(1500, 2))
    y = X[:, 0] * X[:, 1] > 0
    kept = {"X_val": X[800:1100], "y_val": y[800:1100]}
    trees = LightGBMThreshold("f1", random_state=0).fit(X[:800], y[:800], **kept)
    line = LogisticBaseline("f1").fit(X[:800], y[:800], **kept)
    assert trees.score(X[1100:], y[1100:]) > 0.9 > line.score(X[1100:], y[1100:]) + 0.1
    assert not hasattr(trees, "coef_")
    assert trees.summary_.chosen["trees"] < 1000


def test_the_evolution_strategy_leaves_numpys_random_numbers_alone():
    loaded_or_skip("cma")
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - the one that must not change
    fitted(CMAES("group_mean_f1", max_metric_calls=50, random_state=0))
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
