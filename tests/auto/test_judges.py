"""Exact judges are the metric itself: on the rows, on resamples, for every threshold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import matthews_corrcoef, ndcg_score

from anymetric.auto.judges.base import Judge, margins, shifts_flagging
from anymetric.auto.judges.bootstrap import bind_resamples, bootstrap_weights
from anymetric.auto.judges.classes import ClassesJudge, prior_corrections
from anymetric.auto.judges.counts import CountsJudge
from anymetric.auto.judges.queries import QueriesJudge, query_resamples
from anymetric.auto.judges.sweeps import LEVELS, levels
from anymetric.data import Data
from anymetric.ledger import Ledger
from anymetric.metrics import (
    NDCG,
    ByGroup,
    Classes,
    ClassF,
    CostMatrix,
    Matthews,
    as_metric,
    meant,
    metric,
)
from anymetric.problem import Problem
from anymetric.surrogates import Softmax
from class_oracles import BY_CLASS, BY_LABEL, FOUR
from metric_oracles import COUNTED, by_sklearn, rows

DECIDED = {**COUNTED, Matthews(): by_sklearn(matthews_corrcoef)}
QUICK = settings(max_examples=25, deadline=None)


# Two classes.


@given(rows(), st.sampled_from(list(DECIDED)), st.booleans(), st.integers(0, 2**20), st.data())
@settings(max_examples=20, deadline=None)
def test_counts_are_scikit_learns_for_every_threshold_and_resample(case, spec, some, seed, data):
    n = len(case["y"])
    weights = np.ones(n) if case["weights"] is None else case["weights"]
    resamples = bootstrap_weights(n, 2, np.random.default_rng(seed))
    moving = None
    if some:
        moving = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
        moving[0] = True
    judge = CountsJudge.of(
        spec, Data(np.zeros((n, 0)), case["y"], weights, case["side"]), resamples
    )
    scores = case["scores"][:, np.newaxis]
    shifts, costs = judge.sweep(scores, moving=moving)
    moved = case["scores"][np.ones(n, bool) if moving is None else moving]
    assert len(shifts) == len(np.unique(moved)) + 1
    for shift, row in zip(shifts, costs, strict=True):
        there = case["scores"] + (shift if moving is None else np.where(moving, shift, 0.0))
        for factor, cost in zip([np.ones(n), *resamples.T], row, strict=True):
            told = DECIDED[spec]({**case, "scores": there, "weights": weights * factor})
            assert cost == pytest.approx(spec.cost(told), abs=1e-9)
        np.testing.assert_allclose(judge.evaluate(there[:, np.newaxis]), row, atol=1e-12)


@pytest.mark.parametrize("name", ["f1", "f0.5", "balanced_error", "gmean"])
@pytest.mark.parametrize("rare", [1.0, -1.0])
def test_the_sweep_is_exact_where_a_class_is_rare(name, rare, rng):
    """Of 3000 thresholds 256 are looked at: those beside the rare rows among them."""
    y = np.where(np.arange(3000) < 60, rare, -rare)
    scores = y + rng.normal(size=3000)
    judge = CountsJudge.of(as_metric(name), Data(np.zeros((3000, 0)), y), np.ones((3000, 0)))
    every = as_metric(name).bind(y).costs(scores[:, None] - np.sort(scores) - 1e-9)
    shifts, costs = judge.sweep(scores[:, np.newaxis])
    assert costs.min() == pytest.approx(every.min(), abs=1e-12)
    assert len(shifts) < 400


# Many classes, and sets of labels.


def drawn(seed, n=40, classes=4):
    """Rows with ties between scores, and weights."""
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=n)
    scores = (rng.normal(size=(n, classes)) + 0.8 * np.eye(classes)[y]).round(1)
    return y, scores, rng.exponential(size=n), rng.exponential(size=(n, 2))


def class_judge(spec, y, weights, resamples, groups=None):
    side = {} if groups is None else {"groups": groups}
    data = Data(np.zeros((len(y), 1)), y.astype(float), weights, side)
    return ClassesJudge.of(meant(as_metric(spec), FOUR), data, FOUR, resamples)


def label_judge(spec, y, weights, resamples):
    sets, codes = np.unique(y, axis=0, return_inverse=True)
    classes = Classes(tuple(range(y.shape[1])), sets)
    data = Data(np.zeros((len(y), 1)), codes.ravel().astype(float), weights)
    return ClassesJudge.of(meant(as_metric(spec), classes), data, classes, resamples)


def labelled(seed, n=40):
    rng = np.random.default_rng(seed)
    y = rng.random((n, 4)) < [0.6, 0.4, 0.2, 0.3]
    y[0], y[1] = True, False
    scores = (rng.normal(size=(n, 4)) + y - 0.5).round(1)
    return y, scores, rng.exponential(size=n), rng.exponential(size=(n, 2))


def judged(kind, spec, seed, n=40):
    """Return a judge, scores, and what scikit-learn says of decisions under each weight."""
    y, scores, weights, resamples = drawn(seed, n) if kind == "classes" else labelled(seed, n)
    judge = (class_judge if kind == "classes" else label_judge)(spec, y, weights, resamples)
    oracle = (BY_CLASS if kind == "classes" else BY_LABEL)[spec]

    def told(scores):
        decided = np.argmax(scores, axis=1) if kind == "classes" else (scores > 0.0).astype(int)
        truth = y if kind == "classes" else y.astype(int)
        every = [weights, *(weights[:, np.newaxis] * resamples).T]
        return judge.metric.cost(np.array([oracle(truth, decided, w) for w in every]))

    return judge, scores, told


EVERY = [("classes", spec) for spec in BY_CLASS] + [("labels", spec) for spec in BY_LABEL]


@pytest.mark.parametrize(("kind", "spec"), EVERY, ids=str)
@pytest.mark.parametrize("seed", range(2))
def test_many_outputs_cost_what_scikit_learn_says_on_every_resample(kind, spec, seed):
    judge, scores, told = judged(kind, spec, seed)
    np.testing.assert_allclose(judge.evaluate(scores), told(scores), atol=1e-12)


@pytest.mark.parametrize(("kind", "spec"), EVERY, ids=str)
def test_a_sweep_of_one_output_is_brute_force(kind, spec):
    for seed in range(3):
        judge, scores, _ = judged(kind, spec, seed, n=15)
        before, c = scores.copy(), seed
        shifts, costs = judge.sweep(scores, c)
        np.testing.assert_array_equal(scores, before)
        column = np.eye(4)[c]
        moved = [judge.evaluate(scores + shift * column)[0] for shift in shifts]
        np.testing.assert_allclose(costs[:, 0], moved, atol=1e-12)
        tries = np.linspace(-8.0, 8.0, 161) + 1e-7
        best = min(judge.evaluate(scores + shift * column)[0] for shift in tries)
        assert costs.min() <= best + 1e-12


@pytest.mark.parametrize("worst", [True, False])
def test_groups_are_taken_one_by_one(worst):
    y, scores, weights, resamples = drawn(8)
    groups = np.arange(len(y)) % 3
    judge = class_judge(ByGroup(ClassF(), worst=worst), y, weights, resamples, groups)
    decided = scores.argmax(axis=1)
    for w, cost in zip([np.ones(len(y)), *resamples.T], judge.evaluate(scores), strict=True):
        parts = [groups == g for g in range(3)]
        each = [BY_CLASS["macro_f1"](y[g], decided[g], (weights * w)[g]) for g in parts]
        assert cost == pytest.approx(1.0 - (min(each) if worst else np.mean(each)))
    shifts, costs = judge.sweep(scores, 2)
    moved = [judge.evaluate(scores + shift * np.eye(4)[2])[0] for shift in shifts]
    np.testing.assert_allclose(costs[:, 0], moved, atol=1e-12)


class Squared(ClassF):
    """A formula of its own for whole matrices."""

    def of_confusion(self, confusion):
        return super().of_confusion(confusion) ** 2


@pytest.mark.parametrize("spec", [Squared(), ByGroup(Squared()), CostMatrix(np.eye(4))], ids=str)
def test_a_formula_for_whole_matrices_is_believed(spec):
    y, scores, weights, resamples = drawn(5)
    groups = np.arange(len(y)) % 2 if spec.needs else None
    side = {} if groups is None else {"groups": groups}
    judge = class_judge(spec, y, weights, resamples, groups)
    bound = spec.bind(y, labels=FOUR, weights=weights, side=side)
    assert judge.evaluate(scores)[0] == pytest.approx(spec.cost(float(bound.values(scores))))
    shifts, costs = judge.sweep(scores, 0)
    moved = [judge.evaluate(scores + shift * np.eye(4)[0])[0] for shift in shifts]
    np.testing.assert_allclose(costs[:, 0], moved, atol=1e-12)


@pytest.mark.parametrize("kind", ["counts", "classes", "labels"])
def test_a_judge_of_some_rows_is_the_judge_of_these_rows(kind, rng):
    some = np.flatnonzero(rng.random(40) < 0.6)
    if kind == "counts":
        y, scores = rng.choice([-1.0, 1.0], 40), rng.normal(size=(40, 1))
        weights, data = rng.exponential(size=40), np.zeros((40, 0))
        whole = CountsJudge.of(as_metric("f1"), Data(data, y, weights), np.ones((40, 2)))
        alone = CountsJudge.of(
            as_metric("f1"), Data(data[some], y[some], weights[some]), np.ones((len(some), 0))
        )
    else:
        make, of = (drawn, class_judge) if kind == "classes" else (labelled, label_judge)
        y, scores, weights, resamples = make(1)
        whole = of("macro_f1", y, weights, resamples)
        alone = of("macro_f1", y[some], weights[some], resamples[some, :0])
    np.testing.assert_allclose(
        whole.take(some).evaluate(scores[some]), alone.evaluate(scores[some])
    )


@given(st.integers(0, 10**6))
@QUICK
def test_levels_are_even_places_and_those_after_the_class(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 1500))
    ranked = np.sort(rng.normal(size=n).round(int(rng.integers(1, 5))))
    own = rng.random(n) < rng.choice([0.0, 0.02, 0.5])
    places = [0, *(k for k in range(1, n) if ranked[k] > ranked[k - 1]), n]
    counts, shifts = levels(ranked, own)
    assert np.all(np.diff(shifts) > 0.0)
    assert set(counts.tolist()) <= set(places)
    assert {0, n} <= set(counts.tolist())
    assert len(counts) == len(places) if len(places) <= LEVELS else len(counts) <= LEVELS
    joined = [np.sum(ranked < shift) for shift in shifts]
    np.testing.assert_array_equal(joined, counts)


def test_prior_corrections_are_logs_of_shares_in_any_unit():
    y, weights = np.array([0, 0, 1, 1, 3]), np.array([2.0, 4.0, 1.0, 1.0, 2.0])
    shares = np.array([6.0, 2.0, 10 / 5 / 2, 2.0])  # half of a mean row for who is not there
    logs = np.log(shares) - np.log(shares).mean()
    for unit in (1.0, 1e-6):
        found = prior_corrections(y, unit * weights, 4)
        np.testing.assert_allclose(found, [0 * logs, -0.5 * logs, 0.5 * logs, -logs], atol=1e-12)


# Queries.


def queried(rng, queries=6, size=5):
    query = np.repeat(np.arange(queries), size)
    grades = rng.integers(0, 3, len(query)).astype(float)
    grades[::size] = 2.0
    side = {"query": query, "relevance": grades}
    X = rng.normal(size=(len(query), 2))
    return Data(X, np.where(grades > 0.0, 1.0, -1.0), side=side)


def test_resamples_of_queries_are_weighted_means_of_scikit_learns_numbers(rng):
    data, scores = queried(rng), rng.normal(size=(30, 1))
    ledger = Ledger(Problem(data, Softmax(), NDCG(3), labels=(0, 1)))
    judge = QueriesJudge.of(ledger, ledger.problem.judge, 4, rng)
    gain, table = (2.0 ** data.side["relevance"] - 1.0).reshape(6, 5), scores.reshape(6, 5)
    each = np.array([ndcg_score(g[None], s[None], k=3) for g, s in zip(gain, table, strict=True)])
    expected = [1.0 - each.mean(), *(1.0 - each @ judge.shares)]
    np.testing.assert_allclose(judge.evaluate(scores), expected)
    np.testing.assert_allclose(judge.shares.sum(axis=0), 1.0)
    assert ledger.calls == 1


def test_a_function_is_called_on_whole_queries_drawn_anew(rng):
    data, seen = queried(rng), []

    @metric(greater_is_better=True)
    def sizes(y_true, y_score, query):
        seen.append(np.unique(query, return_counts=True)[1].tolist())
        return 0.0

    problem = Problem(data, Softmax(), sizes, labels=(0, 1))
    for taken, bound in query_resamples(problem, 3, rng):
        bound.costs(data.X[taken, 0])
    assert seen == [[5] * 6] * 3


# What every judge shares.


class Distance(Judge):
    """A user's judge: it has nothing but `evaluate`."""

    def evaluate(self, scores):
        share = np.mean(scores[:, 0] > 0.0)
        return np.abs(share - np.array([0.4, 0.4, 0.4]))


