"""The judge that calls: every threshold and resample is a call, and calls may be few."""

import numpy as np
import pytest

from anymetric.auto.decisions import Threshold
from anymetric.auto.judges.bootstrap import bootstrap_weights
from anymetric.auto.judges.calls import KEPT, PLENTY, CallsJudge, affordable
from anymetric.auto.judges.counts import CountsJudge
from anymetric.auto.judges.racing import raced
from anymetric.auto.task import Task
from anymetric.data import Data
from anymetric.ledger import BudgetSpent, Ledger
from anymetric.metrics import Classes, as_metric, meant, metric
from anymetric.metrics.evaluations import Direct, answered_by
from anymetric.metrics.faults import Conduct
from anymetric.models import Linear, Outputs
from anymetric.problem import Problem

TWO = Task((0, 1))


def rows(rng, n=80):
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    return Data(np.zeros((n, 1)), y), (y + rng.normal(size=n))[:, np.newaxis]


def asked(function, data, rng, limit=None, resamples=5):
    """Return a judge of a function of the user's, and a list that grows with every call."""
    calls = []

    def counted(y_true, y_pred):
        calls.append(len(y_true))
        return function(y_true, y_pred)

    problem = Problem(data, "logistic", metric(counted, greater_is_better=True), labels=(0, 1))
    weights = bootstrap_weights(len(data), resamples, rng)
    return CallsJudge.of(Ledger(problem, limit), TWO, weights), calls


def hits(y_true, y_pred):
    return np.mean(y_true == y_pred)


@pytest.mark.parametrize("name", ["f1", "error", "gmean"])
def test_calling_is_counting(name, rng):
    """A ready-made metric, called for each resample, says what its counts say of all at once."""
    data, scores = rows(rng)
    weights = bootstrap_weights(len(data), 3, rng)
    ledger = Ledger(Problem(data, "logistic", as_metric(name)))
    called = CallsJudge.of(ledger, TWO, weights).evaluate(scores)
    np.testing.assert_allclose(
        called, CountsJudge.of(as_metric(name), data, weights).evaluate(scores)
    )
    assert ledger.calls == 4


@pytest.mark.parametrize("moving", [None, np.arange(80) % 2 == 0], ids=["all", "some"])
def test_a_sweep_asks_about_thresholds_and_tells_their_costs(moving, rng):
    data, scores = rows(rng)
    judge, calls = asked(hits, data, rng)
    shifts, costs = judge.sweep(scores, moving=moving)
    assert costs.shape == (len(shifts), 1)
    assert len(calls) == judge.ledger.calls
    column = np.ones((80, 1)) if moving is None else moving[:, np.newaxis]
    there = [judge.evaluate(scores + shift * column)[0] for shift in shifts]
    np.testing.assert_allclose(costs[:, 0], there)
    if moving is None:
        every = judge.ledger.problem.judge.costs(scores - np.sort(scores.ravel()) - 1e-9)
        assert costs.min() <= every.min() + 0.02


def test_calls_are_counted(rng):
    data, scores = rows(rng)
    judge, calls = asked(hits, data, rng)
    judge.evaluate(scores)
    assert judge.price == len(calls) == judge.ledger.calls == 6
    assert judge.left == np.inf


def test_where_calls_are_few_candidates_are_compared_without_resamples(rng):
    data, scores = rows(rng)
    judge, calls = asked(hits, data, rng, limit=200)
    assert judge.thrifty
    found = Threshold().assess(scores, judge)
    assert found.resampled.size == 0
    assert set(calls) == {len(data)}
    first = len(calls)
    Threshold().assess(scores + 0.1, judge)
    assert len(calls) - first <= 3  # near the best so far
    assert not asked(hits, data, rng, limit=PLENTY)[0].thrifty


@pytest.mark.parametrize("limit", [20, 60, 200])
def test_resamples_are_kept_for_the_best_few(limit, rng):
    data, scores = rows(rng)
    judge, calls = asked(hits, data, rng, limit=limit, resamples=40)
    found = []
    while not judge.spent:
        found.append(Threshold().assess(scores + rng.normal(size=scores.shape), judge))
    assert judge.left >= KEPT * limit - judge.thresholds - 4
    last = judge.finalists(found, None)
    chosen = [k for k, one in enumerate(last) if one is not None]
    assert 0 in chosen
    assert all(len(last[k].resampled) == len(judge.resamples) for k in chosen)
    rest = sorted(range(1, len(found)), key=lambda k: found[k].cost)
    assert set(chosen) == {0, *rest[: len(chosen) - 1]}
    assert len(calls) == judge.ledger.calls <= limit


def test_a_budget_is_never_exceeded(rng):
    data, scores = rows(rng)
    judge, calls = asked(hits, data, rng, limit=7)
    Threshold().assess(scores, judge)
    assert len(calls) <= 7
    judge.ledger.count(int(judge.left))
    with pytest.raises(BudgetSpent):
        judge.evaluate(scores)
    assert len(calls) <= 7


