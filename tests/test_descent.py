"""Algorithm 1 against sixty plain lines, Theorem 2 in action, and every way of stopping."""

from itertools import pairwise

import numpy as np
import pytest

import reference
from anymetric.descent import Descent
from anymetric.gradients import LinearInterpolation, Subspace
from anymetric.ledger import Ledger
from anymetric.metrics import MetricError, as_metric, metric
from anymetric.problem import Problem
from anymetric.projections import LBFGS, Adagrad, Exact
from anymetric.solution import Status
from anymetric.surrogates import per_class
from anymetric.tuning import Tuned
from conftest import blobs
from test_gradients import known


def gmean_ledger(data, max_calls=None):
    return Ledger(Problem(data, per_class("hinge"), as_metric("gmean")), max_calls)


def test_the_fast_path_follows_the_plain_algorithm(data):
    ledger = gmean_ledger(data)
    X, y = data.X, data.y
    masks = [y == -1.0, y == 1.0]

    def cost(theta):
        positive = X @ theta[:-1] + theta[-1] > 0
        return 1.0 - np.sqrt(positive[y == 1].mean() * (~positive[y == -1]).mean())

    start = np.array([0.2, 0.1, -0.1, 0.3, 0.0])
    settings = {"outer_iterations": 6, "m": 40, "sigma": 0.3}
    path = reference.descend(
        start, cost, X, y, masks, eta=0.4, rng=np.random.default_rng(7), **settings
    )
    descent = Descent(6, 0.4, LinearInterpolation(m=40, sigma=0.3), Adagrad())
    iterations = list(descent.iterate(ledger, start, np.random.default_rng(7)))
    np.testing.assert_allclose(
        [iteration.theta for iteration in iterations], path, rtol=1e-7, atol=1e-9
    )
    np.testing.assert_allclose(
        [iteration.cost for iteration in iterations], [cost(theta) for theta in path]
    )


def test_the_gradient_norm_falls_with_more_iterations(data):
    """Theorem 2: min_t |grad psi(l(theta_t))| falls with T when the estimates are good."""

    def smallest_gradient(iterations):
        ledger = known(data, lambda u: float(u @ u) / 4)
        descent = Descent(iterations, 0.5, Subspace(m=10, sigma=0.01), LBFGS())
        solution = descent.run(ledger, [np.zeros(5)], np.random.default_rng(0))
        norms = []
        for iteration in solution.iterations:
            profile, jacobian = ledger.problem.linearise(iteration.theta)
            norms.append(np.linalg.norm(profile / 2 @ jacobian))
        return min(norms)

    norms = [smallest_gradient(iterations) for iterations in (1, 5, 40)]
    assert norms[0] > norms[1] > norms[2]
    assert norms[2] < 0.1 * norms[0]


def test_noise_in_the_estimate_raises_the_floor(data):
    def floor(noise):
        draws = np.random.default_rng(1)
        ledger = known(data, lambda u: float(u @ u) / 4 + noise * draws.normal())
        descent = Descent(40, 0.5, Subspace(m=10, sigma=0.02, nonnegative=False), LBFGS())
        solution = descent.run(ledger, [np.zeros(5)], np.random.default_rng(0))
        last = [ledger.problem.profile(iteration.theta) for iteration in solution.iterations[-20:]]
        return np.mean([u @ u / 4 for u in last])

    assert floor(0.0) < floor(0.05) < floor(0.5)


def test_descent_beats_its_start(data):
    ledger = gmean_ledger(data)
    descent = Descent(20, 0.5, LinearInterpolation(m=100, sigma=0.3), Adagrad())
    solution = descent.run(ledger, [np.zeros(5)], np.random.default_rng(0))
    assert solution.iterations[0].cost == 1.0
    assert solution.cost < 0.4
    assert solution.cost == min(iteration.cost for iteration in solution.iterations)
    assert solution.status is Status.COMPLETED


def test_a_run_is_repeatable_bit_for_bit(data):
    descent = Descent(5, 0.5, LinearInterpolation(m=20, sigma=0.3), Adagrad())
    starts = [np.zeros(5), np.ones(5)]
    runs = [descent.run(gmean_ledger(data), starts, np.random.default_rng(3)) for _ in "ab"]
    for one, two in zip(runs[0].iterations, runs[1].iterations, strict=True):
        np.testing.assert_array_equal(one.theta, two.theta)


