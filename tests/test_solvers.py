"""Solvers: L-BFGS within its tolerance; scikit-learn is the oracle."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from anymetric.data import Data
from anymetric.losses import as_loss
from anymetric.models import Linear
from anymetric.solvers import WeightedLoss, curvatures, minimise, second_order


class Counted(WeightedLoss):
    """A loss that counts its evaluations."""

    def value_and_gradient(self, theta):
        self.__dict__["calls"] = self.__dict__.get("calls", 0) + 1
        return super().value_and_gradient(theta)


def words(n=400, d=700, kind="sparse"):
    """Counts of words, most of them rare."""
    rng = np.random.default_rng(0)
    X = rng.poisson(3.0 / np.arange(1, d + 1) ** 0.8, size=(n, d)).astype(float)
    score = X @ rng.normal(size=d)
    y = np.where(score + rng.normal(size=n) > np.median(score), 1.0, -1.0)
    return Data(sparse.csr_array(X) if kind == "sparse" else X, y), rng.exponential(size=n)


@pytest.mark.parametrize("kind", ["sparse", "dense"])
@pytest.mark.parametrize("ridge", [0.1, 1e-3])
def test_lbfgs_ends_within_its_tolerance_and_not_long_after(kind, ridge):
    data, rows = words(kind=kind)
    model = Linear.standardised(data.X, rows)
    loss = Counted(model, data, as_loss("logistic"), rows, ridge)
    assert not second_order(loss)
    exact = loss.value_and_gradient(minimise(loss, tolerance=1e-15, iterations=1000))[0]
    calls = []
    for tolerance in (1e-4, 1e-6, 1e-10):
        loss.__dict__["calls"] = 0
        theta = minimise(loss, tolerance=tolerance)
        calls.append(loss.__dict__["calls"])
        assert -1e-12 <= loss.value_and_gradient(theta)[0] - exact <= tolerance
    assert calls[0] < calls[1] < calls[2]


@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_lbfgs_finds_the_solution_of_scikit_learn(kind):
    data, rows = words(kind=kind)
    model = Linear.standardised(data.X, rows)
    loss = WeightedLoss(model, data, as_loss("logistic"), rows, 0.01)
    found = model.scores(data.X, minimise(loss, tolerance=1e-13))
    dense = data.X.toarray() if kind == "sparse" else data.X
    features = (dense - model.shift) / model.scale
    oracle = LogisticRegression(C=100.0 / rows.sum(), solver="newton-cholesky", tol=1e-10)
    oracle.fit(features, data.y, sample_weight=rows)
    np.testing.assert_allclose(found, oracle.decision_function(features), atol=1e-4)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_curvatures_are_the_hessians_diagonal(intercept):
    data, rows = words(d=40)
    model = Linear.standardised(data.X, rows, intercept=intercept)
    loss = WeightedLoss(model, data, as_loss("logistic"), rows, 0.01)
    theta = 0.1 * np.random.default_rng(1).normal(size=40 + intercept)
    np.testing.assert_allclose(curvatures(loss, theta), np.diag(loss.hessian(theta)), rtol=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "huber", "logistic"])
def test_columns_of_zeros_without_a_ridge_do_no_harm(loss):
    X = sparse.csr_array(np.pad(np.random.default_rng(0).normal(size=(50, 3)), ((0, 0), (0, 700))))
    data = Data(X, np.where(np.arange(50) % 3 == 0, 1.0, -1.0))
    objective = WeightedLoss(Linear(), data, as_loss(loss), np.ones(50), 0.0)
    assert np.all(np.isfinite(minimise(objective, tolerance=1e-6)))
