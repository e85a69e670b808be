"""Engines against the plain sums: merged, sparse, in blocks, and in single precision."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from anymetric.data import Data
from anymetric.engines import Engine, engine, lighter, merge, merging, tables
from anymetric.losses import as_loss
from anymetric.metrics import as_metric
from anymetric.models import Linear, products
from anymetric.models.products import row_block
from anymetric.problem import Problem
from anymetric.surrogates import (
    AveragePrecisionAtK,
    PrecisionAtRecall,
    Sliced,
    bind,
    per_class,
    per_class_and_group,
)

OVERLAPPING = [
    per_class("sigmoid"),
    "logistic",
    Sliced("sigmoid", rows=lambda data: data.X[:, 0] > 0),
]
SPECS = {
    "per class": per_class("hinge"),
    "per class and group": per_class_and_group("sigmoid"),
    "overlapping, two losses": OVERLAPPING,
}


def rows_of(rng, n=300, d=4, values=2, weights=True):
    """Rows with few values: many of them equal."""
    X = rng.integers(0, values, size=(n, d)).astype(float)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:4] = [1.0, 1.0, -1.0, -1.0]
    groups = rng.integers(0, 2, size=n)
    groups[:4] = [0, 1, 0, 1]
    X[:4, 0] = 1.0
    return Data(X, y, rng.random(n) + 0.01 if weights else None, {"groups": groups})


def plain_profile(data, surrogates, theta):
    """Each surrogate by its own weighted mean, row by row."""
    margins = data.X @ theta[:-1] + theta[-1]
    means = []
    for one in surrogates:
        losses = as_loss(one.loss).of_scores(margins, data.y)
        weights = one.chosen(data) * data.weights
        means.append(float(weights @ losses / weights.sum()))
    return np.array(means)


@pytest.fixture
def eager(monkeypatch):
    """Small tables are merged and raced too."""
    monkeypatch.setattr(engine, "SMALL", 0)
    monkeypatch.setattr(tables, "SMALL", 0)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
@pytest.mark.usefixtures("eager")
def test_merged_rows_have_the_profile_and_the_jacobian_of_all_rows(spec, form, rng):
    data = rows_of(rng)
    profiler = bind(spec, data)
    merged = Engine.build(Linear(), form(data.X), profiler)
    whole = Engine(Linear(), data.X, profiler)
    assert merged.X.shape[0] < 0.5 * len(data)
    theta = rng.normal(size=5)
    expected = plain_profile(data, profiler.surrogates, theta)
    np.testing.assert_allclose(merged.profile(theta), expected, rtol=1e-12)
    here, there = merged.at(theta), whole.at(theta)
    np.testing.assert_allclose(here.profile, expected, rtol=1e-12)
    np.testing.assert_allclose(here.jacobian(), there.jacobian(), rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(here.jacobian(), differences(whole, theta), rtol=1e-4, atol=1e-6)
    weights = rng.random(len(expected))
    np.testing.assert_allclose(here.gradient(weights), weights @ here.jacobian(), atol=1e-13)


def differences(whole, theta, step=1e-6):
    """The Jacobian by central differences."""
    moves = step * np.eye(len(theta))
    ahead, behind = whole.profile(theta + moves), whole.profile(theta - moves)
    return ((ahead - behind) / (2 * step)).T


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_merging_is_exact_for_any_duplicates_weights_and_slices(given_data):
    n = given_data.draw(st.integers(4, 40))
    seed = given_data.draw(st.integers(0, 10**6))
    values = given_data.draw(st.integers(1, 4))
    rng = np.random.default_rng(seed)
    weights = given_data.draw(
        st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n, max_size=n)
    )
    data = rows_of(rng, n=n, d=3, values=values)
    data = Data(data.X, data.y, np.array(weights) + 1e-3 * (np.arange(n) < 4), data.side)
    masks = [rng.random(n) < 0.7 for _ in range(3)]
    spec = [Sliced("logistic", rows=lambda _, m=m: m | (np.arange(n) < 4)) for m in masks]
    profiler = bind([per_class("hinge"), *spec], data)
    theta = rng.normal(size=4)
    merged = built(Linear(), data.X, profiler)
    np.testing.assert_allclose(
        merged.profile(theta), plain_profile(data, profiler.surrogates, theta), rtol=1e-11
    )
    thetas = rng.normal(size=(3, 4))
    each = [plain_profile(data, profiler.surrogates, t) for t in thetas]
    np.testing.assert_allclose(merged.profile(thetas), each, rtol=1e-11)


def built(model, X, profiler):
    small = engine.SMALL
    engine.SMALL = 0
    try:
        return Engine.build(model, X, profiler)
    finally:
        engine.SMALL = small


@given(st.integers(0, 10**6), st.integers(1, 60), st.sampled_from([np.float32, np.float64]))
@settings(max_examples=60, deadline=None)
def test_a_row_is_merged_only_with_its_equals_and_nothing_is_lost(seed, n, kind):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(n, 3)).astype(kind)
    keys = rng.integers(0, 2, size=(n, 1)).astype(np.uint64)
    for table in (X, sparse.csr_array(X)):
        found = merge(table, keys)
        distinct = len(np.unique(np.column_stack([X, keys]), axis=0))
        assert (found is None) == (distinct > merging.PAYS * n)
        if found is not None:
            assert len(found.kept) == distinct
            np.testing.assert_array_equal(X[found.kept[found.group]], X)
            np.testing.assert_array_equal(keys[found.kept[found.group]], keys)
            assert np.all(np.diff(keys[found.kept, 0].astype(int)) >= 0)


def test_a_hash_that_collides_merges_nothing_that_differs(rng, monkeypatch):
    X = rng.integers(0, 2, size=(200, 3)).astype(float)
    keys = np.zeros((200, 1), dtype=np.uint64)
    for name in ("dense_hashed", "hashed"):
        monkeypatch.setattr(merging, name, lambda words: np.zeros(len(words), dtype=np.uint64))
    found = merge(X, keys)
    np.testing.assert_array_equal(X[found.kept[found.group]], X)


def test_a_table_of_distinct_floats_is_not_hashed_in_full(rng, monkeypatch):
    X = rng.normal(size=(1000, 30))
    monkeypatch.setattr(merging, "dense_hashed", lambda X: pytest.fail("hashed in full"))
    assert merge(X, np.zeros((1000, 1), dtype=np.uint64)) is None


def test_small_tables_stay_as_they_are(rng):
    data = rows_of(rng)
    problem = Problem(data, per_class("hinge"), as_metric("error"))
    assert problem.tables[0] is data.X
    assert problem.engine.X is data.X
    assert problem.shared


def test_a_large_table_of_few_ones_becomes_sparse_and_a_full_one_stays_dense(rng):
    ones = np.zeros((20_000, 200))
    ones[np.arange(20_000), rng.integers(0, 200, 20_000)] = 1.0
    assert sparse.issparse(lighter(ones))
    full = rng.normal(size=(2000, 100))
    assert lighter(full) is full
    stored = sparse.csr_array(full)
    np.testing.assert_array_equal(tables._as_dense(stored), full)


def test_the_same_table_gets_the_same_form_without_a_second_race(rng, monkeypatch):
    X = (rng.random((3000, 101)) < 0.05).astype(float)
    first = lighter(X)
    monkeypatch.setattr(tables, "race", lambda *tables: pytest.fail("raced again"))
    assert type(lighter(X.copy())) is type(first)


@pytest.mark.parametrize("won", [True, False])
def test_another_form_must_win_clearly(won, rng, monkeypatch):
    X = (rng.random((3000, 103 + won)) < 0.05).astype(float)
    monkeypatch.setattr(tables, "race", lambda *t: [1.0, tables.CLEARLY - 0.01 if won else 0.9])
    assert sparse.issparse(lighter(X)) == won
    assert sparse.issparse(lighter(sparse.csr_array(X))) != won


def test_a_block_of_rows_holds_those_rows(rng):
    X = sparse.csr_array((rng.random((50, 7)) < 0.3).astype(float))
    np.testing.assert_array_equal(row_block(X, 10, 30).toarray(), X.toarray()[10:30])
    np.testing.assert_array_equal(row_block(X.toarray(), 10, 30), X.toarray()[10:30])


@pytest.mark.parametrize("spec", [per_class("logistic"), PrecisionAtRecall(0.5), OVERLAPPING])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_many_profiles_in_blocks_are_those_of_each_alone(spec, form, rng, monkeypatch):
    monkeypatch.setattr(engine, "BLOCK", 512)
    monkeypatch.setattr(engine, "WIDTH", 5)
    monkeypatch.setattr(engine, "HELD", 1500)
    data = rows_of(rng)
    built = Engine.build(Linear(), form(data.X), bind(spec, data))
    thetas = rng.normal(size=(13, 5))
    each = [built.profile(theta) for theta in thetas]
    np.testing.assert_allclose(built.profile(thetas), each, rtol=1e-12)
    mix = rng.normal(size=(13, 4))
    mixed = built.profile(mix.T @ thetas)
    np.testing.assert_allclose(built.along(thetas, mix), mixed, rtol=1e-10)


@pytest.mark.parametrize(
    "spec",
    [
        PrecisionAtRecall(0.5),
        AveragePrecisionAtK(),
        [PrecisionAtRecall(0.3), "sigmoid"],
        OVERLAPPING,
    ],
    ids=["recall", "top", "mixed", "overlapping"],
)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_one_pass_gives_the_values_and_the_slopes_of_two(spec, kind, rng):
    data = rows_of(rng, weights=False)
    profiler = bind(spec, data)
    scores = rng.normal(size=len(data)).astype(kind)
    values, slopes = profiler.local(scores)
    near = {"rtol": 1e-5, "atol": 1e-8} if kind is np.float32 else {"rtol": 1e-12, "atol": 1e-15}
    np.testing.assert_allclose(values, profiler.values(scores), **near)
    np.testing.assert_allclose(slopes.matrix().toarray(), profiler.slopes(scores).toarray(), **near)
    weights = rng.random(len(profiler))
    np.testing.assert_allclose(
        slopes.mixed(weights), weights @ profiler.slopes(scores).toarray(), **near
    )


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_products_of_long_tables_are_those_of_numpy(kind, form, rng, monkeypatch):
    monkeypatch.setattr(products, "IN_CACHE", 0)
    monkeypatch.setattr(products, "LONG", 0)
    monkeypatch.setattr(products, "SUMMED", 7)
    X = rng.normal(size=(50, 6)).astype(kind)
    theta, slopes = rng.normal(size=6).astype(kind), rng.normal(size=50).astype(kind)
    K = sparse.csc_array(slopes * (rng.random((3, 50)) < 0.4)).astype(kind)
    near = {"rtol": 1e-4, "atol": 1e-5} if kind is np.float32 else {"rtol": 1e-12, "atol": 1e-13}
    np.testing.assert_allclose(products.times(form(X), theta), X @ theta, **near)
    np.testing.assert_allclose(products.row_sums(form(X), slopes), slopes @ X, **near)
    for many in (K, sparse.csr_array(K), K.toarray()):
        np.testing.assert_allclose(products.row_sums(form(X), many), K.toarray() @ X, **near)
        np.testing.assert_allclose(products.totals(many), K.toarray().sum(axis=1), **near)


def test_a_table_that_memory_must_stream_is_known_by_its_size(rng):
    large = np.empty((60_000, 100), dtype=np.float32)
    assert products.streamed(large)
    assert not products.streamed(np.asfortranarray(large))
    assert not products.streamed(large[:, :50])
    assert not products.streamed(large[:1000])


def test_single_precision_is_summed_in_double(rng):
    n = 200_000
    X = (1.0 + rng.random((n, 1))).astype(np.float32)
    slopes = rng.random(n).astype(np.float32)
    exact = float(slopes.astype(float) @ X[:, 0].astype(float))
    found = Linear().pullback(X, np.zeros(2), slopes)
    assert found[0] == pytest.approx(exact, rel=1e-6)
    assert found[1] == pytest.approx(float(slopes.astype(float).sum()), rel=1e-12)
    data = Data(X, np.where(rng.random(n) < 0.5, 1.0, -1.0))
    problem = Problem(data, per_class("sigmoid"), as_metric("error"))
    double = Problem(Data(X.astype(float), data.y), per_class("sigmoid"), as_metric("error"))
    theta = np.array([0.3, -0.2])
    assert problem.scores(theta).dtype == np.float32
    np.testing.assert_allclose(problem.profile(theta), double.profile(theta), rtol=1e-6)
    np.testing.assert_allclose(problem.linearise(theta)[1], double.linearise(theta)[1], rtol=1e-5)


def test_the_metric_and_the_training_scores_still_see_every_row(eager, rng):
    data = rows_of(rng)
    problem = Problem(data, per_class("sigmoid"), as_metric("error"))
    theta = rng.normal(size=5)
    assert problem.engine.X.shape[0] < len(data)
    assert not problem.shared
    scores = data.X @ theta[:-1] + theta[-1]
    np.testing.assert_allclose(problem.scores(theta), scores, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(problem.validation_scores(theta), scores, rtol=1e-12, atol=1e-14)
    wrong = (np.where(scores > 0, 1.0, -1.0) != data.y) @ data.weights / data.weights.sum()
    assert float(problem.cost(theta)) == pytest.approx(wrong)