@pytest.mark.parametrize("limit", [np.inf, 40, 200, 3999, 4000])
def test_what_a_budget_affords_grows_with_it(limit):
    thresholds, resamples = affordable(limit)
    assert 4 <= thresholds <= 24
    assert 2 <= resamples <= 40
    if limit < PLENTY:
        assert thresholds + resamples < limit


def test_nobody_is_asked_about_in_a_resample(rng):
    """A function that needs somebody flagged is not tried where a resample would flag nobody."""

    def precision(y_true, y_pred):
        assert y_pred.any()
        return np.mean(y_true[y_pred == 1])

    data, scores = rows(rng)
    judge, _ = asked(precision, data, rng, resamples=20)
    for _ in range(3):
        found = Threshold().assess(scores + rng.normal(size=scores.shape), judge)
        assert np.all(np.isfinite(found.resampled))


def test_flagging_nobody_is_taken_where_it_pays_most(rng):
    data, _ = rows(rng)
    judge, _ = asked(lambda y_true, y_pred: -np.sum(y_pred), data, rng)
    found = Threshold().assess(rng.normal(size=(80, 1)), judge)
    assert found.cost == 0.0
    assert not np.any(found.scores > 0.0)


def test_a_constant_does_not_vary_and_others_do(rng):
    data, scores = rows(rng)
    for function, varies in ((lambda y_true, y_pred: 0.5, False), (hits, True)):
        judge, _ = asked(function, data, rng)
        for noise in (0.0, 1.0):
            judge.sweep(scores + noise * rng.normal(size=scores.shape))
        assert judge.varies(scores) == varies


def test_a_judge_of_some_rows_asks_about_these(rng):
    data, scores = rows(rng)
    judge, calls = asked(hits, data, rng)
    some = np.arange(0, 80, 2)
    expected = -np.mean((data.y > 0.0)[some] == (scores > 0.0)[some, 0])
    assert judge.take(some).evaluate(scores[some]) == pytest.approx([expected])
    assert calls == [40]


def test_classes_are_swept_one_by_one(rng):
    four = Classes(("a", "b", "c", "d"))
    y = rng.integers(4, size=60)
    scores = rng.normal(size=(60, 4)) + np.eye(4)[y]
    spec = meant(metric(hits, greater_is_better=True), four)
    data = Data(np.zeros((60, 1)), y.astype(float))
    problem = Problem(data, [], spec, model=Outputs(Linear(), 4), labels=four)
    judge = CallsJudge.of(Ledger(problem), Task(four), np.ones((60, 2)))
    shifts, costs = judge.sweep(scores, 2)
    for shift, cost in zip(shifts, costs[:, 0], strict=True):
        decided = np.argmax(scores + shift * np.eye(4)[2], axis=1)
        assert cost == pytest.approx(-np.mean(decided == y))
    assert [start.shape for start in judge.starts(4)] == [(4,)] * 4


def varying(function, rng, sd=0.02):
    return lambda y_true, y_pred: function(y_true, y_pred) + sd * rng.normal()


@pytest.mark.parametrize("limit", [None, 200])
def test_noise_is_noticed_where_no_formula_is_learned(limit, rng):
    data, scores = rows(rng)
    with answered_by(Direct(Conduct(repeats="auto"))):
        quiet, _ = asked(hits, data, rng, limit)
        noisy, _ = asked(varying(hits, rng), data, rng, limit)
        for judge in (quiet, noisy):
            Threshold().assess(scores, judge)
    assert quiet.repeats.noise == 0.0
    assert sum(quiet.repeats.times.values()) == 1
    assert 0.002 < noisy.repeats.noise < 0.06
    assert sum(noisy.repeats.times.values()) > 3


def test_a_set_number_of_repeats_is_all_there_is(rng):
    data, scores = rows(rng)
    with answered_by(Direct(Conduct(repeats=2))):
        judge, calls = asked(varying(hits, rng), data, rng, 200)
        Threshold().assess(scores, judge)
    assert not judge.repeats.times
    assert len(calls) == judge.ledger.calls


def test_repeats_find_the_best_of_several_more_often(rng):
    true, right = np.array([0.30, 0.31, 0.315, 0.33, 0.5]), np.zeros(2)
    for _ in range(300):
        first = true + 0.02 * rng.normal(size=5)
        found = raced(first, 0.02, lambda k: true[k] + 0.02 * rng.normal(size=len(k)), 24)
        right += np.argmin(first) == 0, np.argmin(found) == 0
    assert right[1] > right[0] + 30


def test_the_cost_of_a_threshold_is_not_asked_for_twice(rng):
    data, scores = rows(rng)
    judge, calls = asked(hits, data, rng)
    shifts, _ = judge.sweep(scores)
    before = len(calls)
    judge.evaluate(scores + shifts[3])
    assert len(calls) - before == len(judge.resamples)