def test_every_evaluation_of_the_metric_is_counted(data):
    calls = []

    @metric(greater_is_better=False)
    def counted(y_true, y_pred):
        calls.append(1)
        return np.mean(y_true != y_pred)

    problem = Problem(data, per_class("hinge"), counted, labels=(0, 1))
    ledger = Ledger(problem)
    solution = Descent(3, 0.5, LinearInterpolation(m=7), Adagrad(iterations=5)).run(
        ledger, [np.zeros(5)], np.random.default_rng(0)
    )
    assert solution.calls == ledger.calls == len(calls) == 1 + 3 * (14 + 1)


def test_the_budget_is_never_passed(data):
    ledger = gmean_ledger(data, max_calls=40)
    descent = Descent(50, 0.5, LinearInterpolation(m=7), Adagrad(iterations=5))
    solution = descent.run(ledger, [np.zeros(5)], np.random.default_rng(0))
    assert solution.status is Status.BUDGET
    assert ledger.calls <= 40


def test_a_constant_metric_ends_flat_with_the_first_start(data):
    flat = metric(lambda y_true, y_pred: 0.25, greater_is_better=False)
    ledger = Ledger(Problem(data, per_class("hinge"), flat, labels=(0, 1)))
    solution = Descent(50, 0.5, LinearInterpolation(m=5), Adagrad(iterations=5)).run(
        ledger, [np.ones(5), np.zeros(5)], np.random.default_rng(0)
    )
    assert solution.status is Status.FLAT
    np.testing.assert_array_equal(solution.theta, np.ones(5))


def test_the_caller_can_stop(data):
    seen = []

    def watch(iteration):
        seen.append(iteration.number)
        return iteration.number == 2

    solution = Descent(50, 0.5, LinearInterpolation(m=5)).run(
        gmean_ledger(data), [np.zeros(5)], np.random.default_rng(0), watch
    )
    assert seen == [0, 1, 2]
    assert solution.status is Status.STOPPED


def test_a_failing_metric_leaves_the_best_model_on_the_error(data):
    calls = []

    @metric(greater_is_better=False)
    def fails_late(y_true, y_pred):
        calls.append(1)
        return float("nan") if len(calls) == 30 else np.mean(y_true != y_pred)

    ledger = Ledger(Problem(data, per_class("hinge"), fails_late, labels=(0, 1)))
    with pytest.raises(MetricError, match="nan") as caught:
        Descent(9, 0.5, LinearInterpolation(m=5), Adagrad(iterations=5)).run(
            ledger, [np.zeros(5)], np.random.default_rng(0)
        )
    assert caught.value.call == 30
    assert caught.value.best.status is Status.FAILED
    assert caught.value.best.theta.shape == (5,)


def test_a_walk_that_stands_still_has_converged(rng):
    data = blobs(rng, n=60)
    ledger = known(data, lambda u: float(-u.sum()))  # the slopes are negative: clipped to zero
    descent = Descent(200, 0.5, Subspace(m=4), LBFGS(), patience=3)
    solution = descent.run(ledger, [np.zeros(5)], rng)
    assert solution.status is Status.CONVERGED
    assert len(solution.iterations) == 4


def test_the_exact_projection_steps_from_the_epigraph(data):
    descent = Descent(4, 2.0, LinearInterpolation(m=30, sigma=0.3), Exact())
    walk = list(descent.iterate(gmean_ledger(data), np.zeros(5), np.random.default_rng(0)))
    for iteration in walk[1:]:
        np.testing.assert_array_equal(
            iteration.point, np.maximum(iteration.target, iteration.here.profile)
        )


def test_a_decaying_step_shrinks(data):
    descent = Descent(4, 1.0, Subspace(m=5), LBFGS(), decay=1.0, normalised=True)
    walk = list(descent.iterate(gmean_ledger(data), 0.1 * np.ones(5), np.random.default_rng(0)))
    moved = [np.linalg.norm(b.target - a.point) for a, b in pairwise(walk)]
    np.testing.assert_allclose(moved, [1.0, 1 / 2, 1 / 3, 1 / 4])


