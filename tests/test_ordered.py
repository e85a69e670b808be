"""Metrics of an order with few judging rows: both samples choose, as far as the judges agree."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from anymetric import MetricClassifier, metric
from anymetric.auto import Auto
from anymetric.auto.ordered import ENOUGH


def drawn(seed, meant=True, judges=60, n=1000, d=20):
    """Return training, judging and test rows; labels not meant are those of something else."""
    rng = np.random.default_rng(seed)
    own, other = rng.normal(size=(2, d)) * 1.5 / np.sqrt(d)
    X = rng.normal(size=(n + judges + 3000, d))
    y = (X @ own + rng.logistic(size=len(X)) > 0.0).astype(int)
    if not meant:
        y[:n] = X[:n] @ other + rng.logistic(size=n) > 0.0
    parts = slice(n), slice(n, n + judges), slice(n + judges, None)
    return [(X[part], y[part]) for part in parts]


def fitted(spec, train, judges, **given):
    clf = MetricClassifier(spec, random_state=0, **given)
    return clf.fit(*train, X_val=judges[0], y_val=judges[1])


def with_and_without(spec, train, judges):
    """Return the scores of two models: training rows help the first to choose."""
    methods = (Auto(pooled=pooled) for pooled in (True, False))
    return [fitted(spec, train, judges, method=one).decision_function for one in methods]


@pytest.mark.parametrize(
    ("name", "value"), [("roc_auc", roc_auc_score), ("average_precision", average_precision_score)]
)
def test_training_rows_help_to_choose_for_an_order(name, value):
    gains = []
    for seed in range(10):
        train, judges, (X, y) = drawn(seed)
        values = [value(y, scores(X)) for scores in with_and_without(name, train, judges)]
        gains.append(values[0] - values[1])
    assert np.mean(gains) > 0.003


def test_training_rows_of_another_meaning_do_not_choose():
    losses = []
    for seed in range(8):
        train, judges, (X, y) = drawn(seed, meant=False, n=500, d=6)
        values = [
            roc_auc_score(y, scores(X)) for scores in with_and_without("roc_auc", train, judges)
        ]
        losses.append(values[1] - values[0])
    assert np.mean(losses) < 0.02


def test_many_judging_rows_choose_alone():
    for count, asked in ((60, True), (ENOUGH + 1, False)):
        train, judges, _ = drawn(0, judges=count, n=300, d=5)
        assert (fitted("roc_auc", train, judges).settings_["trust"] > 0.0) == asked


def test_the_calls_of_a_function_are_kept_within_the_budget():
    calls = 0

    def ranks(y_true, y_score):
        nonlocal calls
        calls += 1
        return roc_auc_score(y_true, y_score)

    train, judges, _ = drawn(0, n=200, d=4)
    given = metric(ranks, greater_is_better=True)
    fitted(given, train, judges, max_metric_calls=4000)
    assert calls <= 4000
