from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import special
from scipy.optimize import minimize_scalar

from anymetric import theory

DESCENT = {"beta": 1.5, "T": 40}
SMOOTHED = {"K": 4, "L": 2.0, "sigma_1": 0.3, "T": 40}
DIFFERENCE = {"K": 3, "L": 2.0, "beta": 1.5, "slack": 0.01, "m": 50}
INTERPOLATION = {
    "K": 2,
    "d": 20,
    "G": 3.0,
    "Phi": 0.5,
    "beta": 1.5,
    "slack": 0.01,
    "delta": 0.1,
}
TWO_STEP = {"K": 3, "L": 2.0, "sigma_1": 0.3, "slack": 0.01, "m": 50}
STATIONARITY = {
    "K": 2,
    "L": 2.0,
    "beta": 1.5,
    "gamma": 0.7,
    "G": 3.0,
    "Phi": 0.5,
    "T": 40,
    "kappa": 0.01,
}

# What is computed, at which inputs, and the power of each input in it.
POWERS = [
    (theory.descent_settings, "eta", DESCENT, {"beta": -2, "T": 0}),
    (theory.descent_settings, "accuracy", DESCENT, {"beta": -2, "T": -1}),
    (theory.smoothed_settings, "beta", SMOOTHED, {"K": 1 / 2, "L": 1, "sigma_1": -1, "T": 0}),
    (theory.smoothed_settings, "eta", SMOOTHED, {"K": -1, "L": -2, "sigma_1": 2, "T": 0}),
    (theory.smoothed_settings, "accuracy", SMOOTHED, {"K": -1, "L": -2, "sigma_1": 2, "T": -1}),
    (
        theory.finite_difference_settings,
        "sigma",
        DIFFERENCE,
        {"K": -1 / 2, "L": 0, "beta": -2, "slack": 1 / 2, "m": 0},
    ),
    (
        theory.interpolation_settings,
        "sigma",
        INTERPOLATION,
        {"K": -3 / 2, "G": 1 / 3, "Phi": -1, "beta": -1 / 3, "slack": 1 / 3, "delta": 0},
    ),
    (
        theory.interpolation_settings,
        "m",
        INTERPOLATION,
        {"G": 4, "Phi": 0, "beta": 2, "slack": -2},
    ),
    (
        theory.interpolation_settings,
        "stated",
        INTERPOLATION,
        {"K": 3, "G": 1 / 3, "Phi": 0, "beta": 2 / 3, "slack": 1 / 3, "delta": 0},
    ),
    (
        theory.two_step_settings,
        "sigma_2",
        TWO_STEP,
        {"K": -3 / 4, "L": -1 / 2, "sigma_1": 1 / 2, "slack": 0, "m": 0},
    ),
]


@pytest.mark.parametrize(("function", "field", "inputs", "powers"), POWERS)
@given(factor=st.integers(2, 9))
def test_settings_scale_with_the_powers_of_the_paper(function, field, inputs, powers, factor):
    before = getattr(function(**inputs), field)
    for name, power in powers.items():
        up = factor if name != "delta" else 1 / factor
        after = getattr(function(**{**inputs, name: inputs[name] * up}), field)
        assert after / before == pytest.approx(factor**power, rel=1e-6), name


def test_settings_have_the_values_worked_out_by_hand():
    assert theory.descent_settings(beta=2.0, T=10) == theory.DescentSettings(2.0, 0.25, 0.025)
    assert theory.smoothed_settings(K=9, L=2.0, sigma_1=3.0, T=5) == theory.DescentSettings(
        2, 0.25, 0.05
    )
    assert theory.truncation_radius(K=9, L=0.5) == 3
    assert theory.truncated_error(error=0.1, K=3, L=2.0, delta=0.01) == pytest.approx(1.3)
    two = theory.two_step_settings(K=4, L=2.0, sigma_1=1.0, slack=0.5, m=8)
    assert two.sigma_2 == pytest.approx(0.25)
    # 2^(7/4) 4^(13/8) / 8 + 2 * 4^(5/2) / 4
    assert two.stated == pytest.approx(2**5 / 8 + 16)
    # 16/8 (4/2 + log 4 + 1) + 16 * 4 * (1/4) / (1/16) + (1/32) * 16 * 7^3
    assert two.error == pytest.approx(6 + 2 * math.log(4) + 256 + 171.5)