def test_a_judge_of_ones_own_needs_no_more_than_evaluate(rng):
    scores = rng.normal(size=(200, 1))
    judge = Distance()
    shifts, costs = judge.sweep(scores)
    assert costs.shape == (len(shifts), 3)
    assert costs.min() < 0.05
    half = np.arange(200) < 100
    shifts, costs = judge.sweep(scores, moving=half)
    kept = scores + shifts[0] * half[:, np.newaxis]
    np.testing.assert_allclose(costs[0], judge.evaluate(kept))
    assert judge.varies(scores)
    assert judge.left == np.inf
    assert not judge.spent


@given(st.lists(st.integers(-20, 20), min_size=2, max_size=40, unique=True), st.floats(0.0, 1.0))
@QUICK
def test_a_shift_flags_the_share_asked_for_but_never_nobody_or_everybody(scores, share):
    margin = np.array(scores, dtype=float)
    shift = float(shifts_flagging(margin, [share])[0])
    count = np.count_nonzero(margin + shift > 0.0)
    assert count == np.clip(np.rint(share * len(scores)), 1, len(scores) - 1)


def test_a_margin_is_the_difference_to_the_best_other(rng):
    scores = rng.normal(size=(20, 3))
    for c in range(3):
        ahead = margins(scores, c) > 0.0
        np.testing.assert_array_equal(ahead, scores.argmax(axis=1) == c)


