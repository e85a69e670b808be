"""Lines and trees for numbers: what `RegressionBaseline` trains, each a scorer of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import RidgeCV

from anymetric.data import Data, Matrix
from anymetric.losses import Tilted
from anymetric.metrics import Limited, Metric
from anymetric.metrics.median import MedianAbsoluteError
from anymetric.metrics.regression import MeanAbsoluteError, Pinball
from anymetric.models import Linear, LinearScorer, Scorer
from anymetric.models.ensemble import Ensemble
from anymetric.models.trees import Trees, lightgbm, plain_matrix
from anymetric.solvers import WeightedLoss, minimise

Floats = NDArray[np.float64]
Learn = Callable[[Matrix, Floats], Scorer]
# How round the loss of a quantile is, in robust standard deviations, from fit to fit.
ROUND = (0.3, 0.1, 0.03, 0.01)
RIDGES = np.logspace(-3.0, 3.0, 13)


def level_of(metric: Metric) -> float | None:
    """Return the quantile that a metric asks for; None where it asks for none.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> [level_of(as_metric(name)) for name in ("pinball_0.9", "mean_absolute_error", "r2")]
    [0.9, 0.5, None]
    """
    found = metric.of if isinstance(metric, Limited) else metric
    if isinstance(found, Pinball):
        return float(found.quantile)
    return 0.5 if isinstance(found, MeanAbsoluteError | MedianAbsoluteError) else None


def constant(X: Matrix, y: Floats) -> Scorer:
    """Return zero for every row: a shift makes it a constant."""
    return LinearScorer(np.zeros(X.shape[1]), 0.0)


def ridge(X: Matrix, y: Floats) -> Scorer:
    """Return least squares on standardised columns; the ridge by leave-one-out errors.

    Examples
    --------
    >>> X = np.arange(20.0)[:, np.newaxis]
    >>> ridge(X, 3.0 * X[:, 0] + 1.0).scores(np.array([[100.0]])).round(1).tolist()
    [301.0]
    """
    model = Linear.standardised(X)
    Z = X.toarray() if sparse.issparse(X) else np.asarray(X)
    Z = Z if model.shift is None else Z - model.shift
    Z = Z if model.scale is None else Z / model.scale
    found = RidgeCV(RIDGES).fit(Z, y)
    weights, offset = model.raw(np.append(found.coef_, found.intercept_))
    return LinearScorer(np.asarray(weights), float(offset))


def quantile_line(X: Matrix, y: Floats, level: float) -> Scorer:
    """Return the line below which a share `level` of the targets lies: least pinball loss.

    The loss is rounded off, less and less: the last is 1 % of the spread of the residuals wide.

    Examples
    --------
    >>> X, y = np.zeros((101, 1)), np.arange(101.0)
    >>> quantile_line(X, y, 0.9).scores(X[:1]).round(0).tolist()
    [90.0]
    """
    model = Linear.standardised(X)
    middle = float(np.median(y))
    spread = float(np.subtract(*np.quantile(y, (0.75, 0.25)))) / 1.35 or float(y.std()) or 1.0
    data, theta = Data(X, (y - middle) / spread), None
    for delta in ROUND:
        goal = WeightedLoss(model, data, Tilted(level, delta), data.weights, 1e-6 * delta)
        theta = minimise(goal, theta)
    assert theta is not None
    weights, offset = model.raw(theta)
    return LinearScorer(spread * np.asarray(weights), spread * float(offset) + middle)


@dataclass(frozen=True)
class Boosting:
    """LightGBM for numbers, with the objective that a metric asks for.

    Examples
    --------
    >>> Boosting.of(Pinball(0.9)).settings["objective"]
    'quantile'
    """

    level: float | None = None
    seed: int = 0
    trees: int = 500
    patience: int = 30

    @classmethod
    def of(cls, metric: Metric, seed: int = 0) -> Boosting:
        """Return the trees for a metric."""
        return cls(level_of(metric), seed)

    @property
    def settings(self) -> dict[str, Any]:
        """What LightGBM is told."""
        told = {"learning_rate": 0.05, "num_threads": 1, "deterministic": True, "verbosity": -1}
        if self.level is None:
            return {"objective": "regression", "seed": self.seed, **told}
        kind = {"objective": "regression_l1"}
        if self.level != 0.5:
            kind = {"objective": "quantile", "alpha": self.level}  # type: ignore[dict-item]
        return {**kind, "seed": self.seed, **told}

    def __call__(self, X: Matrix, y: Floats) -> Scorer:
        """Return as many trees as a fifth of the rows asks for, grown on all of them."""
        gbm, rng = lightgbm(), np.random.default_rng(self.seed)
        held = rng.permutation(len(y)) < max(len(y) // 5, 1)
        train = gbm.Dataset(plain_matrix(X[~held]), y[~held])
        valid = gbm.Dataset(plain_matrix(X[held]), y[held], reference=train)
        stop = [gbm.early_stopping(self.patience, verbose=False)]
        first = gbm.train(self.settings, train, self.trees, valid_sets=[valid], callbacks=stop)
        whole = gbm.Dataset(plain_matrix(X), y)
        grown = gbm.train(self.settings, whole, max(first.best_iteration, 1))
        return Trees(grown.model_to_string())


def moved(scorer: Scorer, shift: float) -> Scorer:
    """Return a scorer with a number added to its scores.

    Examples
    --------
    >>> moved(LinearScorer(np.ones(1), 1.0), 2.0).scores(np.zeros((1, 1))).tolist()
    [3.0]
    """
    return Ensemble.of([scorer], [1.0], shift)