def test_the_finite_difference_lemma_has_the_values_worked_out_by_hand():
    # (4/4 * 4 * 8^3 + 16 * 9 * 6) / 4 + 16/16 * 2 * 4 + 1/8 * 16 * 5^3
    error = theory.finite_difference_error(sigma=0.5, K=2, L=3.0, beta=2.0, slack=0.25, m=4)
    assert error == pytest.approx(728 + 8 + 250)
    settings = theory.finite_difference_settings(K=4, L=3.0, beta=2.0, slack=0.25, m=9)
    assert (settings.sigma, settings.stated) == (0.0625, 4 + 16)


def test_the_interpolation_lemma_has_the_values_worked_out_by_hand():
    settings = theory.interpolation_settings(
        K=4, d=1, G=2.0, Phi=0.5, beta=2.0, slack=0.001, delta=0.5
    )
    assert settings.sigma == pytest.approx(0.1 / (0.5 * 8))
    assert settings.m == math.ceil(16 * 4**9 * 4 * math.log(8) * 1e6)
    assert settings.stated == pytest.approx(0.2 * 64)
    assert settings.error == pytest.approx((2 * 0.2 * 64) ** 2)


def test_the_convergence_theorem_has_the_values_worked_out_by_hand():
    bound = theory.stationarity_bound(
        K=2, L=4.0, beta=2.0, gamma=0.5, G=3.0, Phi=1.0, T=16, kappa=0.0625
    )
    assert bound.stated == pytest.approx(2 * 4 * (0.5 * 4 + 1) * (0.5 + 0.25 + 2 * 0.5))
    squared = 14 + 16 + 1.125 + 96 * math.sqrt(0.125 / 16)
    assert bound.error == pytest.approx(2 * 3 * (squared + 8 * math.sqrt(squared)))


@given(d=st.integers(3, 10**6))
def test_the_dimension_enters_by_its_logarithm(d):
    few = theory.interpolation_settings(**{**INTERPOLATION, "d": 1})
    many = theory.interpolation_settings(**{**INTERPOLATION, "d": d})
    assert many.sigma == pytest.approx(few.sigma * math.log(d) ** (-2 / 3))
    assert many.m == pytest.approx(few.m * math.log(d) ** 4, rel=1e-6)
    assert many.stated == pytest.approx(few.stated * math.log(d) ** (4 / 3))
    assert theory.interpolation_settings(**{**INTERPOLATION, "d": 2}) == few


@given(share=st.floats(1e-6, 0.99))
def test_more_certainty_costs_only_a_logarithm_of_probes(share):
    rare = theory.interpolation_settings(**{**INTERPOLATION, "delta": 0.1 * share})
    often = theory.interpolation_settings(**INTERPOLATION)
    assert rare.m / often.m == pytest.approx(math.log(20 / share) / math.log(20), rel=1e-6)


# Where the statements and the ends of their proofs part.


@given(K=st.integers(1, 50), beta=st.floats(0.1, 10), slack=st.floats(1e-6, 1))
def test_with_many_probes_the_finite_difference_error_is_slack_and_bias(K, beta, slack):
    settings = theory.finite_difference_settings(K=K, L=1.0, beta=beta, slack=slack, m=10**15)
    expected = 16 * slack * K**2 * beta**4 + slack * (K + 3) ** 3 / (2 * K)
    assert settings.error == pytest.approx(expected, rel=1e-3, abs=1e-6)


@given(inputs=st.fixed_dictionaries({"K": st.integers(1, 9), "slack": st.floats(1e-6, 1)}))
def test_the_interpolation_lemma_states_for_the_square_what_is_proved_for_the_norm(inputs):
    settings = theory.interpolation_settings(**{**INTERPOLATION, **inputs})
    assert settings.error == pytest.approx((2 * settings.stated) ** 2)


def test_the_two_step_bias_stays_however_many_the_probes_and_small_the_slack():
    settings = theory.two_step_settings(K=3, L=2.0, sigma_1=0.3, slack=1e-9, m=10**12)
    assert settings.error == pytest.approx(2 * 6**3 / (2 * math.sqrt(3) * 0.3))
    assert settings.stated < 1e-9


def test_balanced_widths_minimise_what_probes_cannot_average_out():
    widths = {"K": 3, "L": 2.0, "slack": 1e-3, "m": 10**15}
    best = minimize_scalar(
        lambda s: theory.finite_difference_error(sigma=math.exp(s), beta=1.5, **widths),
        bounds=(-12, 4),
        method="bounded",
    )
    sigma = theory.balanced_sigma(K=3, beta=1.5, slack=1e-3)
    assert sigma == pytest.approx(math.exp(best.x), rel=1e-3)
    best = minimize_scalar(
        lambda s: theory.two_step_error(sigma_1=0.3, sigma_2=math.exp(s), **widths),
        bounds=(-12, 4),
        method="bounded",
    )
    sigma_2 = theory.balanced_sigma_2(K=3, L=2.0, sigma_1=0.3, slack=1e-3)
    assert sigma_2 == pytest.approx(math.exp(best.x), rel=1e-3)


