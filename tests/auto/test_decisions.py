"""Decision rules: what they set costs no more, on the resamples' mean, than doing nothing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from anymetric.auto.decisions import (
    Bias,
    ClassOffsets,
    GroupThresholds,
    NoRule,
    SigmoidCalibration,
    Threshold,
)
from anymetric.auto.decisions.offsets import evenly, tuned_offsets
from anymetric.auto.decisions.scores import fitted_line
from anymetric.auto.decisions.thresholds import lowest
from anymetric.auto.judges.bootstrap import bootstrap_weights
from anymetric.auto.judges.calls import CallsJudge
from anymetric.auto.judges.classes import ClassesJudge
from anymetric.auto.judges.counts import CountsJudge
from anymetric.auto.task import Task
from anymetric.data import Data
from anymetric.ledger import Ledger
from anymetric.metrics import MetricError, Profit, as_metric, meant, metric
from anymetric.models import Linear, Outputs
from anymetric.problem import Problem
from class_oracles import FOUR

DECIDED = ["error", "f1", "gmean", "precision", "recall", "group_mean_f1", "worst_group_error"]


def rows(seed, n=60):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.35, 1.0, -1.0)
    y[:4] = 1.0, -1.0, 1.0, -1.0
    groups = np.where(np.arange(n) % 2 < 1, "a", "b")
    groups[:4] = "a", "a", "b", "b"
    data = Data(np.zeros((n, 0)), y, side={"groups": groups})
    return data, (y + rng.normal(size=n) + 0.8 * (groups == "a"))[:, np.newaxis], rng


def counts(name, data, rng, resamples=8):
    return CountsJudge.of(as_metric(name), data, bootstrap_weights(len(data), resamples, rng))


@given(st.integers(0, 10**6), st.sampled_from(DECIDED))
@settings(max_examples=40, deadline=None)
def test_a_threshold_is_the_best_of_all_on_the_mean_of_resamples(seed, name):
    data, scores, rng = rows(seed)
    judge = counts(name, data, rng)
    found = Threshold().assess(scores, judge)
    tries = np.append(np.sort(scores.ravel()) + 1e-9, scores.min() - 1.0)
    every = [judge.evaluate(scores - level)[1:].mean() for level in tries]
    assert found.resampled.mean() <= min(every) + 1e-9
    np.testing.assert_allclose(scores + found.offsets, found.scores)
    np.testing.assert_allclose([found.cost, *found.resampled], judge.evaluate(found.scores))


@given(st.integers(0, 10**6), st.sampled_from(DECIDED))
@settings(max_examples=30, deadline=None)
def test_group_thresholds_never_cost_more_than_a_common_one(seed, name):
    data, scores, rng = rows(seed)
    judge = counts(name, data, rng)
    names, member = np.unique(data.side["groups"], return_inverse=True)
    common = Threshold().assess(scores, judge)
    found = GroupThresholds(names.tolist(), member).assess(scores, judge)
    assert found.resampled.mean() <= common.resampled.mean() + 1e-12
    shift = np.array([found.rule.shifts[name] for name in names])[member]
    there = scores + found.offsets + shift[:, np.newaxis]
    np.testing.assert_allclose(found.scores, there)
    np.testing.assert_allclose([found.cost, *found.resampled], judge.evaluate(there))


def test_groups_that_lie_apart_get_thresholds_of_their_own():
    data, scores, rng = rows(0, n=400)
    apart = scores + 3.0 * (data.side["groups"] == "a")[:, np.newaxis]
    names, member = np.unique(data.side["groups"], return_inverse=True)
    found = GroupThresholds(names.tolist(), member).assess(apart, counts("error", data, rng, 40))
    assert found.rule.shifts["b"] - found.rule.shifts["a"] == pytest.approx(3.8, abs=0.8)


@given(st.integers(0, 10**6), st.sampled_from(["macro_f1", "gmean", "error"]))
@settings(max_examples=20, deadline=None)
def test_class_offsets_never_cost_more_than_none(seed, name):
    rng = np.random.default_rng(seed)
    y = rng.integers(4, size=60)
    scores = rng.normal(size=(60, 4)) + 0.8 * np.eye(4)[y]
    data = Data(np.zeros((60, 1)), y.astype(float), rng.integers(1, 4, 60).astype(float))
    judge = ClassesJudge.of(meant(as_metric(name), FOUR), data, FOUR, bootstrap_weights(60, 8, rng))
    tuned = tuned_offsets(judge, scores)
    assert judge.evaluate(scores + tuned)[0] <= judge.evaluate(scores)[0] + 1e-12
    fold = np.arange(60) % 5
    found = ClassOffsets(fold, data.y, True).assess(scores, judge)
    assert found.mean <= NoRule().assess(scores, judge).mean + 1e-12


def called(spec, y, limit=None):
    data = Data(np.zeros((len(y), 1)), y.astype(float))
    problem = Problem(data, [], meant(spec, FOUR), model=Outputs(Linear(), 4), labels=FOUR)
    return Ledger(problem, limit)


@metric(greater_is_better=True)
def recall(y_true, y_pred):
    return float(np.mean([np.mean(y_pred[y_true == name] == name) for name in np.unique(y_true)]))


@metric(greater_is_better=False)
def costly(y_true, y_pred):
    """Count errors, of the first class eight times."""
    return float(np.mean((y_true != y_pred) * np.where(y_true == "a", 8.0, 1.0)))


def told_and_true(spec, apart, seed, n=60):
    """Return what 60 rows say of offsets, and fresh rows with and without them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(4, size=n + 2000)
    scores = rng.normal(size=(len(y), 4)) + apart * np.eye(4)[y]
    ledger = called(spec, y[:n])
    judge = CallsJudge.of(ledger, Task(FOUR), bootstrap_weights(n, 10, rng))
    rule = ClassOffsets(np.arange(n) % 5, y[:n].astype(float), True)
    found = rule.assess(scores[:n], judge)
    fresh = called(spec, y[n:]).problem.judge
    tables = scores[n:] + found.offsets, scores[n:]
    return found.cost, *(float(fresh.costs(one.reshape(-1))) for one in tables)


