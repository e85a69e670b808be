"""Problem: a model, surrogates on the training rows, and a metric on the rows that judge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Data, Floats
from anymetric.metrics import BoundMetric, Metric
from anymetric.models import Linear, Model
from anymetric.surrogates import Profiler, Spec, bind

# Scores held at once while many parameter vectors are looked at: 64 MB of doubles.
BLOCK = 1 << 23


@dataclass(frozen=True, eq=False)
class Problem:
    """Minimise ``metric(scores on valid)`` through ``profile(scores on train)``.

    Parameters
    ----------
    train : Data
        The rows that the surrogates average over.
    surrogates : Surrogate, builder, loss, name, or a list of them
    metric : Metric
    valid : Data, optional
        The rows that judge; the training rows by default.
    model : Model
    labels : pair, optional
        The user's names of the negative and the positive class, for the user's own metric.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.surrogates import per_class
    >>> data = Data(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]))
    >>> problem = Problem(data, per_class("hinge"), as_metric("error"))
    >>> theta = np.array([2.0, 0.0])
    >>> problem.profile(theta).tolist(), float(problem.cost(theta))
    ([0.0, 0.0], 0.0)
    """

    train: Data
    surrogates: Spec
    metric: Metric
    valid: Data = None  # type: ignore[assignment]
    model: Model = field(default_factory=Linear)
    labels: tuple[Any, Any] | None = None

    def __post_init__(self) -> None:
        if self.valid is None:
            object.__setattr__(self, "valid", self.train)
        if self.valid.X.shape[1] != self.train.X.shape[1]:
            raise ValueError(
                f"The validation rows have {self.valid.X.shape[1]} features, the training rows "
                f"{self.train.X.shape[1]}: both must have the same columns."
            )

    @cached_property
    def profiler(self) -> Profiler:
        """The surrogates on the training rows."""
        return bind(self.surrogates, self.train)

    @cached_property
    def judge(self) -> BoundMetric:
        """The metric on the rows that judge."""
        return self._bound(self.valid)

    @cached_property
    def mirror(self) -> BoundMetric:
        """The metric on the training rows, for estimators that shift their scores."""
        return self.judge if self.valid is self.train else self._bound(self.train)

    @property
    def size(self) -> int:
        """The number of parameters."""
        return self.model.size(self.train.X)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the K surrogates."""
        return self.profiler.names

    def scores(self, theta: NDArray[Any]) -> Floats:
        """Return the training rows' scores."""
        return self.model.scores(self.train.X, theta)

    def profile(self, theta: NDArray[Any]) -> NDArray[np.float64]:
        """Return the profile ``(K,)`` of one theta, ``(m, K)`` of ``(m, p)``."""
        if theta.ndim == 1:
            return self.profiler.values(self.scores(theta))
        parts = [self.profiler.values(self.scores(t)) for t in blocks(theta, len(self.train))]
        return np.concatenate(parts)

    def cost(self, theta: NDArray[Any]) -> NDArray[np.float64]:
        """Return the cost ``()`` of one theta, ``(m,)`` of ``(m, p)``."""
        if theta.ndim == 1:
            return self.judge.costs(self.model.scores(self.valid.X, theta))
        scored = (self.model.scores(self.valid.X, t) for t in blocks(theta, len(self.valid)))
        return np.concatenate([self.judge.costs(scores) for scores in scored])

    def linearise(self, theta: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the profile and its ``(K, p)`` Jacobian by the parameters."""
        scores = self.scores(theta)
        return self.profiler.values(scores), self.jacobian(theta, scores)

    def jacobian(self, theta: NDArray[Any], scores: Floats) -> NDArray[np.float64]:
        """Return the ``(K, p)`` Jacobian of the profile at parameters with these scores."""
        return self.model.pullback(self.train.X, theta, self.profiler.slopes(scores))

    def excess(
        self, theta: NDArray[Any], target: NDArray[np.float64]
    ) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Return ``||(l(theta) - target)_+||^2``, its gradient, and the profile."""
        scores = self.scores(theta)
        profile = self.profiler.values(scores)
        over = np.maximum(profile - target, 0.0)
        if not np.any(over):
            return 0.0, np.zeros(theta.shape), profile
        slopes = self.profiler.slopes(scores).T @ (2.0 * over)
        return float(over @ over), self.model.pullback(self.train.X, theta, slopes), profile

    def _bound(self, data: Data) -> BoundMetric:
        return self.metric.bind(
            data.y, weights=data.weights, side=data.side, labels=self.labels, X=data.X
        )


def blocks(thetas: NDArray[Any], rows: int) -> Iterator[NDArray[Any]]:
    """Cut ``(m, p)`` parameter vectors so that the scores of a block fit in memory.

    Examples
    --------
    >>> import numpy as np
    >>> [len(part) for part in blocks(np.zeros((5, 2)), rows=BLOCK // 2)]
    [2, 2, 1]
    """
    width = max(BLOCK // max(rows, 1), 1)
    for start in range(0, len(thetas), width):
        yield thetas[start : start + width]