@given(slack=st.floats(1e-8, 1e-2), shrink=st.floats(0.01, 0.5))
def test_with_balanced_widths_the_error_falls_with_the_slack(slack, shrink):
    def errors(slack):
        sigma = theory.balanced_sigma(K=3, beta=1.5, slack=slack)
        sigma_2 = theory.balanced_sigma_2(K=3, L=1.0, sigma_1=0.3, slack=slack)
        few = {"K": 3, "L": 1.0, "slack": slack, "m": 10**15}
        return np.array(
            [
                theory.finite_difference_error(sigma=sigma, beta=1.5, **few),
                theory.two_step_error(sigma_1=0.3, sigma_2=sigma_2, **few),
            ]
        )

    np.testing.assert_allclose(errors(slack * shrink), shrink * errors(slack), rtol=1e-2)


def test_corollary_2_is_theorem_2_for_the_smoothed_metric():
    K, L, sigma_1, T, kappa = 3, 2.0, 0.3, 40, 0.01
    surrogates = {"gamma": 0.7, "G": 3.0, "Phi": 0.5}
    beta = theory.smoothed_settings(K=K, L=L, sigma_1=sigma_1, T=T).beta
    bound = theory.stationarity_bound(K=K, L=L, beta=beta, T=T, kappa=kappa, **surrogates)
    C = K * L * (0.7 * (3.0 + sigma_1**2 / (K * L)) + 0.5**2)
    rate = math.sqrt(K) * L / (sigma_1 * math.sqrt(T)) + kappa**0.5 + L**0.5 * kappa**0.25
    assert bound.stated == pytest.approx(C * rate)


@given(more=st.integers(2, 1000), less=st.floats(0.001, 0.9))
def test_more_iterations_and_better_gradients_only_help(more, less):
    base = theory.stationarity_bound(**STATIONARITY)
    longer = theory.stationarity_bound(**{**STATIONARITY, "T": 40 * more})
    better = theory.stationarity_bound(**{**STATIONARITY, "kappa": 0.01 * less})
    for improved in (longer, better):
        assert improved.error < base.error
        assert improved.stated < base.stated


# The bounds, held against numbers.


def simulated_error(*, K, height, steep, slack, sigma, m, kind, rng, repeats=1500):
    """Mean squared error of Algorithm 2 for psi(u) = height log sum_k exp(steep u_k)."""

    def psi(u):
        return height * special.logsumexp(steep * u, axis=-1)

    def metric(u):
        if kind == "rounded":
            return 2 * slack * np.round(psi(u) / (2 * slack))
        return psi(u) + slack * np.sign((u - here) @ against)

    here = rng.normal(size=K)
    gradient = height * steep * special.softmax(steep * here)
    against = gradient / np.linalg.norm(gradient)
    Z = rng.normal(size=(repeats, m, K))
    rises = (metric(here + sigma * Z) - metric(here)) / sigma  # (repeats, m)
    estimates = np.einsum("rm,rmk->rk", rises, Z) / m
    return float(((estimates - gradient) ** 2).sum(axis=1).mean())


def constants(height, steep):
    """L and beta of psi: its gradient is a softmax, whose Jacobian has norm at most 1/2."""
    return height * steep, theory.smoothness(curvature=height * steep**2 / 2)


@pytest.mark.parametrize("kind", ["rounded", "adversarial"])
@pytest.mark.parametrize("stretch", [0.2, 1.0, 5.0])
@pytest.mark.parametrize(
    ("K", "height", "steep", "slack", "m"),
    [
        (1, 1.0, 1.0, 0.01, 4),
        (2, 1.0, 3.0, 0.001, 64),
        (4, 0.2, 1.0, 0.05, 16),
        (8, 3.0, 0.2, 0.1, 32),
    ],
)
def test_the_finite_difference_bound_holds(K, height, steep, slack, m, stretch, kind):
    L, beta = constants(height, steep)
    settings = theory.finite_difference_settings(K=K, L=L, beta=beta, slack=slack, m=m)
    sigma = stretch * settings.sigma
    rng = np.random.default_rng(K)
    seen = simulated_error(
        K=K, height=height, steep=steep, slack=slack, sigma=sigma, m=m, kind=kind, rng=rng
    )
    inputs = {"K": K, "L": L, "beta": beta, "slack": slack, "m": m}
    assert seen <= theory.finite_difference_error(sigma=sigma, **inputs)
    if stretch == 1:
        assert seen <= settings.error


