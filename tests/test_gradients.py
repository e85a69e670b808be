"""The estimators against closed forms: exactness, Monte-Carlo rates, smoothed maxima."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from anymetric.gradients import FiniteDifferences, LinearInterpolation, Subspace, TwoStep, fit
from anymetric.gradients.shifts import Shifter
from anymetric.ledger import BudgetSpent, Ledger
from anymetric.metrics import BoundMetric, Metric, Rows, as_metric
from anymetric.models import Linear
from anymetric.problem import Problem
from anymetric.surrogates import Sliced, bind, per_class, per_class_and_group
from conftest import blobs


@dataclass(frozen=True)
class Psi(Metric):
    """A metric that is a known function of the profile on the very rows it is bound to."""

    function: Any
    surrogates: Any
    data: Any
    name = "psi"
    greater_is_better = False
    needs = ()
    decides = False
    ceiling = 0.0

    def _bind(self, rows: Rows) -> BoundMetric:
        return BoundPsi(self, rows)


@dataclass(frozen=True, eq=False)
class BoundPsi(BoundMetric):
    metric: Psi
    rows: Rows

    def _values(self, scores):
        profiles = bind(self.metric.surrogates, self.metric.data).values(scores)
        return np.array([self.metric.function(u) for u in np.atleast_2d(profiles)])


def known(data, psi, surrogates=None):
    surrogates = surrogates or per_class("logistic")
    return Ledger(Problem(data, surrogates, Psi(psi, surrogates, data)))


SLOPES = np.array([0.7, 0.2])
THETA = np.array([0.3, -0.2, 0.5, 0.1, -0.4])


@pytest.mark.parametrize(
    "estimator",
    [
        LinearInterpolation(m=20, sigma=0.3),
        LinearInterpolation(m=20, sigma=0.3, sides="one"),
        LinearInterpolation(m=20, sigma=0.3, sides="one", intercept=False),
        LinearInterpolation(m=20, sigma=0.3, nonnegative=True),
        LinearInterpolation(m=20, sigma=0.3, coordinates=(0, 4)),
        LinearInterpolation(m=20, sigma=0.3, batch=60),
        LinearInterpolation(m=20, sigma=0.3, truncation=10.0),
        Subspace(m=8),
        Subspace(m=8, nonnegative=False),
    ],
    ids=repr,
)
def test_interpolation_is_exact_for_a_linear_psi(estimator, data, rng):
    ledger = known(data, lambda u: SLOPES @ u)
    estimate = estimator.estimate(ledger, ledger.evaluate(THETA), rng)
    np.testing.assert_allclose(estimate.gradient, SLOPES, atol=1e-8)
    assert estimate.r_squared == pytest.approx(1.0)
    assert np.isfinite(estimate.condition)


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared_hinge", "sigmoid", "exponential"])
@pytest.mark.parametrize("build", [per_class, per_class_and_group])
def test_shifts_move_the_profile_by_exactly_what_was_drawn(loss, build, data, rng):
    problem = Problem(data, build(loss), as_metric("error"))
    shifter = Shifter.build(problem, problem.scores(THETA))
    targets = shifter.begun * (1.0 + 0.2 * rng.uniform(-1, 1, (40, len(shifter.begun))))
    shifts, found = shifter.solve(targets)
    assert found.all()
    profiles = problem.profiler.values(shifter.scores(shifts))
    np.testing.assert_allclose(profiles, targets, atol=1e-10)


def test_overlapping_slices_are_shifted_together(data, rng):
    surrogates = [Sliced("logistic"), Sliced("logistic", (("class", 1.0),))]
    problem = Problem(data, surrogates, as_metric("error"))
    shifter = Shifter.build(problem, problem.scores(THETA))
    targets = shifter.begun + 0.02 * rng.standard_normal((10, 2))
    shifts, found = shifter.solve(targets)
    assert found.all()
    np.testing.assert_allclose(problem.profiler.values(shifter.scores(shifts)), targets, atol=1e-10)


def test_draws_below_the_infimum_are_redrawn_and_counted(data, rng):
    ledger = known(data, lambda u: SLOPES @ u, per_class("hinge"))
    here = ledger.evaluate(THETA)
    estimate = FiniteDifferences(m=200, sigma=0.6).estimate(ledger, here, rng)
    assert estimate.lost > 0
    assert estimate.calls == ledger.calls - 1 == 201


def test_a_step_far_too_long_is_refused_with_advice(data, rng):
    ledger = known(data, lambda u: SLOPES @ u, per_class("sigmoid"))
    with pytest.raises(ValueError, match="Lower sigma"):
        FiniteDifferences(m=50, sigma=500.0).estimate(ledger, ledger.evaluate(THETA), rng)


def test_finite_differences_converge_at_the_monte_carlo_rate(data):
    ledger = known(data, lambda u: SLOPES @ u)
    here = ledger.evaluate(THETA)

    def error(m):
        runs = [
            FiniteDifferences(m=m, sigma=0.02).estimate(ledger, here, np.random.default_rng(s))
            for s in range(60)
        ]
        return np.mean([np.sum((run.gradient - SLOPES) ** 2) for run in runs])

    # E|g^ - g|^2 = (K + 1)|g|^2 / m for a linear psi and Gaussian draws.
    closed = (len(SLOPES) + 1) * SLOPES @ SLOPES
    assert error(100) == pytest.approx(closed / 100, rel=0.35)
    assert error(1600) == pytest.approx(closed / 1600, rel=0.35)


def test_finite_differences_in_a_batch_agree_with_the_whole(data):
    ledger = known(data, lambda u: SLOPES @ u)
    here = ledger.evaluate(THETA)
    estimator = FiniteDifferences(m=4000, sigma=0.02, batch=100)
    estimate = estimator.estimate(ledger, here, np.random.default_rng(1))
    np.testing.assert_allclose(estimate.gradient, SLOPES, atol=5 * estimate.errors.max())


def test_unperturbed_surrogates_get_no_slope(data, rng):
    ledger = known(data, lambda u: SLOPES @ u)
    estimator = FiniteDifferences(m=300, sigma=0.02, coordinates=(0,))
    estimate = estimator.estimate(ledger, ledger.evaluate(THETA), rng)
    assert estimate.gradient[1] == 0.0
    assert estimate.gradient[0] == pytest.approx(SLOPES[0], abs=6 * estimate.errors[0])


def test_two_steps_give_the_gradient_of_the_smoothed_maximum(data):
    ledger = known(data, max)
    here = ledger.evaluate(0.2 * THETA)
    sigma = 0.08
    estimator = TwoStep(m=6000, sigma=sigma, sigma2=0.005)
    estimate = estimator.estimate(ledger, here, np.random.default_rng(2))
    # d/du1 E max(u1 + s Z1, u2 + s Z2) = Phi((u1 - u2) / (s sqrt 2)).
    first = stats.norm.cdf((here.profile[0] - here.profile[1]) / (sigma * np.sqrt(2)))
    np.testing.assert_allclose(
        estimate.gradient, [first, 1 - first], atol=5 * estimate.errors.max()
    )
    assert 0.02 < first < 0.98


def test_a_residual_loss_cannot_be_shifted(data, rng):
    ledger = Ledger(Problem(data, "squared", as_metric("error")))
    with pytest.raises(ValueError, match="LinearInterpolation"):
        FiniteDifferences(m=5).estimate(ledger, ledger.evaluate(THETA), rng)


def test_truncation_zeroes_only_what_is_too_long():
    H = np.eye(3)
    assert not fit(H, np.full(3, 10.0), truncation=1.0).gradient.any()
    np.testing.assert_allclose(fit(H, np.ones(3), truncation=1.0).gradient, 1.0)


def test_collinear_surrogates_share_the_slope_and_report_the_condition(data, rng):
    twice = [Sliced("hinge", label="one"), Sliced("hinge", label="two")]
    ledger = known(data, lambda u: u[0], twice)
    estimate = LinearInterpolation(m=50).estimate(ledger, ledger.evaluate(THETA), rng)
    np.testing.assert_allclose(estimate.gradient, [0.5, 0.5], atol=1e-8)
    assert estimate.condition > 1e10


@given(
    st.integers(1, 5),
    st.integers(0, 2**32 - 1),
    st.booleans(),
    st.sampled_from([0.0, 1e-9]),
)
@settings(max_examples=60, deadline=None)
def test_the_fit_recovers_any_linear_map(K, seed, intercept, ridge):
    rng = np.random.default_rng(seed)
    H, slopes = rng.normal(size=(40, K)), rng.normal(size=K)
    estimate = fit(H, H @ slopes + 3.0 * intercept, intercept=intercept, ridge=ridge)
    np.testing.assert_allclose(estimate.gradient, slopes, atol=1e-6)
    clipped = fit(H, H @ slopes, nonnegative=True).gradient
    assert (clipped >= 0).all()


def test_the_error_grows_slowly_with_K():
    """Appendix D.3 at small scale: psi(z) = (prod z)^(1/K), 100 probes."""
    rng = np.random.default_rng(0)
    errors = {}
    for K in (2, 5, 10):
        squared = []
        for _ in range(30):
            z = 0.1 + rng.uniform(0.0, 0.9, K)
            truth = np.prod(z) ** (1 / K) / (K * z)
            moved = np.maximum(z + 0.01 * rng.standard_normal((200, K)), 1e-3)
            costs = np.prod(moved, axis=1) ** (1 / K)
            estimate = fit(moved[:100] - moved[100:], costs[:100] - costs[100:])
            squared.append(np.sum((estimate.gradient - truth) ** 2))
        errors[K] = np.mean(squared)
    assert errors[2] < 1e-3
    assert errors[10] < 1e-2
    # The bound of Lemma 4 grows like K^3 at the least; the measured error grows far less.
    assert errors[10] / errors[2] < (10 / 2) ** 3


def test_subspace_needs_few_probes_where_random_directions_need_many(rng):
    data = blobs(rng, n=500, d=60)
    ledger = known(data, lambda u: float(np.sqrt(u[0] * u[1])), per_class("logistic"))
    here = ledger.evaluate(0.1 * rng.standard_normal(61))
    truth = 0.5 * np.sqrt(here.profile[::-1] / here.profile)
    few = Subspace(m=8, sigma=0.01).estimate(ledger, here, np.random.default_rng(0))
    assert np.linalg.norm(few.gradient - truth) < 1e-3
    assert few.condition < 10


@pytest.mark.parametrize("estimator", [LinearInterpolation, FiniteDifferences, TwoStep, Subspace])
@pytest.mark.parametrize("setting", ["m", "sigma"])
def test_settings_must_be_positive(estimator, setting):
    with pytest.raises(ValueError, match=f"{setting} must be positive"):
        estimator(**{setting: 0})


EVERY = LinearInterpolation, FiniteDifferences, TwoStep, Subspace
WRONG = [
    ({"m": 2.5}, TypeError, "m must be a whole number; got 2.5"),
    ({"m": -3}, ValueError, "m must be positive; got -3"),
    ({"sigma": np.inf}, ValueError, "sigma must be positive and finite; got inf"),
    ({"sigma": np.nan}, ValueError, "sigma must be positive and finite; got nan"),
    ({"sigma": "0.1"}, TypeError, "sigma must be a number; got '0.1'"),
    ({"sigma2": -1.0}, ValueError, "sigma2 must be positive"),
    ({"truncation": -1.0}, ValueError, "truncation must be zero or more"),
    ({"ridge": -1.0}, ValueError, "ridge must be zero or more"),
    ({"batch": -1}, ValueError, "batch must be positive; got -1"),
    ({"batch": 0}, ValueError, "batch must be positive; got 0"),
    ({"batch": 9.5}, TypeError, "batch must be a whole number"),
    ({"coordinates": []}, ValueError, "coordinates must name one place or more"),
    ({"coordinates": [0.5]}, TypeError, "coordinates must be whole numbers"),
]


@pytest.mark.parametrize(
    ("estimator", "setting", "error", "said"),
    [(e, *w) for e in EVERY for w in WRONG if set(w[0]) <= {part.name for part in fields(e)}],
)
def test_a_setting_that_cannot_be_is_refused_at_once(estimator, setting, error, said):
    with pytest.raises(error, match=said):
        estimator(**setting)


@pytest.mark.parametrize("estimator", EVERY[:3])
@pytest.mark.parametrize("place", [99, -1])
def test_coordinates_beyond_what_there_is_are_refused(estimator, place, data, rng):
    ledger = known(data, lambda u: SLOPES @ u)
    with pytest.raises(ValueError, match=rf"coordinates must lie between 0 and .*\[{place}\]"):
        estimator(m=4, coordinates=[0, place]).estimate(ledger, ledger.evaluate(THETA), rng)


@pytest.mark.parametrize("m", [1, 2, 5])
def test_fewer_probes_than_surrogates_are_reported_by_the_condition(m, rng):
    H = rng.normal(size=(m, 5))
    assert np.isinf(fit(H, H @ np.ones(5)).condition) == (m < 5)
    assert np.isfinite(fit(H, H @ np.ones(5), ridge=0.1).condition)


@pytest.mark.parametrize("estimator", [FiniteDifferences(m=30), TwoStep(m=30)], ids=repr)
@pytest.mark.parametrize(
    "surrogates",
    [[per_class("hinge")] * 2, [per_class("logistic"), "hinge"], ["logistic", "hinge"]],
    ids=["twice", "parts and whole", "two losses"],
)
def test_surrogates_that_no_shift_moves_apart_are_refused_before_any_draw(
    estimator, surrogates, data, rng, monkeypatch
):
    ledger = known(data, lambda u: u[0], surrogates)
    monkeypatch.setattr(Shifter, "solve", None)
    with pytest.raises(ValueError, match="use LinearInterpolation or Subspace"):
        estimator.estimate(ledger, ledger.evaluate(THETA), rng)


@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("part", [FiniteDifferences, TwoStep])
def test_a_slice_without_rows_in_the_batch_loses_no_draw(part, overlap, rng):
    data = blobs(rng, n=200)
    rare = Sliced("logistic", rows=lambda rows: np.arange(len(rows)) < 1, label="first")
    surrogates = [*per_class("logistic").expand(data), rare]
    if not overlap:
        apart = Sliced("logistic", rows=lambda rows: np.arange(len(rows)) > 0, label="others")
        surrogates = [rare, apart]
    ledger = known(data, lambda u: u.sum(), surrogates)
    estimate = part(m=40, sigma=0.001, batch=10).estimate(ledger, ledger.evaluate(THETA), rng)
    assert estimate.lost == 0
    assert estimate.gradient[surrogates.index(rare)] == 0.0
    assert np.any(estimate.gradient)


def test_every_estimator_is_repeatable_from_a_seed(data):
    ledger = known(data, lambda u: SLOPES @ u**2)
    here = ledger.evaluate(THETA)
    for part in (LinearInterpolation(m=9), Subspace(m=9), FiniteDifferences(m=9), TwoStep(m=9)):
        twice = [part.estimate(ledger, here, np.random.default_rng(5)).gradient for _ in "ab"]
        np.testing.assert_array_equal(*twice)


def test_probes_of_a_linear_model_are_the_same_along_the_subspace(data, rng):
    from anymetric.gradients.subspace import probe_along

    ledger = known(data, lambda u: SLOPES @ u)
    V, steps = rng.normal(size=(5, 2)), rng.normal(size=(7, 2))
    fast = probe_along(ledger, THETA, V, steps)
    slow = ledger.probe(THETA + steps @ V.T)
    np.testing.assert_allclose(fast.profiles, slow.profiles, rtol=1e-12)
    np.testing.assert_allclose(fast.costs, slow.costs, rtol=1e-12)
    assert isinstance(ledger.problem.model, Linear)


@pytest.mark.parametrize("nonnegative", [True, False])
def test_equal_costs_are_flat_whatever_their_value(nonnegative):
    rng = np.random.default_rng(0)
    for cost in rng.random(50):
        found = fit(
            rng.normal(size=(24, 4)), np.full(24, cost), intercept=True, nonnegative=nonnegative
        )
        assert found.flat
        assert not np.any(found.gradient)


ESTIMATORS = [
    LinearInterpolation(m=20),
    LinearInterpolation(m=20, sides="one"),
    Subspace(m=20),
    FiniteDifferences(m=20, sigma=0.01),
    TwoStep(m=20, sigma=0.01, sigma2=0.01),
]


@pytest.mark.parametrize("budget", [5, 8, 20, 41, 42, 100])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_probes_shrink_to_the_calls_left_and_keep_one_for_the_evaluation(
    estimator, budget, data, rng
):
    free = known(data, lambda u: SLOPES @ u)
    wanted = estimator.estimate(free, free.evaluate(THETA), rng).calls
    ledger = Ledger(free.problem, budget)
    estimate = estimator.estimate(ledger, ledger.evaluate(THETA), rng)
    assert estimate.calls == ledger.calls - 1
    assert np.all(np.isfinite(estimate.gradient))
    assert ledger.left in (1, 2) if wanted > budget - 2 else estimate.calls == wanted


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_a_budget_that_is_enough_changes_no_digit(estimator, data):
    ledgers = [Ledger(known(data, lambda u: SLOPES @ u).problem, most) for most in (None, 42, 500)]
    one, *others = (
        estimator.estimate(ledger, ledger.evaluate(THETA), np.random.default_rng(0)).gradient
        for ledger in ledgers
    )
    for other in others:
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_without_a_pair_of_calls_nothing_is_asked(estimator, data, rng):
    ledger = Ledger(known(data, lambda u: SLOPES @ u).problem, 2)
    here = ledger.evaluate(THETA)
    with pytest.raises(BudgetSpent):
        estimator.estimate(ledger, here, rng)
    assert ledger.calls == 1
