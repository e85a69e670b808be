"""Problem: a model, surrogates on the training rows, and a metric on the validation rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Data, Floats, Matrix
from anymetric.engines import Engine, Local, lighter
from anymetric.metrics import BoundMetric, Metric
from anymetric.models import Linear, Model
from anymetric.surrogates import Profiler, Spec, bind

# Scores held at once while many parameter vectors are evaluated: 32 MB of doubles.
BLOCK = 1 << 22


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
        The validation rows; the training rows by default.
    model : Model
    labels : pair or `Classes`, optional
        The user's names of the negative and the positive class, for the user's own metric; or
        what many classes are called.

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
    labels: Sequence[Any] | None = None

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
    def tables(self) -> tuple[Matrix, Matrix]:
        """The features of the training and the validation rows, in their faster form."""
        if not isinstance(self.model, Linear):
            return self.train.X, self.valid.X
        trained = lighter(self.train.X)
        return trained, trained if self.valid is self.train else lighter(self.valid.X)

    @cached_property
    def engine(self) -> Engine:
        """Where the surrogates' sums run: on the training rows, equal ones merged."""
        return Engine.build(self.model, self.tables[0], self.profiler)

    @cached_property
    def judge(self) -> BoundMetric:
        """The metric on the validation rows."""
        return self._bound(self.valid)

    @cached_property
    def mirror(self) -> BoundMetric:
        """The metric on the training rows, for estimators that shift their scores."""
        return self.judge if self.valid is self.train else self._bound(self.train)

    @property
    def decides(self) -> bool:
        """Whether the metric reads decisions, so that there is a threshold to move.

        A user's function of numeric predictions has no threshold.
        """
        return self.metric.decides and not (self.metric.black_box and self.labels is None)

    @property
    def shared(self) -> bool:
        """Whether one score vector serves both the surrogates and the metric."""
        return self.valid is self.train and self.engine.X is self.tables[0]

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
        return self.model.scores(self.tables[0], theta)

    def validation_scores(self, theta: NDArray[Any]) -> Floats:
        """Return the scores of the validation rows."""
        return self.model.scores(self.tables[1], theta)

    def profile(self, theta: NDArray[Any]) -> NDArray[np.float64]:
        """Return the profile ``(K,)`` of one theta, ``(m, K)`` of ``(m, p)``."""
        return self.engine.profile(theta)

    def cost(self, theta: NDArray[Any]) -> NDArray[np.float64]:
        """Return the cost ``()`` of one theta, ``(m,)`` of ``(m, p)``."""
        if theta.ndim == 1:
            return self.judge.costs(self.validation_scores(theta))
        scored = (self.validation_scores(part) for part in blocks(theta, len(self.valid)))
        return np.concatenate([self.judge.costs(scores) for scores in scored])

    def at(self, theta: NDArray[Any]) -> Local:
        """Return the profile at theta, with access to its derivatives by the parameters."""
        return self.engine.at(theta)

    def linearise(self, theta: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the profile and its ``(K, p)`` Jacobian by the parameters."""
        here = self.at(theta)
        return here.profile, here.jacobian()

    def excess(
        self, theta: NDArray[Any], target: NDArray[np.float64]
    ) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Return ``||(l(theta) - target)_+||^2``, its gradient, and the profile."""
        here = self.at(theta)
        over = np.maximum(here.profile - target, 0.0)
        if not np.any(over):
            return 0.0, np.zeros(theta.shape), here.profile
        return float(over @ over), here.gradient(2.0 * over), here.profile

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