def test_the_finite_difference_bound_needs_its_slack_term():
    L, beta = constants(1.0, 1.0)
    inputs = {"K": 2, "m": 2000, "sigma": 0.01}
    seen = simulated_error(
        **inputs,
        height=1.0,
        steep=1.0,
        slack=0.05,
        kind="adversarial",
        rng=np.random.default_rng(0),
        repeats=50,
    )
    without = theory.finite_difference_error(**inputs, L=L, beta=beta, slack=1e-9)
    assert without < seen <= theory.finite_difference_error(**inputs, L=L, beta=beta, slack=0.05)


@given(sigma_1=st.floats(0.05, 5), u=st.floats(-3, 3))
def test_a_smoothed_kink_has_at_most_the_stated_curvature_and_bias(sigma_1, u):
    # psi(u) = |u|: its smoothed slope is erf(u / (sqrt(2) sigma_1)), and widths add in squares.
    beta = theory.smoothed_settings(K=1, L=1.0, sigma_1=sigma_1, T=1).beta
    density = math.exp(-((u / sigma_1) ** 2) / 2) / (sigma_1 * math.sqrt(2 * math.pi))
    assert 2 * density <= beta
    settings = theory.two_step_settings(K=1, L=1.0, sigma_1=sigma_1, slack=1e-9, m=10**15)
    wider = math.hypot(sigma_1, settings.sigma_2)
    bias = math.erf(u / (math.sqrt(2) * sigma_1)) - math.erf(u / (math.sqrt(2) * wider))
    assert 2 * bias**2 <= settings.error


vectors = hnp.arrays(float, 4, elements=st.floats(-50, 50))


@given(estimate=vectors, direction=vectors, length=st.floats(0, 1))
def test_cutting_at_the_radius_never_hurts_and_bounds_the_error(estimate, direction, length):
    L = 2.0
    gradient = length * L * direction / max(np.linalg.norm(direction), 1e-9)
    short = np.linalg.norm(estimate) <= theory.truncation_radius(K=4, L=L)
    cut = estimate if short else np.zeros(4)
    error = ((cut - gradient) ** 2).sum()
    assert error <= ((estimate - gradient) ** 2).sum() + 1e-9
    # A bound that fails always, delta -> 1, is left with 10 K L^2.
    assert error <= theory.truncated_error(error=1e-9, K=4, L=L, delta=0.999999) + 1e-3


# Inputs.


@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        (theory.descent_settings, DESCENT),
        (theory.smoothed_settings, SMOOTHED),
        (theory.stationarity_bound, STATIONARITY),
        (theory.finite_difference_settings, DIFFERENCE),
        (theory.finite_difference_error, {**DIFFERENCE, "sigma": 0.1}),
        (theory.interpolation_settings, INTERPOLATION),
        (theory.two_step_settings, TWO_STEP),
        (theory.two_step_error, {**TWO_STEP, "sigma_2": 0.1}),
        (theory.balanced_sigma, {"K": 3, "beta": 1.5, "slack": 0.01}),
        (theory.balanced_sigma_2, {"K": 3, "L": 2.0, "sigma_1": 0.3, "slack": 0.01}),
        (theory.truncation_radius, {"K": 3, "L": 2.0}),
        (theory.truncated_error, {"error": 0.1, "K": 3, "L": 2.0, "delta": 0.1}),
        (theory.smoothness, {"curvature": 1.0}),
    ],
)
def test_good_inputs_are_accepted_and_each_bad_one_is_named(function, inputs):
    assert function(**inputs) is not None
    for name in inputs:
        for bad in (0, -1, math.nan, math.inf):
            with pytest.raises(ValueError, match=rf"^{name} must be positive.*got {bad}"):
                function(**{**inputs, name: bad})
        if name in ("K", "d", "m", "T"):
            with pytest.raises(ValueError, match=rf"^{name} is a count.*got 1\.5"):
                function(**{**inputs, name: 1.5})
    with pytest.raises(TypeError):
        function(*inputs.values())


def test_a_chance_of_failure_is_below_one():
    with pytest.raises(ValueError, match=r"delta is a chance of failure.*got 1\.0"):
        theory.interpolation_settings(**{**INTERPOLATION, "delta": 1.0})


@pytest.mark.parametrize("slack", [1e-155, 1e-170, 1e-300])
def test_a_slack_beyond_all_probes_is_refused_with_what_to_do(slack):
    with pytest.raises(ValueError, match=f"slack={slack!r}: give a larger upper bound"):
        theory.interpolation_settings(**{**INTERPOLATION, "slack": slack})