@pytest.mark.parametrize("asked", ["matthews_corrcoef", "accuracy", "f1"])
def test_resamples_of_any_metric_are_about_the_metric_itself(asked, rng):
    y = np.where(rng.random(1000) < 0.4, 1.0, -1.0)
    scores = np.where(rng.random(1000) < 0.7, y, -y)
    data = Data(np.zeros((1000, 1)), y, np.where(scores == y, 0.1, 5.0))
    found = as_metric(asked)
    bound = found.bind(y, weights=data.weights, labels=(0, 1))
    told = [
        float(one.values(scores if taken is None else scores[taken]))
        for taken, one in bind_resamples(found, data, bootstrap_weights(1000, 40, rng), (0, 1))
    ]
    assert np.mean(told) == pytest.approx(float(bound.values(scores)), abs=0.03)


def test_resamples_keep_every_class_of_every_group(rng):
    """Two positives of the small group: where a draw has none of them, many a function fails."""
    groups = np.where(np.arange(100) < 12, "b", "a")
    y = np.where(np.arange(100) % 3 == 0, 1.0, -1.0)
    y[:12] = np.where(np.arange(12) < 2, 1.0, -1.0)

    @metric(greater_is_better=True)
    def recall(y_true, y_pred, groups):
        return np.mean(y_pred[(groups == "b") & (y_true == 1)])

    data = Data(np.zeros((100, 1)), y, side={"groups": groups})
    found = bind_resamples(recall, data, bootstrap_weights(100, 30, rng), (0, 1))
    assert 15 <= len(found) < 30
    for taken, _ in found:
        assert np.any((groups == "b")[taken] & (y > 0.0)[taken])
