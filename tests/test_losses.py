from __future__ import annotations

import dataclasses
import math
import pickle
import warnings

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn._loss import loss as sklearn_loss

from anymetric.losses import (
    Absolute,
    Exponential,
    Hinge,
    Huber,
    Logistic,
    Loss,
    Lp,
    MarginLoss,
    ResidualLoss,
    Sigmoid,
    Squared,
    SquaredHinge,
    Tilted,
    as_loss,
    base,
)

MARGIN = [
    Hinge(),
    SquaredHinge(),
    Logistic(),
    Sigmoid(),
    Sigmoid(scale=5.0),
    Exponential(),
]
RESIDUAL = [
    Squared(),
    Absolute(),
    Huber(),
    Huber(delta=0.3),
    Lp(1.2),
    Lp(2.0),
    Lp(3.5),
]
FORMS = [loss.margin_form() for loss in RESIDUAL]
LOSSES: list[Loss] = [*MARGIN, *RESIDUAL, *FORMS, Tilted(0.8, 0.5)]

# Points away from every kink of every loss (0, 0.3, 0.7, 1, 1.3, 2, -1, -30).
POINTS = np.array([-7.3, -2.6, -0.8, -0.15, 0.15, 0.45, 0.85, 1.15, 1.55, 2.4, 6.1])

reals = st.floats(-40, 40)
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=repr)
both_precisions = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def rise(function, z, step=1e-6):
    return (function(z + step) - function(z - step)) / (2 * step)


# The table, times the properties that its flags and methods promise.


