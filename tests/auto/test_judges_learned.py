"""The learned judge: a function of counts is known after some dozens of answers, no other is."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score, matthews_corrcoef

from anymetric.auto import Auto
from anymetric.auto.decisions import Threshold
from anymetric.auto.judges.formula import Formula
from anymetric.auto.judges.learned import ASKED, TOGETHER, LearnedJudge, learn_formula, partition_of
from anymetric.auto.judges.learned_metric import LearnedMetric
from anymetric.auto.judges.partition import Partition
from anymetric.data import Data
from anymetric.ledger import Ledger
from anymetric.metrics import MetricError, as_metric
from anymetric.metrics.evaluations import Direct, answered_by
from anymetric.metrics.faults import SKIP, Conduct
from anymetric.models import Linear
from anymetric.problem import Problem
from anymetric.surrogates import per_class

N = 400


def f1(y_true, y_pred):
    return f1_score(y_true, y_pred, zero_division=0.0)


def mcc(y_true, y_pred):
    return matthews_corrcoef(y_true, y_pred)


def gmean(y_true, y_pred):
    return np.sqrt(np.mean(y_pred[y_true == 1]) * np.mean(1 - y_pred[y_true == 0]))


def gain(y_true, y_pred):
    return 3.0 * np.sum((y_true == 1) & (y_pred == 1)) - np.sum(y_pred == 1)


def floored(y_true, y_pred):
    """Precision, if seven tenths of the positives are found."""
    found = np.mean(y_pred[y_true == 1])
    precision = np.mean(y_true[y_pred == 1]) if np.any(y_pred) else 0.0
    return precision if found >= 0.7 else found - 1.0


def problem_of(function, rng, n=N, weights=None, **columns):
    X = rng.normal(size=(n, 4))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0.8, 1.0, -1.0)
    data = Data(X, y, np.ones(n) if weights is None else weights, columns)
    wrapped = as_metric(function, greater_is_better=True)
    return Problem(data, per_class("logistic"), wrapped, model=Linear(), labels=(0, 1))


def skipping(repeats=1):
    return answered_by(Direct(Conduct(SKIP, repeats)))


def learned(function, rng, limit=None, **given):
    """Return the judge of a function, once it asks, and the scores that it began with."""
    problem = problem_of(function, rng, **given)
    scores = (problem.valid.X[:, 0] + 0.3 * problem.valid.X[:, 1])[:, np.newaxis]
    resamples = rng.standard_exponential((len(scores), 20))
    judge = learn_formula(Ledger(problem, limit), scores, resamples, rng)
    return judge if judge is None else judge.closing(), scores


@pytest.mark.parametrize("function", [f1, mcc, gmean, gain])
def test_what_the_function_would_say_is_predicted_after_few_calls(function, rng):
    judge, scores = learned(function, rng)
    assert judge.ledger.calls < 60
    shifts = -np.quantile(scores, [0.6, 0.7, 0.75, 0.8, 0.85])
    asked = judge.ledger.problem.judge.costs(scores + shifts)
    told = np.array([judge.inner.evaluate(scores + shift)[0] for shift in shifts])
    spread = np.ptp(list(judge.formula.answers.values()))
    assert np.abs(told - asked).max() < 0.02 * spread


@pytest.mark.parametrize("function", [f1, gain])
def test_resamples_spread_as_the_function_on_rows_drawn_anew(function, rng):
    judge, scores = learned(function, rng)
    shifts, costs = judge.sweep(scores)
    best = int(np.argmin(costs[:, 1:].mean(axis=1)))
    valid = judge.ledger.problem.valid
    classes = [np.flatnonzero(valid.y == sign) for sign in (-1.0, 1.0)]
    asked = []
    for _ in range(100):
        rows = np.concatenate([rng.choice(own, len(own)) for own in classes])
        bound = judge.ledger.problem.metric.bind(valid.y[rows], labels=(0, 1))
        asked.append(float(bound.costs(scores[rows, 0] + shifts[best])))
    assert costs[best, 1:].std() == pytest.approx(np.std(asked), rel=0.5)
    assert costs[best, 1:].mean() == pytest.approx(np.mean(asked), abs=np.std(asked))


@pytest.mark.parametrize("seed", range(20))
def test_a_plain_f1_of_few_positives_is_never_given_up(seed):
    """Of a dozen positives the same counts come again and again: those answers are known."""
    rng = np.random.default_rng(seed)
    judge, scores = learned(f1, rng, n=70)
    assert isinstance(judge, LearnedJudge)
    noise = judge.ledger.problem.valid.X[:, [2]]
    for k in range(6):
        judge.sweep(scores + 0.2 * k * noise)
    assert judge.ledger.calls < 100


def by_place(y_true, y_pred):
    return np.average(y_true == y_pred, weights=np.arange(len(y_true)))


def by_amount(y_true, y_pred):
    value = np.arange(len(y_true)) % 7
    return max(0.0, np.sum(value * np.where(y_true == 1, 1.0, -1.0) * y_pred))


def at_random(y_true, y_pred):
    return f1(y_true, y_pred) + 1e-3 * np.random.default_rng().random()


def leaping(y_true, y_pred):
    return np.sum(y_pred) * 7 % 11


def strict(y_true, y_pred):
    if np.mean(y_pred[y_true == 0]) > 0.3:
        raise RuntimeError("nobody flags so many")
    return f1(y_true, y_pred)


@pytest.mark.parametrize("function", [by_place, by_amount, at_random, leaping])
def test_a_function_of_more_than_counts_is_found_out(function, rng):
    assert learned(function, rng, limit=200)[0] is None


def test_a_function_that_fails_in_a_region_is_learned_outside_of_it(rng):
    with skipping():
        judge, scores = learned(strict, rng)
        assert judge.formula.skipped
        _, costs = judge.sweep(scores)
    assert costs[:, 0].min() < -0.6


@pytest.mark.parametrize("varied", [1e-6, 1e-3, 0.02])
def test_answers_that_vary_are_learned_with_their_variance(varied, rng):
    def noisy(y_true, y_pred):
        return f1(y_true, y_pred) + varied * rng.normal()

    with skipping("auto"):
        judge, scores = learned(noisy, rng)
    assert judge.formula.noise == pytest.approx(varied, rel=1.0)
    assert judge.ledger.calls <= 120
    shifts, costs = judge.sweep(scores)
    y = judge.ledger.problem.valid.y > 0.0
    true = [f1(y, scores[:, 0] + shift > 0.0) for shift in shifts]
    assert true[int(np.argmin(costs[:, 0]))] > max(true) - 0.02


@pytest.mark.parametrize(
    ("why", "given"),
    [
        ("amounts", {"amount": np.arange(float(N))}),
        ("weights", {"weights": 1.0 + np.arange(N) % 2}),
        ("rare cells", {"amount": np.r_[np.ones(2), np.zeros(N - 2)]}),
    ],
)
def test_what_cannot_be_counted_is_not_partitioned(why, given, rng):
    def profit(y_true, y_pred, amount=None):
        return gain(y_true, y_pred)

    assert partition_of(problem_of(profit, rng, **given)) is None
    assert len(partition_of(problem_of(profit, rng))) == 2


def test_ready_made_metrics_are_not_asked_for_their_formula(rng):
    assert partition_of(problem_of("f1", rng)) is None


def test_groups_are_cells_of_their_own(rng):
    def worst(y_true, y_pred, groups):
        return min(f1(y_true[groups == g], y_pred[groups == g]) for g in ("a", "b"))

    judge, scores = learned(worst, rng, groups=rng.choice(["a", "b"], N))
    assert len(judge.formula.sizes) == 4
    shifts, costs = judge.sweep(scores)
    best = int(np.argmin(costs[:, 1:].mean(axis=1)))
    at = float(judge.ledger.problem.judge.costs(scores[:, 0] + shifts[best]))
    assert costs[best, 0] == pytest.approx(at, abs=0.03)


@pytest.mark.parametrize("limit", [10, 40, 56, 200])
def test_calls_are_counted_as_they_are_made_and_never_exceeded(limit, rng):
    calls = []

    def counted(y_true, y_pred):
        calls.append(1)
        return f1(y_true, y_pred)

    ledger = Ledger(problem_of(counted, rng), limit)
    solution = Auto(resamples=20).run(ledger, [], rng)
    assert len(calls) == solution.calls == ledger.calls <= limit
    assert solution.cost < -0.6


def test_an_answer_is_asked_for_once(rng):
    judge, scores = learned(f1, rng)
    first = judge.evaluate(scores - 0.5)
    calls = judge.ledger.calls
    np.testing.assert_array_equal(judge.evaluate(scores - 0.5), first)
    assert judge.ledger.calls == calls
    assert first[0] == float(judge.ledger.problem.judge.costs(scores[:, 0] - 0.5))


def test_an_answer_that_surprises_is_not_confirmed_until_it_is_known(rng):
    judge, scores = learned(f1, rng)
    judge.formula.answers.clear()
    counts = np.array([[10, 10], [40, 40], [80, 60], [120, 70]])
    judge.formula.tell(counts, np.full(4, 5.0))  # all lies
    assert not judge.confirmed(scores - 0.5)
    assert judge.confirmed(scores - 0.5)


def batches_of(monkeypatch):
    """Return a list that grows with the size of every batch of questions."""
    sizes, answers = [], Direct.answers

    def counted(self, questions, n_jobs=None):
        sizes.append(len(questions))
        return answers(self, questions, n_jobs)

    monkeypatch.setattr(Direct, "answers", counted)
    return sizes


def test_candidates_are_asked_about_together_after_they_are_trained(rng, monkeypatch):
    sizes = batches_of(monkeypatch)
    judge, scores = learned(floored, rng)
    noise, quiet = judge.ledger.problem.valid.X[:, [2]], replace(judge, asking=False)
    studied = len(sizes)
    tables = [scores + 0.1 * k * noise for k in range(12)]
    found = [Threshold().assess(one, quiet) for one in tables]
    assert len(sizes) == studied
    last = judge.finalists(found, lambda k, one: Threshold().assess(tables[k], one))
    assert sizes[studied] == TOGETHER
    assert len(last) == 12
    judge.finalists(last, lambda k, one: Threshold().assess(tables[k], one))
    assert sum(sizes[studied:]) <= ASKED * 12
    asked = judge.ledger.problem.judge.costs(last[0].scores)
    assert last[0].cost == pytest.approx(float(asked[0]), abs=0.01)


def test_what_depends_on_no_answer_is_asked_in_the_first_batch(rng, monkeypatch):
    sizes = batches_of(monkeypatch)
    with skipping():
        learned(gain, rng)
    assert sizes == [12, 20]


def test_a_failure_in_a_corner_is_not_the_end(rng):
    failures = []

    def corners(y_true, y_pred):
        if failures:
            raise RuntimeError(failures.pop())
        return floored(y_true, y_pred)

    with skipping():
        judge, scores = learned(corners, rng)
        noise = judge.ledger.problem.valid.X[:, [2]]
        failures += ["not there"] * 3
        for k in range(1, 6):
            judge.sweep(scores + 0.2 * k * noise)
        assert not failures
        assert len(judge.formula.skipped) == 1
        failures += ["nor there"] * 3
        assert np.isfinite(judge.evaluate(scores + 0.37 * noise)).all()
        assert len(judge.formula.skipped) == 2


def test_a_function_that_fails_where_nobody_is_flagged_is_learned(rng):
    def precision(y_true, y_pred):
        assert y_pred.any()
        assert not y_pred.all()
        return np.mean(y_true[y_pred == 1]) + 0.1 * np.mean(y_pred)

    judge, scores = learned(precision, rng)
    assert not judge.inner.metric.ends
    shifts, costs = judge.sweep(scores)
    flagged = np.count_nonzero(scores + shifts[int(np.argmin(costs[:, 0]))] > 0.0)
    assert 0 < flagged < N


def test_a_failure_after_the_formula_is_known_leaves_the_best_so_far():
    calls = []

    def tires(y_true, y_pred):
        calls.append(1)
        if len(calls) == last:
            raise RuntimeError("out of order")
        return f1(y_true, y_pred)

    def run():
        rng = np.random.default_rng(0)
        return Auto(resamples=10).run(Ledger(problem_of(tires, rng, n=200)), [], rng)

    last = None
    last, _ = run().calls, calls.clear()
    with pytest.raises(MetricError, match="out of order") as caught:
        run()
    assert caught.value.call == last
    assert caught.value.best.scorer is not None


@pytest.mark.parametrize("weight", [2.5, 1e-6])
def test_the_unit_of_the_weights_does_not_count(weight):
    def swept(unit):
        rng = np.random.default_rng(0)
        judge, scores = learned(f1, rng, weights=np.full(N, unit))
        return *judge.sweep(scores), judge.ledger.calls

    (shifts, costs, calls), (others, same, made) = swept(weight), swept(1.0)
    assert calls == made
    np.testing.assert_allclose(shifts, others)
    np.testing.assert_allclose(costs, same, atol=1e-6)


@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_the_unit_of_the_function_does_not_count(unit):
    def calls(factor):
        rng = np.random.default_rng(0)
        judge, scores = learned(lambda y_true, y_pred: factor * gain(y_true, y_pred), rng)
        shifts, costs = judge.sweep(scores)
        return judge.ledger.calls, float(shifts[int(np.argmin(costs[:, 1:].mean(axis=1)))])

    assert calls(unit) == calls(1.0)


# The parts.


@given(
    sizes=st.lists(st.integers(3, 400), min_size=1, max_size=6),
    seed=st.integers(0, 2**32 - 1),
    width=st.floats(0.0, 5.0),
)
@settings(max_examples=30, deadline=None)
def test_numbers_around_others_can_be_flagged(sizes, seed, width):
    rng = np.random.default_rng(seed)
    formula = Formula(np.array(sizes, dtype=float))
    counts = rng.integers(0, np.array(sizes) + 1)
    near = formula.around(counts, rng.random((7, len(sizes))), width)
    assert near.shape == (7, len(sizes))
    assert np.all((near >= 1) & (near <= np.array(sizes) - 1))


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_cells_separate_rows_by_class_and_columns(seed):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], 40)
    side = {"groups": rng.choice(["x", "y", "z"], 40), "tier": rng.integers(0, 2, 40)}
    partition = Partition.by(y, side, ["groups", "tier"])
    cell = partition.of(y, side)
    keys = list(zip(y, side["groups"], side["tier"], strict=True))
    assert len(set(keys)) == len(partition) == cell.max() + 1
    assert len(set(zip(keys, cell, strict=True))) == len(set(keys))
    unknown = partition.of(y, {**side, "groups": np.full(40, "w")})
    assert np.all(unknown == len(partition))


def test_a_formula_remembers_its_answers(rng):
    formula = Formula(np.array([50.0, 50.0]))
    counts = rng.integers(1, 50, (20, 2))
    formula.tell(counts, rng.normal(size=20))
    told, errors = formula.predicted(counts)
    known = [formula.answers[tuple(row)] for row in counts.tolist()]
    np.testing.assert_array_equal(told, known)
    assert not np.any(errors)
    assert formula.predicted(np.array([[1, 49]]))[1][0] > 0.0


def test_a_constant_has_a_formula():
    formula = Formula(np.array([50.0, 50.0]))
    formula.tell(np.array([[5, 5], [10, 30], [20, 20]]), np.full(3, 7.0))
    assert formula.costs(np.array([[0.3, 0.3]])) == pytest.approx([7.0])
    assert formula.error() == pytest.approx(0.0)


def test_rows_of_cells_that_are_not_known_do_not_count(rng):
    y, side = np.tile([-1.0, 1.0], 50), {"groups": np.full(100, "a")}
    formula = Formula(np.array([50.0, 50.0]))
    counts = np.array([[a, b] for a in (5, 20, 40) for b in (5, 20, 40)])
    formula.tell(counts, (counts[:, 0] - counts[:, 1]) / 50.0)
    guess = LearnedMetric("guess", Partition.by(y, side, ["groups"]), formula)
    scores = rng.normal(size=100)
    alone = guess.bind(y, side=side).costs(scores)
    more = {"groups": np.append(side["groups"], ["b"] * 10)}
    both = guess.bind(np.append(y, np.ones(10)), side=more)
    assert both.costs(np.append(scores, np.ones(10))) == pytest.approx(alone)


def capped(y_true, y_pred):
    """Hits, as long as no more than a fifth are flagged."""
    return np.mean(y_true * y_pred) - 10.0 * max(0.0, np.mean(y_pred) - 0.2)


@pytest.mark.parametrize(
    ("function", "name"), [(f1, "F1"), (mcc, "MCC"), (gmean, "G-mean"), (gain, ""), (capped, "")]
)
def test_a_usual_formula_is_recognised_and_no_other_is_taken_for_one(function, name, rng):
    judge, _ = learned(function, rng)
    assert judge.formula.name == name


def test_the_usual_formulas_are_found_with_twenty_evaluations(rng):
    groups = rng.choice(["a", "b"], N)

    def mean_f1(y_true, y_pred, groups):
        return np.mean([f1(y_true[groups == g], y_pred[groups == g]) for g in ("a", "b")])

    judge, scores = learned(mean_f1, rng, limit=20, groups=groups)
    assert judge.formula.name == "mean F1"
    assert judge.ledger.calls <= 12
    costs = judge.inner.evaluate(scores - 0.4)
    assert costs[0] == pytest.approx(float(judge.ledger.problem.judge.costs(scores[:, 0] - 0.4)))