@pytest.mark.parametrize("apart", [0.0, 0.8])
def test_class_offsets_are_evaluated_on_rows_that_did_not_tune_them(apart):
    said, fresh, _ = np.mean([told_and_true(recall, apart, seed) for seed in range(8)], axis=0)
    assert said > fresh - 0.06


def test_class_offsets_that_pay_are_kept():
    _, moved, plain = np.mean([told_and_true(costly, 0.8, seed) for seed in range(6)], axis=0)
    assert moved < plain - 0.2


def test_no_fold_lacks_a_class():
    y = np.append(np.zeros(57), [1.0, 2.0, 3.0])
    rule = ClassOffsets(np.arange(60) % 5, y, True)
    for k in range(5):
        assert set(y[rule._others(k)]) == {0.0, 1.0, 2.0, 3.0}


@pytest.mark.parametrize("weighted", [False, True])
def test_sigmoid_calibration_is_scikit_learns_regression_on_the_scores(weighted, rng):
    scores = rng.normal(size=800)
    y = np.where(rng.random(800) < expit(3.0 * scores - 1.0), 1.0, -1.0)
    weights = rng.uniform(0.5, 2.0, 800) if weighted else np.ones(800)
    peer = LogisticRegression(C=np.inf, tol=1e-10).fit(scores[:, None], y, weights)
    slope, offset = fitted_line(scores, y, weights, "logistic")
    assert slope == pytest.approx(peer.coef_[0, 0], rel=0.01)
    assert offset == pytest.approx(peer.intercept_[0], abs=0.02)
    data = Data(np.zeros((800, 0)), y, weights)
    ledger = Ledger(Problem(data, "logistic", as_metric("neg_log_loss"), labels=(0, 1)))
    judge = CallsJudge.of(ledger, Task((0, 1)), np.ones((800, 2)))
    found = SigmoidCalibration(data).assess(0.1 * scores[:, None], judge)
    assert found.scale == pytest.approx(10.0 * slope, rel=0.01)
    assert found.cost < NoRule().assess(0.1 * scores[:, None], judge).cost


