"""Surrogates and the linear model: values against plain loops, slopes against differences."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from anymetric.data import Data
from anymetric.losses import as_loss
from anymetric.metrics import as_metric
from anymetric.models import Linear
from anymetric.problem import Problem
from anymetric.surrogates import (
    AveragePrecisionAtK,
    PrecisionAtRecall,
    Sliced,
    Slices,
    bind,
    lp_family,
    per_class,
    per_class_and_group,
    per_class_group_and_source,
    per_group,
    per_source,
)
from conftest import blobs


def sourced(rng, n=200):
    data = blobs(rng, n=n)
    side = {**data.side, "source": rng.choice(["noisy", "clean"], n)}
    return Data(data.X, data.y, rng.uniform(0.5, 2.0, n), side)


@pytest.mark.parametrize(
    ("build", "count"),
    [
        (per_class, 2),
        (per_group, 2),
        (per_source, 2),
        (per_class_and_group, 4),
        (per_class_group_and_source, 8),
    ],
)
@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared"])
def test_slices_are_weighted_means_over_their_rows(build, count, loss, rng):
    data = sourced(rng)
    profiler = bind(build(loss), data)
    scores = rng.normal(size=(len(data), 3))
    profiles = profiler.values(scores)
    assert profiles.shape == (3, count)
    losses = as_loss(loss).of_scores(scores, data.y)
    for k, surrogate in enumerate(profiler.surrogates):
        rows = surrogate.mask(data)
        plain = np.average(losses[rows], axis=0, weights=data.weights[rows])
        np.testing.assert_allclose(profiles[:, k], plain)


EVERY = [
    per_class("logistic"),
    per_class_and_group("squared_hinge"),
    lp_family(),
    [PrecisionAtRecall(0.25), PrecisionAtRecall(0.75)],
    [AveragePrecisionAtK(5)],
    [per_class("logistic"), "squared", PrecisionAtRecall(0.5), Sliced("logistic", label="again")],
]


@pytest.mark.parametrize("spec", EVERY, ids=lambda s: str(s)[:60])
def test_slopes_are_the_derivatives_of_the_values(spec, rng):
    data = blobs(rng, n=60)
    profiler = bind(spec, data)
    scores = rng.normal(size=60)
    slopes = profiler.slopes(scores).toarray()
    h = 1e-6
    for i in rng.choice(60, 10, replace=False):
        step = np.zeros(60)
        step[i] = h
        numeric = (profiler.values(scores + step) - profiler.values(scores - step)) / (2 * h)
        np.testing.assert_allclose(slopes[:, i], numeric, atol=1e-7)


@pytest.mark.parametrize("spec", EVERY, ids=lambda s: str(s)[:60])
def test_many_score_vectors_at_once_equal_one_at_a_time(spec, rng):
    data = blobs(rng, n=60)
    profiler = bind(spec, data)
    scores = rng.normal(size=(60, 5))
    each = np.stack([profiler.values(column) for column in scores.T])
    np.testing.assert_allclose(profiler.values(scores), each, rtol=1e-12)


@pytest.mark.parametrize(
    "spec", [per_class("hinge"), per_class_and_group("logistic"), PrecisionAtRecall(0.5)]
)
def test_an_integer_weight_is_that_many_rows(spec, rng):
    data = blobs(rng, n=40)
    counts = rng.integers(1, 4, 40)
    heavy = Data(data.X, data.y, counts.astype(float), data.side)
    rows = np.repeat(np.arange(40), counts)
    scores = rng.normal(size=40)
    one = bind(spec, heavy).values(scores)
    np.testing.assert_allclose(one, bind(spec, data.take(rows)).values(scores[rows]), rtol=1e-10)


def test_an_empty_slice_names_itself_and_the_values_seen(data):
    with pytest.raises(ValueError, match=r"groups=z.*groups seen: a, b"):
        bind(Sliced("hinge", (("groups", "z"),)), data)


@pytest.mark.parametrize(
    ("groups", "shown"),
    [([0.0, 1.0], ["0.0", "1.0"]), ([0.5, -2.0], ["-2.0", "0.5"]), ([0, 1], ["0", "1"])],
)
def test_groups_that_are_numbers_are_shown_as_given(groups, shown):
    data = Data(np.zeros((2, 1)), np.array([1.0, -1.0]), side={"groups": np.array(groups)})
    assert bind(per_group("hinge"), data).names == tuple(f"hinge[groups={g}]" for g in shown)
    with pytest.raises(ValueError, match=rf"\[groups=9.0\].*seen: {', '.join(shown)}\."):
        bind(Sliced("hinge", (("groups", 9.0),)), data)


@pytest.mark.parametrize("rows", [np.ones(7, dtype=bool), np.arange(3), np.ones((300, 1)), True])
def test_a_mask_of_another_length_is_refused(rows, data):
    shape = str(np.shape(rows)).replace("(", r"\(").replace(")", r"\)")
    with pytest.raises(ValueError, match=f"'mine'.*each of the 300 rows; got .* shape {shape}"):
        bind(Sliced("hinge", rows=lambda data: rows, label="mine"), data)


def test_a_missing_column_is_named_with_those_given(data):
    with pytest.raises(ValueError, match=r"need the column.*source.*amount, groups"):
        bind(per_source("hinge"), data)


def test_no_surrogates_at_all_is_an_error(data):
    with pytest.raises(ValueError, match="At least one"):
        bind([], data)


@given(st.integers(0, 10**6), st.integers(1, 3))
@settings(max_examples=50, deadline=None)
def test_average_precision_at_k_is_the_maximum_over_all_label_vectors(seed, k):
    rng = np.random.default_rng(seed)
    y = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0])
    s = rng.normal(size=7)
    positive = set(range(3))
    values = []
    for chosen in combinations(range(7), k):
        true = len(positive & set(chosen))
        false = sum(s[i] for i in chosen if i not in positive)
        missed = [i for i in positive if i not in chosen]
        share = (k - true) / len(missed) if missed else 0.0
        values.append((k - true) + false - share * sum(s[i] for i in missed))
    data = Data(np.zeros((7, 1)), y)
    assert AveragePrecisionAtK(k).bind(data).values(s)[0] == pytest.approx(max(values) / k)


def test_a_perfect_ranking_with_a_margin_has_no_quantile_loss(rng):
    y = np.where(np.arange(100) < 20, 1.0, -1.0)
    data = Data(np.zeros((100, 1)), y)
    assert PrecisionAtRecall(0.5).bind(data).values(3.0 * y)[0] == 0.0
    assert AveragePrecisionAtK().bind(data).values(3.0 * y)[0] == 0.0


@pytest.mark.parametrize("bad", [0.0, 1.5])
def test_a_recall_outside_zero_and_one_is_refused(bad):
    with pytest.raises(ValueError, match="recall"):
        PrecisionAtRecall(bad)


def test_ranking_surrogates_need_two_classes():
    with pytest.raises(ValueError, match="0 negatives"):
        bind(PrecisionAtRecall(0.5), Data(np.zeros((3, 1)), np.ones(3)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("standardised", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_scores_and_pullback_equal_the_dense_formula(dtype, container, standardised, intercept):
    rng = np.random.default_rng(0)
    dense = (rng.normal(size=(50, 3)) * [1.0, 5.0, 0.1] + [0.0, 2.0, 1.0]).astype(dtype)
    X = container(dense)
    model = Linear.standardised(X, intercept=intercept) if standardised else Linear(intercept)
    features = dense.astype(float)
    if standardised:
        features = features - features.mean(axis=0) if intercept else features
        features = features / dense.astype(float).std(axis=0)
    if intercept:
        features = np.column_stack([features, np.ones(50)])
    thetas = rng.normal(size=(4, model.size(X)))
    tolerance = 1e-4 if dtype == np.float32 else 1e-10
    scores = model.scores(X, thetas)
    assert scores.dtype == dtype
    np.testing.assert_allclose(scores, features @ thetas.T, atol=tolerance)
    slopes = rng.normal(size=(2, 50))
    np.testing.assert_allclose(
        model.pullback(X, thetas[0], sparse.csr_array(slopes)),
        slopes @ features,
        atol=50 * tolerance,
    )
    curvature = rng.random(50)
    np.testing.assert_allclose(
        model.hessian(X, curvature),
        features.T @ (curvature[:, None] * features),
        atol=500 * tolerance,
    )
    weights, offset = model.raw(thetas[0])
    np.testing.assert_allclose(model.parameters(weights, float(offset)), thetas[0], atol=1e-9)


def test_a_column_of_any_scale_is_standardised():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3)) * [1e-6, 1.0, 1e6] + [0.0, 1e8, 0.0]
    model = Linear.standardised(X)
    scores = model.scores(X, np.vstack([np.eye(3, 4)]))
    np.testing.assert_allclose(scores.std(axis=0), 1.0, rtol=1e-6)
    np.testing.assert_allclose(scores.mean(axis=0), 0.0, atol=1e-6)


def test_a_constant_column_does_not_divide_by_zero():
    model = Linear.standardised(np.full((5, 1), 3.7))
    assert np.isfinite(model.scores(np.full((5, 1), 3.7), np.ones(2))).all()


def test_the_jacobian_is_the_derivative_of_the_profile(data, rng):
    problem = Problem(data, per_class_and_group("logistic"), as_metric("error"))
    theta = rng.normal(size=5)
    profile, jacobian = problem.linearise(theta)
    np.testing.assert_array_equal(profile, problem.profile(theta))
    for i in range(5):
        step = 1e-6 * np.eye(5)[i]
        numeric = (problem.profile(theta + step) - problem.profile(theta - step)) / 2e-6
        np.testing.assert_allclose(jacobian[:, i], numeric, atol=1e-8)


def test_blocks_of_parameters_do_not_change_the_answer(data, rng, monkeypatch):
    problem = Problem(data, per_class("hinge"), as_metric("error"))
    thetas = rng.normal(size=(9, 5))
    whole = problem.profile(thetas), problem.cost(thetas)
    monkeypatch.setattr("anymetric.problem.BLOCK", 2 * len(data))
    np.testing.assert_allclose(problem.profile(thetas), whole[0], rtol=1e-12)
    np.testing.assert_array_equal(problem.cost(thetas), whole[1])


def test_slices_by_any_column(rng):
    data = blobs(rng, n=100)
    side = {**data.side, "region": rng.choice([1, 2, 3], 100)}
    profiler = bind(Slices("hinge", ("region",)), Data(data.X, data.y, None, side))
    assert profiler.names == ("hinge[region=1]", "hinge[region=2]", "hinge[region=3]")