def test_the_accuracy_asked_is_the_theorems(data):
    descent = Descent(8, 0.4, LinearInterpolation(m=5), Adagrad(iterations=5))
    ledger = gmean_ledger(data)
    iteration = descent.advance(
        ledger, descent.start(ledger, np.zeros(5)), np.random.default_rng(0)
    )
    assert iteration.projection.required == pytest.approx(0.4 / 8)


def test_tuning_finds_the_best_of_its_grid_and_counts_all_calls(data):
    descent = Descent(3, gradient=LinearInterpolation(m=10), projection=Adagrad(iterations=10))
    ledger = gmean_ledger(data)
    tuned = Tuned(descent, steps=(0.05, 1.0), sigmas=(0.1, 0.5))
    solution = tuned.run(ledger, [np.zeros(5)], np.random.default_rng(0))
    costs = [row["cost"] for row in solution.summary.tried]
    assert len(costs) == 4
    assert solution.cost == min(costs)
    # Per sigma: the shared first estimate (1 + 20), then for each step one look at the start,
    # two estimates and three looks.
    assert solution.calls == ledger.calls == 2 * (21 + 2 * (1 + 2 * 20 + 3))


def test_tuning_one_point_is_the_plain_run(data):
    descent = Descent(3, 0.7, LinearInterpolation(m=10, sigma=0.3), Adagrad(iterations=10))
    both = Tuned(descent, steps=(0.7, 0.1), sigmas=(0.3,))
    tuned = both.run(gmean_ledger(data), [np.zeros(5)], np.random.default_rng(0))
    (child,) = np.random.default_rng(0).spawn(1)
    plain = descent.run(gmean_ledger(data), [np.zeros(5)], child)
    assert tuned.summary.tried[0]["cost"] == plain.cost


def test_tuning_in_parallel_gives_the_same(data):
    descent = Descent(2, gradient=LinearInterpolation(m=10), projection=Adagrad(iterations=10))
    runs = [
        Tuned(descent, steps=(0.1, 1.0), sigmas=(0.1, 0.5), n_jobs=jobs).run(
            gmean_ledger(data), [np.zeros(5)], np.random.default_rng(0)
        )
        for jobs in (1, 2)
    ]
    np.testing.assert_array_equal(runs[0].theta, runs[1].theta)


@pytest.mark.parametrize("stop", [float("nan"), KeyboardInterrupt()], ids=["fails", "stopped"])
# In the first estimates at either sigma, at the first look of a run, and in a later run.
@pytest.mark.parametrize("at", [5, 25, 43, 100])
def test_a_grid_cut_short_keeps_the_best_evaluated_and_counts_over_all_its_runs(data, at, stop):
    seen = []

    @metric(greater_is_better=False)
    def cut_short(y_true, y_pred):
        if len(seen) == at - 1 and isinstance(stop, BaseException):
            raise stop
        seen.append(np.mean(y_true != y_pred))
        return stop if len(seen) == at else seen[-1]

    ledger = Ledger(Problem(data, per_class("hinge"), cut_short, labels=(0, 1)))
    descent = Descent(3, gradient=LinearInterpolation(m=10), projection=Adagrad(iterations=5))
    with pytest.raises((MetricError, KeyboardInterrupt)) as caught:
        Tuned(descent, steps=(0.05, 1.0), sigmas=(0.1, 0.5)).run(
            ledger, [np.zeros(5)], np.random.default_rng(0)
        )
    best = caught.value.best
    assert best.cost <= seen[0]
    assert [row.keys() for row in best.summary.tried] == [{"step", "sigma", "cost"}] * (
        {5: 0, 25: 0, 43: 0, 100: 2}[at]
    )
    if isinstance(caught.value, MetricError):
        assert f"It was call {at} of the run." in str(caught.value)
        assert caught.value.call == best.calls == ledger.calls == at


def test_tuning_shares_a_budget_evenly(data):
    ledger = gmean_ledger(data, max_calls=200)
    descent = Descent(50, gradient=LinearInterpolation(m=5), projection=Adagrad(iterations=5))
    solution = Tuned(descent, steps=(0.1, 1.0), sigmas=(0.1, 0.5)).run(
        ledger, [np.zeros(5)], np.random.default_rng(0)
    )
    assert solution.status is Status.BUDGET
    assert ledger.calls <= 200
