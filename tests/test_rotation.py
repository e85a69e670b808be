"""Rotation: the solution in the span of the rows is the solution in the full space."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from anymetric.data import Data
from anymetric.losses import as_loss
from anymetric.models import Linear
from anymetric.models.rotation import Rotation, gram
from anymetric.solvers import WeightedLoss, minimise


def wide(n=60, d=300, seed=0, kind="dense"):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 10.0, d) + rng.normal(size=d)
    if kind == "float32":
        X = X.astype(np.float32)
    if kind == "sparse":
        X = sparse.csr_array(np.where(rng.random(X.shape) < 0.8, 0.0, X))
    if kind == "remote":
        X = np.where(rng.random(X.shape) < 0.8, 0.0, X)
        X[:, 7] = 1e9 + rng.normal(size=n)
        X = sparse.csr_array(X)
    first = np.ravel(X[:, [0]].toarray() if sparse.issparse(X) else X[:, 0])
    y = np.where(first + 0.1 * rng.normal(size=n) > np.median(first), 1.0, -1.0)
    return Data(X, y), rng.exponential(size=n)


def features(model, X):
    dense = X.toarray() if sparse.issparse(X) else X.astype(np.float64)
    return (dense - model.shift) / model.scale


KINDS = ["dense", "float32", "sparse", "remote"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_gram_matrix_is_that_of_the_standardised_rows(kind):
    data, _ = wide(kind=kind)
    model = Linear.standardised(data.X)
    A = features(model, data.X)
    np.testing.assert_allclose(gram(model, data.X), A @ A.T, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("intercept", [True, False])
def test_weights_on_x_give_the_scores_of_the_table(kind, intercept):
    data, _ = wide(kind=kind)
    rotation = Rotation.of(Linear.standardised(data.X), data.X)
    theta = np.random.default_rng(1).normal(size=rotation.table.shape[1] + intercept)
    weights, offset = rotation.weights(theta)
    r = rotation.table.shape[1]
    expected = rotation.table @ theta[:r] + (theta[-1] if intercept else 0.0)
    digits = 1e-5 if kind == "remote" else 1e-8
    np.testing.assert_allclose(data.X @ weights + offset, expected, rtol=digits, atol=digits)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ridge", [1e-3, 0.1])
def test_the_ridge_solution_is_that_of_the_full_space(kind, ridge):
    data, rows = wide(kind=kind)
    model = Linear.standardised(data.X, rows)
    rotation = Rotation.of(model, data.X)
    objective = WeightedLoss(
        Linear(), Data(rotation.table, data.y), as_loss("logistic"), rows, ridge
    )
    theta = minimise(objective, tolerance=1e-14)
    scores = rotation.table @ theta[:-1] + theta[-1]
    full = WeightedLoss(model, data, as_loss("logistic"), rows, ridge)
    assert np.isclose(
        full.value_and_gradient(model.parameters(*rotation.weights(theta)))[0],
        objective.value_and_gradient(theta)[0],
        atol=1e-7,
    )
    oracle = LogisticRegression(
        C=1.0 / (ridge * rows.sum()), solver="newton-cholesky", tol=1e-10, max_iter=1000
    )
    oracle.fit(features(model, data.X), data.y, sample_weight=rows)
    expected = oracle.decision_function(features(model, data.X))
    np.testing.assert_allclose(scores, expected, atol=1e-4)


def test_copies_of_rows_are_no_directions_of_their_own():
    data, _ = wide(n=20)
    twice = data.take(np.tile(np.arange(20), 2))
    rotation = Rotation.of(Linear.standardised(twice.X), twice.X)
    assert rotation.table.shape == (40, 19)


def test_a_table_with_more_rows_than_columns_is_left_alone():
    data, _ = wide(n=50, d=50)
    assert Rotation.of(Linear.standardised(data.X), data.X) is None
