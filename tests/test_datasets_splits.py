"""Splits, corruptions and the simulated task: properties and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats

from anymetric.datasets import (
    best_linear_gmean,
    corrupt_features,
    flip_labels,
    load_simulated,
    split,
)
from anymetric.datasets.simulated import linear_gmean_cost

SHARES = {"classification": (4 / 9, 2 / 9, 1 / 3), "ranking": (0.6, 0.2, 0.2)}
kinds = st.sampled_from(sorted(SHARES))
seeds = st.integers(0, 2**32 - 1)


@settings(deadline=None)
@given(n=st.integers(0, 400), kind=kinds, seed=seeds)
def test_the_parts_are_disjoint_whole_and_in_proportion(n, kind, seed):
    parts = split(n, kind=kind, random_state=seed)
    assert sorted(np.concatenate(parts).tolist()) == list(range(n))
    for part, share in zip(parts, SHARES[kind], strict=True):
        assert abs(part.size - share * n) <= 1
        assert (np.diff(part) > 0).all()


@settings(deadline=None)
@given(labels=st.lists(st.booleans(), min_size=1, max_size=300), kind=kinds, seed=seeds)
def test_stratified_parts_have_each_class_to_within_two_rows(labels, kind, seed):
    y = np.array(labels)
    parts = split(y.size, kind=kind, random_state=seed, stratify=y)
    assert sorted(np.concatenate(parts).tolist()) == list(range(y.size))
    for part in parts:
        assert abs(y[part].sum() - y.mean() * part.size) < 2


@settings(deadline=None)
@given(n=st.integers(40, 200), seed=seeds)
def test_a_seed_gives_one_split(n, seed):
    first, again = split(n, random_state=seed), split(n, random_state=seed)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first.train, split(n, random_state=seed + 1).train)


def test_every_row_lands_in_training_equally_often():
    y = np.arange(45) < 5
    hits = np.zeros((2, 45))
    for seed in range(600):
        hits[0, split(45, random_state=seed).train] += 1
        hits[1, split(45, random_state=seed, stratify=y).train] += 1
    # 600 draws with chance 4/9: five standard errors are 0.10
    assert np.abs(hits / 600 - 4 / 9).max() < 0.1


def test_a_dataset_is_stratified_by_its_labels():
    data = load_simulated(900, random_state=0)
    parts = split(data, random_state=0, stratify=True)
    assert [part.size for part in parts] == [400, 200, 300]
    assert [int(data.y[part].sum()) for part in parts] == pytest.approx([40, 20, 30], abs=1)


def test_splits_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="needs a Dataset"):
        split(10, random_state=0, stratify=True)
    with pytest.raises(ValueError, match="each of 10 rows"):
        split(10, random_state=0, stratify=np.zeros(9))
    with pytest.raises(ValueError, match="kind must be one of"):
        split(10, kind="regression", random_state=0)


@settings(deadline=None)
@given(n=st.integers(5, 60), share=st.floats(0, 1), seed=seeds)
def test_noise_touches_only_the_share_of_the_group(n, share, seed):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.standard_normal(n), rng.integers(0, 2, n)]).astype(float)
    before = X.copy()
    group0 = rng.random(n) < 0.5
    noisy = corrupt_features(X, group0, share, rng)
    touched = (noisy[:, 0] != X[:, 0]).nonzero()[0]
    assert touched.size == round(share * group0.sum())
    assert group0[touched].all()
    assert set(np.unique(noisy[:, 1])) <= {0.0, 1.0}
    untouched = np.setdiff1d(np.arange(n), touched)
    np.testing.assert_array_equal(noisy[untouched], X[untouched])
    np.testing.assert_array_equal(X, before)


def test_noise_has_the_features_own_spread_and_flips_nine_in_ten():
    rng = np.random.default_rng(0)
    n = 20000
    X = np.column_stack([3.0 * rng.standard_normal(n) + 7, rng.random(n), rng.integers(0, 2, n)])
    noisy = corrupt_features(X, np.ones(n, dtype=bool), 1.0, rng)
    added = noisy - X
    assert added[:, 0].std() == pytest.approx(X[:, 0].std(), rel=0.03)
    assert added[:, 1].std() == pytest.approx(X[:, 1].std(), rel=0.03)
    assert stats.kstest(added[:, 0] / X[:, 0].std(), "norm").pvalue > 0.001
    assert (added[:, 2] != 0).mean() == pytest.approx(0.9, abs=0.01)


def test_noise_is_the_same_on_sparse_features():
    X = (np.random.default_rng(1).random((40, 6)) < 0.2).astype(float)
    group0 = np.arange(40) < 25
    dense, kept = (
        corrupt_features(values, group0, 0.6, np.random.default_rng(2))
        for values in (X, sparse.csr_array(X))
    )
    assert isinstance(kept, sparse.csr_array)
    np.testing.assert_array_equal(kept.toarray(), dense)


@pytest.mark.parametrize("classes", [(0, 1), (-1.0, 1.0)])
def test_flips_turn_the_asked_share_of_positives_only(classes):
    y = np.random.default_rng(0).choice(classes, size=20000)
    noisy = flip_labels(y, 0.3, np.random.default_rng(1))
    assert noisy.dtype == y.dtype
    assert set(np.unique(noisy)) == set(classes)
    assert (noisy[y == classes[0]] == classes[0]).all()
    assert (noisy[y == classes[1]] == classes[0]).mean() == pytest.approx(0.3, abs=0.02)
    np.testing.assert_array_equal(flip_labels(y, 0.0, np.random.default_rng(1)), y)


def test_corruptions_out_of_range_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"fraction must be between 0 and 1; got 1\.5"):
        corrupt_features(np.eye(2), np.ones(2, dtype=bool), 1.5, rng)
    with pytest.raises(ValueError, match="fraction must be between 0 and 1"):
        flip_labels(np.array([0, 1]), -0.1, rng)
    with pytest.raises(ValueError, match="two classes"):
        flip_labels(np.array([1, 1]), 0.1, rng)


def test_the_simulated_rows_have_the_paper_s_moments():
    data = load_simulated(200000, random_state=0)
    assert data.y.sum() == 20000
    for component, centre, variance in [(0, 0, 0.2), (1, -1, 0.1), (2, 1, 0.1)]:
        cloud = data.X[data.side["component"] == component]
        np.testing.assert_allclose(cloud.mean(axis=0), centre, atol=0.015)
        np.testing.assert_allclose(np.cov(cloud.T), variance * np.eye(2), atol=0.01)
    assert (data.side["component"] == 1).mean() == pytest.approx(0.45, abs=0.005)


def test_the_simulated_rows_are_seeded():
    first, again, other = (load_simulated(50, random_state=s) for s in (3, 3, 4))
    np.testing.assert_array_equal(first.X, again.X)
    assert (first.X != other.X).any()


def test_the_best_line_costs_0_3151_and_no_grid_finds_less():
    best = best_linear_gmean()
    assert best.cost == pytest.approx(0.3151, abs=5e-5)
    grid = [
        linear_gmean_cost(a, t)
        for a in np.linspace(0, 2 * np.pi, 73)
        for t in np.linspace(-3, 3, 61)
    ]
    assert min(grid) >= best.cost - 1e-9
    np.testing.assert_allclose(np.abs(best.direction), np.sqrt(0.5), atol=1e-3)


def test_the_best_line_costs_so_on_a_large_draw_and_so_does_its_mirror():
    best = best_linear_gmean()
    data = load_simulated(400000, random_state=0)
    for sign in (1.0, -1.0):
        chosen = sign * (data.X @ np.array(best.direction)) > best.threshold
        rates = chosen[data.y == 1].mean() * (~chosen[data.y == 0]).mean()
        assert 1 - np.sqrt(rates) == pytest.approx(best.cost, abs=0.005)
