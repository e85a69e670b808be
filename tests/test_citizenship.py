"""A good citizen of scikit-learn: routing, tags, thresholds, threads, errors that say enough."""

import contextlib
import inspect
import threading
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import sklearn
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV, cross_validate
from threadpoolctl import threadpool_info, threadpool_limits

import anymetric
from anymetric import MetricClassifier, MetricRanker, MetricRegressor, Reweighted
from anymetric.threads import Shared

X, Y = make_classification(300, weights=[0.8], random_state=0)
AMOUNT = np.random.default_rng(0).exponential(size=300)
QUICK = {"model": "linear", "max_metric_calls": 60, "random_state": 0}


def gain(y_true, y_pred, amount):
    return float(np.sum(amount * y_true * y_pred) - 0.3 * np.sum(y_pred))


def test_our_scorer_tunes_thresholds_as_scikit_learns_does():
    ours, theirs = (
        TunedThresholdClassifierCV(LogisticRegression(), scoring=scoring).fit(X, Y)
        for scoring in (anymetric.scorer("f1"), "f1")
    )
    assert ours.best_threshold_ == theirs.best_threshold_
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    with pytest.raises(ValueError, match="'roc_auc' reads scores"):
        TunedThresholdClassifierCV(LogisticRegression(), scoring=anymetric.scorer("roc_auc")).fit(
            X, Y
        )


def test_metadata_goes_by_name_beside_side():
    with sklearn.config_context(enable_metadata_routing=True):
        asked = make_scorer(gain).set_score_request(amount=True)
        routed = cross_validate(
            MetricClassifier(asked, **QUICK), X, Y, cv=2, params={"amount": AMOUNT}
        )
    assert np.all(np.isfinite(routed["test_score"]))
    for metric in (asked, make_scorer(gain)):
        named = MetricClassifier(metric, **QUICK).fit(X, Y, amount=AMOUNT)
        sided = MetricClassifier(metric, **QUICK).fit(X, Y, side={"amount": AMOUNT})
        value = gain(Y, named.predict(X), AMOUNT)
        assert named.score(X, Y, amount=AMOUNT) == pytest.approx(value)
        np.testing.assert_array_equal(named.predict(X), sided.predict(X))
    with pytest.raises(TypeError, match=r"unexpected argument 'amuont': the metric reads .*amount"):
        MetricClassifier(asked, **QUICK).fit(X, Y, amuont=AMOUNT)


@pytest.mark.parametrize(
    ("metric", "many"), [("accuracy", True), ("macro_f1", True), ("f1", False), ("roc_auc", False)]
)
def test_the_multi_class_tag_tells_the_truth(metric, many):
    three = make_classification(90, n_classes=3, n_informative=4, random_state=0)
    clf = MetricClassifier(metric, **QUICK)
    assert clf.__sklearn_tags__().classifier_tags.multi_class == many
    if many:
        clf.fit(*three)
    else:
        with pytest.raises(ValueError, match="3 classes"):
            clf.fit(*three)


def test_arrow_dictionaries_are_categories():
    words = pd.Series(np.where(X[:, 1] > 0, "u", "v"))
    kind = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    tables = [pd.DataFrame({"a": X[:, 0], "c": words.astype(k)}) for k in (kind, "category")]
    arrow, plain = (MetricClassifier("f1", random_state=0).fit(t, Y).predict(t) for t in tables)
    np.testing.assert_array_equal(arrow, plain)


def test_importances_of_trees_sum_to_one_and_lines_have_none():
    trees = MetricClassifier("f1", model="boosted", random_state=0).fit(X, Y)
    assert trees.feature_importances_.shape == (X.shape[1],)
    assert trees.feature_importances_.sum() == pytest.approx(1.0)
    assert not hasattr(MetricClassifier("f1", **QUICK).fit(X, Y), "feature_importances_")


def test_parameters_within_a_name_are_explained():
    with pytest.raises(ValueError, match="model__C: model='linear' is a name"):
        MetricClassifier(model="linear").set_params(model__C=3.0)
    inner = MetricClassifier(model=Reweighted(LogisticRegression()))
    assert inner.set_params(model__estimator__C=3.0).model.estimator.C == 3.0


class Broken(LogisticRegression):
    def decision_function(self, X):
        return np.full(len(X), np.nan)


def test_scores_that_are_no_numbers_are_an_error_that_names_the_model():
    with pytest.raises(ValueError, match="Broken gave scores that are not finite"):
        MetricClassifier("f1", model=Reweighted(Broken()), random_state=0).fit(X, Y)


@contextlib.contextmanager
def set_to(state, value):
    before = state["value"]
    state["value"] = value
    yield
    state["value"] = before


def test_threads_that_overlap_leave_what_they_share_as_they_found_it():
    state = {"value": 2}
    shared = Shared(lambda: set_to(state, 1))
    first, second = contextlib.ExitStack(), contextlib.ExitStack()
    first.enter_context(shared())
    second.enter_context(shared())
    first.close()
    assert state["value"] == 1
    second.close()
    assert state["value"] == 2


def test_fits_in_threads_leave_limits_and_filters_as_they_found_them():
    MetricClassifier("f1", **QUICK).fit(X, Y)  # whatever loads a library has loaded it
    with threadpool_limits(2):
        before = [pool["num_threads"] for pool in threadpool_info()], list(warnings.filters)
        fits = [
            threading.Thread(target=MetricClassifier("f1", **QUICK).fit, args=(X, Y))
            for _ in range(4)
        ]
        for thread in fits:
            thread.start()
        for thread in fits:
            thread.join()
        after = [pool["num_threads"] for pool in threadpool_info()], list(warnings.filters)
    assert after == before


@pytest.mark.parametrize("estimator", [MetricClassifier, MetricRegressor, MetricRanker])
def test_settings_are_annotated_so_that_type_checkers_infer_nothing_from_defaults(estimator):
    settings = inspect.signature(estimator).parameters.values()
    assert [one.name for one in settings if one.annotation is inspect.Parameter.empty] == []