@every_loss
def test_the_slope_is_the_derivative_of_the_value(loss):
    np.testing.assert_allclose(loss.slope(POINTS), rise(loss.value, POINTS), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("loss", [x for x in LOSSES if x.smooth], ids=repr)
def test_the_curvature_is_the_derivative_of_a_continuous_slope(loss):
    expected = rise(loss.slope, POINTS)
    np.testing.assert_allclose(loss.curvature(POINTS), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("loss", [x for x in LOSSES if not x.smooth], ids=repr)
@given(at=reals, elsewhere=reals)
def test_at_a_kinked_loss_the_curvature_is_that_of_a_parabola_above_it(loss, at, elsewhere):
    kink = 1 if isinstance(loss, MarginLoss) else 0
    assume(abs(at - kink) >= base.FLOOR)  # nearer than this the curvature is held
    gap = elsewhere - at
    parabola = loss.value(at) + loss.slope(at) * gap + loss.curvature(at) * gap**2 / 2
    assert loss.value(elsewhere) <= parabola + 1e-9


@every_loss
@given(a=reals, b=reals, share=st.floats(0, 1))
def test_a_convex_loss_lies_below_its_chords(loss, a, b, share):
    if loss.convex:
        chord = share * loss.value(a) + (1 - share) * loss.value(b)
        assert loss.value(share * a + (1 - share) * b) <= chord * (1 + 1e-9) + 1e-9
    else:
        assert loss.value(-2.0) > (loss.value(-4.0) + loss.value(0.0)) / 2


@every_loss
def test_only_a_loss_that_says_so_falls_with_the_margin(loss):
    steps = np.diff(loss.value(np.linspace(-40, 40, 4001)))
    assert loss.decreasing == bool((steps <= 0).all())
    assert loss.decreasing == (loss in MARGIN)


@every_loss
def test_only_a_smooth_loss_has_a_continuous_slope(loss):
    grid = np.linspace(-3, 3, 60001)
    slopes = loss.slope(grid)
    jump = np.abs(np.diff(slopes)).max() / (slopes.max() - slopes.min())
    assert loss.smooth == (jump < 0.1)


@every_loss
@both_precisions
def test_nothing_overflows_or_warns_at_a_million(loss, dtype):
    z = np.array([-1e6, -1e3, -31, 0, 1, 31, 1e3, 1e6], dtype)
    with warnings.catch_warnings(), np.errstate(all="warn", under="ignore"):
        warnings.simplefilter("error")
        for array in (loss.value(z), loss.slope(z), loss.curvature(z)):
            assert np.isfinite(array).all()
            assert array.dtype == dtype


@every_loss
def test_values_fill_the_stated_range(loss):
    values = loss.value(np.array([-1e6, 0.0, 1.0, 1e6]))
    assert values.min() == pytest.approx(loss.infimum, abs=1e-12)
    top = values.max()
    assert top > 1e5 if loss.supremum == math.inf else top == pytest.approx(loss.supremum)


@every_loss
def test_single_precision_says_the_same(loss):
    z = POINTS.astype(np.float32)
    for method in ("value", "slope", "curvature"):
        single, double = getattr(loss, method)(z), getattr(loss, method)(z.astype(float))
        np.testing.assert_allclose(single, double, rtol=2e-5, atol=1e-7)


@every_loss
@pytest.mark.parametrize("method", ["value", "slope", "curvature"])
def test_every_shape_is_worked_elementwise_and_left_alone(loss, method, monkeypatch):
    monkeypatch.setattr(base, "BLOCK", 4)
    act = getattr(loss, method)
    cube = np.linspace(-3, 3, 30).reshape(2, 3, 5)
    expected = np.array([float(act(z)) for z in cube.ravel()]).reshape(cube.shape)
    for z, want in [
        (cube, expected),
        (cube.T, expected.T),
        (cube[:, ::2], expected[:, ::2]),
        (cube[:0], expected[:0]),
    ]:
        before = z.copy()
        np.testing.assert_allclose(act(z), want, rtol=1e-14)
        np.testing.assert_array_equal(z, before)
    assert act(2).dtype == np.float64


# From scores: margins, residuals, and derivatives by the score.


@every_loss
@both_precisions
@pytest.mark.parametrize("block", [7, 10**6])
@pytest.mark.parametrize("columns", [(), (1,), (5,), (9,)])
def test_scores_are_evaluated_row_by_row(loss, dtype, block, columns, monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.choice([-1.0, 1.0], 20)
    scores = rng.normal(size=(20, *columns)).astype(dtype)
    kept = scores.copy()
    labels = y.astype(dtype).reshape(-1, *(1 for _ in columns))
    z = labels * scores if isinstance(loss, MarginLoss) else scores - labels
    sign = labels if isinstance(loss, MarginLoss) else 1
    monkeypatch.setattr(base, "BLOCK", block)
    for got, want in [
        (loss.argument(scores, y), z),
        (loss.of_scores(scores, y), loss.value(z)),
        (loss.score_slope(scores, y), sign * loss.slope(z)),
        (loss.score_curvature(scores, y), loss.curvature(z)),
    ]:
        assert got.dtype == dtype
        np.testing.assert_allclose(got, want, rtol=1e-6)
    np.testing.assert_array_equal(scores, kept)


@every_loss
def test_the_score_slope_is_the_derivative_by_the_score(loss):
    y = np.tile([-1.0, 1.0], 6)[: len(POINTS)]
    scores = np.where(y > 0, POINTS, -POINTS) if isinstance(loss, MarginLoss) else POINTS + y
    expected = rise(lambda f: loss.of_scores(f, y), scores)
    np.testing.assert_allclose(loss.score_slope(scores, y), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("loss", RESIDUAL, ids=repr)
@given(score=reals, y=st.sampled_from([-1.0, 1.0]))
def test_margin_and_residual_forms_agree_on_classes(loss, score, y):
    margin = loss.margin_form()
    assert isinstance(loss, ResidualLoss)
    assert isinstance(margin, MarginLoss)
    for method in ("of_scores", "score_slope", "score_curvature"):
        got, want = getattr(margin, method)([score], [y]), getattr(loss, method)([score], [y])
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("scores_shape", [(4,), (), (3, 2, 2)])
def test_scores_and_targets_of_different_shapes_are_refused(scores_shape):
    with pytest.raises(ValueError, match=r"shape \(n,\) or \(n, m\).*got scores of shape"):
        Hinge().of_scores(np.ones(scores_shape), np.ones(3))


# Oracles.


@pytest.mark.parametrize(
    ("loss", "atom"),
    [
        (Hinge(), lambda z: cp.pos(1 - z)),
        (SquaredHinge(), lambda z: cp.square(cp.pos(1 - z))),
        (Logistic(), lambda z: cp.logistic(-z)),
        (Exponential(), lambda z: cp.exp(-z)),
        (Squared(), cp.square),
        (Absolute(), cp.abs),
        (Huber(delta=0.3), lambda z: cp.huber(z, 0.3)),
        (
            Tilted(0.8, 0.3),
            lambda z: 1.6 * cp.huber(cp.neg(z), 0.3) + 0.4 * cp.huber(cp.pos(z), 0.3),
        ),
        (Lp(3.5), lambda z: cp.power(cp.abs(z), 3.5)),
    ],
    ids=lambda part: repr(part) if isinstance(part, Loss) else "",
)
def test_cvxpy_has_the_same_losses(loss, atom):
    np.testing.assert_allclose(loss.value(POINTS), atom(cp.Constant(POINTS)).value, rtol=1e-12)


def test_scikit_learn_measures_the_same_means():
    rng = np.random.default_rng(1)
    y, scores = rng.choice([-1.0, 1.0], 50), rng.normal(size=50)
    chance = 1 / (1 + np.exp(-scores))
    for name, expected in {
        "hinge": metrics.hinge_loss(y, scores),
        "logistic": metrics.log_loss(y, chance),
        "squared": metrics.mean_squared_error(y, scores),
        "margin_absolute": metrics.mean_absolute_error(y, scores),
    }.items():
        assert as_loss(name).of_scores(scores, y).mean() == pytest.approx(expected)


def test_scikit_learn_has_the_same_logistic_slope_and_curvature():
    scores = np.linspace(-30, 30, 61)
    y = np.where(np.arange(61) % 2, 1.0, -1.0)
    oracle = sklearn_loss.HalfBinomialLoss()
    gradient, hessian = oracle.gradient_hessian(y_true=(y + 1) / 2, raw_prediction=scores)
    loss = Logistic()
    np.testing.assert_allclose(loss.score_slope(scores, y), gradient, rtol=1e-10)
    np.testing.assert_allclose(loss.score_curvature(scores, y), hessian, rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 4e-16), (np.float32, 3e-7)])
def test_the_logistic_loss_is_exact_to_rounding_also_in_the_tail(dtype, rtol):
    z = np.linspace(-80, 80, 3201).astype(dtype)
    expected = np.logaddexp(0, -z.astype(np.longdouble)).astype(float)
    np.testing.assert_allclose(Logistic().value(z), expected, rtol=rtol)


def test_newton_steps_with_the_absolute_curvature_find_the_median():
    y = np.random.default_rng(2).normal(size=101)
    loss, here = Absolute(), np.array(5.0)
    for _ in range(200):
        f = np.full_like(y, here)
        here = here - loss.score_slope(f, y).sum() / loss.score_curvature(f, y).sum()
    assert here == pytest.approx(np.median(y), abs=0.01)


# Identities, as the docstrings state them.


@given(z=st.floats(-29, 29))
def test_margin_identities_hold(z):
    def at(loss, point):
        return float(loss.value(point))

    close = {"rel": 1e-9, "abs": 1e-9}
    assert at(Hinge(), z) - at(Hinge(), 2 - z) == pytest.approx(1 - z, **close)
    assert at(SquaredHinge(), z) == pytest.approx(at(Hinge(), z) ** 2, **close)
    assert at(SquaredHinge(), z) + at(SquaredHinge(), 2 - z) == pytest.approx((1 - z) ** 2, **close)
    assert at(Logistic(), -z) == pytest.approx(at(Logistic(), z) + z, **close)
    assert Logistic().slope(z) == pytest.approx(-at(Sigmoid(), z), **close)
    assert at(Sigmoid(3.0), z) + at(Sigmoid(3.0), -z) == pytest.approx(1, **close)
    assert at(Exponential(), z) * at(Exponential(), -z) == pytest.approx(1, **close)


@given(r=st.floats(-1e6, 1e6))
def test_residual_identities_hold(r):
    assert Lp(2).value(r) == Squared().value(r)
    assert Huber(1e7).value(r) == pytest.approx(float(Squared().value(r)))
    assert Huber(1e-9).value(r) / 2e-9 == pytest.approx(abs(r), abs=1e-9)
    assert r * Lp(1.7).slope(r) == pytest.approx(1.7 * float(Lp(1.7).value(r)))


def test_the_exponential_goes_on_as_its_tangent():
    loss = Exponential()
    assert loss.value(-40.0) == pytest.approx(math.exp(30) * 11)
    assert loss.slope(-1e6) == pytest.approx(-math.exp(30))
    assert loss.curvature([-30.001, -30.0]).tolist() == [0.0, pytest.approx(math.exp(30))]


def test_a_high_power_goes_on_as_its_tangent():
    loss = Lp(100.0)
    assert loss.reach == pytest.approx(10**0.25)
    assert loss.value(loss.reach + 2) == pytest.approx(1e25 * (1 + 200 / 10**0.25))
    assert loss.curvature(2 * loss.reach) == 0


# Parts and the register.


@every_loss
def test_a_loss_is_a_value(loss):
    twin = pickle.loads(pickle.dumps(loss))
    assert twin == loss
    assert hash(twin) == hash(loss)
    assert (twin.convex, twin.smooth, twin.name) == (loss.convex, loss.smooth, loss.name)
    with pytest.raises(dataclasses.FrozenInstanceError):
        loss.scale = 2.0


@every_loss
def test_a_name_gives_the_loss_with_its_defaults_back(loss):
    assert as_loss(loss) is loss
    if not any(name in loss.name for name in ("lp", "tilted")):
        named = as_loss(loss.name)
        assert (type(named), named.name) == (type(loss), loss.name)


@pytest.mark.parametrize("spec", ["hing", "lp", None, 3, Hinge])
def test_an_unknown_loss_is_answered_with_the_known_names(spec):
    with pytest.raises(ValueError, match=r"Lp\(1.5\).*'hinge', 'huber', 'logistic'.*got"):
        as_loss(spec)


@pytest.mark.parametrize(
    ("make", "advice"),
    [
        (lambda: Lp(1.0), r"p > 1.*got 1\.0.*Absolute\(\)"),
        (lambda: Lp(0.5), r"got 0\.5.*Huber"),
        (lambda: Lp(math.nan), "got nan"),
        (lambda: Huber(delta=0.0), r"positive.*got 0\.0.*Absolute"),
        (lambda: Huber(delta=math.inf), "got inf.*Squared"),
        (lambda: Sigmoid(scale=-1.0), r"positive.*got -1\.0"),
    ],
)
def test_bad_settings_are_refused_with_advice(make, advice):
    with pytest.raises(ValueError, match=advice):
        make()


@every_loss
@both_precisions
def test_one_pass_gives_the_value_and_the_slope_of_two(loss, dtype):
    rng = np.random.default_rng(0)
    scores = np.concatenate([POINTS, [0.0, 1.0], 50 * rng.normal(size=base.BLOCK)]).astype(dtype)
    y = np.where(rng.random(len(scores)) < 0.5, 1.0, -1.0).astype(dtype)
    losses, slopes = loss.with_slopes(scores, y)
    near = {"rtol": 1e-5, "atol": 1e-30} if dtype is np.float32 else {"rtol": 1e-13, "atol": 1e-300}
    np.testing.assert_allclose(losses, loss.of_scores(scores, y), **near)
    np.testing.assert_allclose(slopes, loss.score_slope(scores, y), **near)
    assert losses.dtype == slopes.dtype == dtype


@pytest.mark.parametrize("scale", [1.0, 5.0])
def test_far_margins_neither_overflow_nor_vanish_in_one_pass(scale):
    far = np.array([-1e5, -800.0, -700.0, 700.0, 800.0, 1e5, np.inf, -np.inf])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        losses, slopes = Sigmoid(scale).with_slopes(far, np.ones(8))
    np.testing.assert_allclose(losses, far < 0, atol=1e-290)
    np.testing.assert_allclose(slopes, 0.0, atol=1e-290)


def test_a_tilted_loss_is_least_at_a_quantile():
    rng = np.random.default_rng(0)
    y = rng.normal(size=2001)
    places = np.linspace(-3.0, 3.0, 1201)
    means = [Tilted(0.9, 1e-3).value(place - y).mean() for place in places]
    assert places[int(np.argmin(means))] == pytest.approx(np.quantile(y, 0.9), abs=0.01)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1])
def test_a_level_lies_between_zero_and_one(level):
    with pytest.raises(ValueError, match="between 0 and 1; got"):
        Tilted(level)


def test_a_tilted_loss_has_no_form_for_classes():
    with pytest.raises(TypeError, match="loss of numbers"):
        Tilted(0.9).margin_form()
