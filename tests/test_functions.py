"""Functions of counts in the estimators: few calls, and as good as the same metric by name."""

import numpy as np
import pytest
from sklearn.metrics import f1_score, make_scorer, matthews_corrcoef

from anymetric import MetricClassifier
from anymetric.metrics import as_metric, metric


def table(rng, n=600):
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] + 0.7 * rng.normal(size=n) > 0.8).astype(int)


def f1(y_true, y_pred):
    return f1_score(y_true, y_pred, zero_division=0.0)


def gmean(y_true, y_pred):
    return np.sqrt(np.mean(y_pred[y_true == 1]) * np.mean(1 - y_pred[y_true == 0]))


def floored(y_true, y_pred):
    """Precision, if seven tenths of the positives are found."""
    found = np.mean(y_pred[y_true == 1])
    precision = np.mean(y_true[y_pred == 1]) if np.any(y_pred) else 0.0
    return precision if found >= 0.7 else found - 1.0


@pytest.mark.parametrize("name", ["f1", "gmean", "error", "f2"])
def test_a_function_does_as_well_as_the_same_metric_by_name(name):
    X, y = table(np.random.default_rng(1), 2000)
    train, test = slice(0, 1000), slice(1000, None)
    ready = as_metric(name)

    def hidden(y_true, y_pred):
        return float(ready.bind(2.0 * y_true - 1.0).values(2.0 * y_pred - 1.0))

    own = metric(hidden, greater_is_better=ready.greater_is_better, on="decisions")
    named = MetricClassifier(name, model="linear", random_state=0).fit(X[train], y[train])
    asked = MetricClassifier(own, model="linear", random_state=0).fit(X[train], y[train])
    values = [hidden(y[test], clf.predict(X[test])) for clf in (named, asked)]
    assert abs(values[0] - values[1]) < 0.02
    assert asked.n_metric_calls_ < 120


def test_a_scorer_is_learned_too():
    X, y = table(np.random.default_rng(0), 800)
    scorer = make_scorer(matthews_corrcoef)
    clf = MetricClassifier(scorer, model="linear", random_state=0).fit(X, y)
    assert clf.n_metric_calls_ < 120
    assert scorer(clf, X, y) > 0.5


def test_a_threshold_for_each_group_needs_no_more_calls(rng):
    X, y = table(rng, 500)
    groups = np.where(rng.random(500) < 0.5, "a", "b")
    X[:, 3] = groups == "a"

    def parity(y_true, y_pred, groups):
        rates = [np.mean(y_pred[groups == g]) for g in ("a", "b")]
        return np.mean(y_true == y_pred) - abs(rates[0] - rates[1])

    clf = MetricClassifier(
        parity, greater_is_better=True, decision="group", model="linear", random_state=0
    )
    clf.fit(X, y, groups=groups)
    assert clf.n_metric_calls_ < 1500
    assert parity(y, clf.predict(X, groups=groups), groups) > 0.7


def test_a_column_that_training_rows_lack_is_no_hindrance(rng):
    def parted(y_true, y_pred, groups=None):
        return f1(y_true, y_pred)

    X, y = table(rng, 900)
    clf = MetricClassifier(parted, greater_is_better=True, model="linear", random_state=0)
    clf.fit(X[:500], y[:500], X_val=X[500:], y_val=y[500:], groups_val=np.tile(["a", "b"], 200))
    assert clf.n_metric_calls_ < 200
    assert f1(y, clf.predict(X)) > 0.5


@pytest.mark.parametrize(("limit", "alone"), [(200, True), (200, False)])
def test_a_floor_under_recall_is_kept_on_new_rows(limit, alone):
    kept = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = table(rng, 4500)
        train, judges, test = slice(0, 600), slice(600, 1000), slice(1000, None)
        clf = MetricClassifier(
            floored, greater_is_better=True, max_metric_calls=limit, model="linear", random_state=0
        )
        more = {} if alone else {"X_val": X[judges], "y_val": y[judges]}
        clf.fit(X[train], y[train], **more)
        kept.append(floored(y[test], clf.predict(X[test])) > 0.0)
    assert np.mean(kept) > 0.5
