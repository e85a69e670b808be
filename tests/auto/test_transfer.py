"""Threshold transfer: training rows place a threshold as far as validation rows agree."""

import numpy as np
import pytest
from scipy.special import expit

from anymetric import MetricClassifier
from anymetric.auto.judges.bootstrap import bootstrap_weights
from anymetric.auto.judges.counts import CountsJudge
from anymetric.auto.sample import Sample
from anymetric.auto.task import Task
from anymetric.auto.threshold_transfer import PooledRows
from anymetric.data import Data
from anymetric.metrics import Profit, as_metric


def drawn(rng, train, valid, side=False):
    """Return a sample and scores that are the log-odds of its labels."""
    n = train + valid
    scores = 2.0 * rng.normal(size=n) - 1.0
    y = np.where(rng.random(n) < expit(scores), 1.0, -1.0)
    columns = {"gain": np.full(n, 2.0)} if side else {}
    rows = Data(np.zeros((n, 0)), y, side=columns)
    parts = rows.take(np.arange(train)), rows.take(np.arange(train, n))
    found = Sample(Task((0, 1)), *parts, np.arange(valid) % 5, np.ones(train))
    return found, (scores[:train], scores[train:])


def placed(metric, found, scores, rng):
    judge = CountsJudge.of(metric, found.valid, bootstrap_weights(len(found.valid), 50, rng))
    return PooledRows.of(metric, found, scores).placed(scores, judge)


def test_a_threshold_lies_nearer_to_the_best_with_the_help_of_training_rows():
    """The best for the error, where scores are log-odds, is zero."""
    helped, alone = [], []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        found, scores = drawn(rng, 1500, 100)
        helped.append(placed(as_metric("error"), found, scores, rng)[0])
        own = CountsJudge.of(as_metric("error"), found.valid, bootstrap_weights(100, 50, rng))
        shifts, costs = own.sweep(scores[1][:, np.newaxis])
        alone.append(shifts[np.argmin(costs[:, 1:].mean(axis=1))])
    assert np.mean(np.square(helped)) < 0.75 * np.mean(np.square(alone))


def test_training_rows_are_used_only_if_their_labels_agree(rng):
    found, scores = drawn(rng, 2000, 300)
    _, weight = placed(as_metric("error"), found, scores, rng)
    assert weight == 1.0
    lying = Data(found.train.X, np.where(scores[0] > 2.5, 1.0, -1.0))
    misled = Sample(found.task, lying, found.valid, found.fold, found.density_ratio)
    shift, less = placed(as_metric("error"), misled, scores, rng)
    assert less < 1.0
    assert less == 0.0 or abs(shift) < 1.5


@pytest.mark.parametrize("metric", ["f1", Profit(tp="gain", flag_cost=0.5)], ids=str)
def test_any_metric_of_counts_has_a_place(metric, rng):
    found, scores = drawn(rng, 400, 150, side=True)
    shift, weight = placed(as_metric(metric), found, scores, rng)
    assert np.isfinite(shift)
    assert weight > 0.0


def test_the_unit_of_the_weights_does_not_count(rng):
    found, scores = drawn(rng, 400, 150)
    shifts = []
    for unit in (1.0, 1e-6):
        parts = [Data(d.X, d.y, unit * d.weights) for d in (found.train, found.valid)]
        one = Sample(found.task, *parts, found.fold, found.density_ratio)
        shifts.append(placed(as_metric("f1"), one, scores, np.random.default_rng(0)))
    np.testing.assert_allclose(*shifts)


def test_no_fold_places_its_own_threshold(rng):
    """Rows of a fold count for the others' thresholds alone."""
    found, scores = drawn(rng, 0, 200)
    pooled = PooledRows(as_metric("error"), found.valid, found.fold)
    before = pooled._by_fold(scores[1], 1.0)
    flipped = np.where(found.fold == 2, -found.valid.y, found.valid.y)
    other = PooledRows(as_metric("error"), Data(found.valid.X, flipped), found.fold)
    after = other._by_fold(scores[1], 1.0)
    assert after[2] == before[2]
    assert np.any(after != before)


def test_an_answer_of_lines_alone_still_tells_of_all_families():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 8))
    y = X.sum(axis=1) + 0.5 * rng.normal(size=900) > 1.0
    clf = MetricClassifier("f1", random_state=0)
    clf.fit(X[:600], y[:600], X_val=X[600:], y_val=y[600:])
    shares = [one.share for one in clf.summary_.candidates]
    assert sum(shares) == pytest.approx(1.0)
    assert clf.summary_.training_weight > 0.0
    assert set(clf.summary_.families) == {"linear", "boosted"}