def test_scores_that_point_the_wrong_way_are_not_calibrated(rng):
    y = np.where(rng.random(200) < 0.5, 1.0, -1.0)
    data = Data(np.zeros((200, 0)), y)
    ledger = Ledger(Problem(data, "logistic", as_metric("neg_log_loss"), labels=(0, 1)))
    judge = CallsJudge.of(ledger, Task((0, 1)), np.ones((200, 2)))
    found = SigmoidCalibration(data).assess((-y + rng.normal(size=200))[:, None], judge)
    assert (found.scale, found.offsets.tolist()) == (1.0, [0.0])


@pytest.mark.parametrize(("name", "leans"), [("pinball_0.9", True), ("mean_squared_error", False)])
def test_predictions_are_moved_where_the_metric_leans(name, leans, rng):
    y = rng.normal(size=300)
    data = Data(np.zeros((300, 1)), y)
    ledger = Ledger(Problem(data, "squared", as_metric(name)))
    judge = CallsJudge.of(ledger, Task(None), bootstrap_weights(300, 20, rng))
    found = Bias(data).assess(np.zeros((300, 1)), judge)
    # The best constant for the pinball loss is the quantile.
    expected = np.quantile(y, 0.9) if leans else 0.0
    assert found.offsets[0] == pytest.approx(expected, abs=0.01)
    assert found.mean <= NoRule().assess(np.zeros((300, 1)), judge).mean


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_the_unit_of_the_cost_does_not_count(unit, rng):
    data, scores, _ = rows(1, n=200)
    weights = bootstrap_weights(200, 20, rng)
    found = [
        Threshold().assess(
            scores,
            CountsJudge.of(Profit(tp=3.0 * size, fp=-1.0 * size, fn=-1.0 * size), data, weights),
        )
        for size in (1.0, unit)
    ]
    assert found[0].offsets == found[1].offsets
    costs = np.array([3.0, 1.0, 1.0, 1.0, 2.0])
    assert lowest(unit * costs) == 2
    assert lowest(unit * (costs + 1.0)) == 2


def test_of_thresholds_as_good_the_middle_one_is_taken():
    assert lowest(np.array([1.0, 0.0, 0.0, 0.0, 1.0])) == 2
    assert lowest(np.array([0.0, 0.0, 0.0])) == 1


def test_a_failure_at_an_end_is_passed_over_and_any_other_is_reported(rng):
    data, scores, _ = rows(2)

    def judged(function):
        problem = Problem(data, "logistic", metric(function, greater_is_better=True), labels=(0, 1))
        return CallsJudge.of(Ledger(problem), Task((0, 1)), bootstrap_weights(60, 5, rng))

    def precision(y_true, y_pred):
        assert y_pred.any()
        return np.mean(y_true[y_pred == 1])

    def broken(y_true, y_pred):
        raise RuntimeError("out of order")

    assert Threshold().assess(scores, judged(precision)).cost < -0.5
    with pytest.raises(MetricError, match="out of order"):
        Threshold().assess(scores, judged(broken))


def test_rows_are_thinned_with_every_class_in_its_share(rng):
    y = rng.choice(3, p=[0.7, 0.25, 0.05], size=20_000).astype(float)
    some = evenly(np.arange(20_000), y)
    assert 4000 < len(some) <= 8000
    shares = [np.bincount(part.astype(int)) / len(part) for part in (y, y[some])]
    np.testing.assert_allclose(*shares, atol=0.005)
