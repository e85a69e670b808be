"""Networks: Algorithm 1 for families that have parameters only once they are trained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Data
from anymetric.descent import Descent
from anymetric.gradients import Subspace
from anymetric.ledger import Ledger
from anymetric.method import Method
from anymetric.metrics import MetricError
from anymetric.models import Ensemble, Learner
from anymetric.problem import Problem
from anymetric.projections import Minibatch
from anymetric.projections.base import stationary_weights
from anymetric.solution import Interrupted, Iteration, Solution
from anymetric.starts import shifted

Floats64 = NDArray[np.float64]
Watcher = Callable[[Iteration], bool | None]


@dataclass(frozen=True)
class NetworkDescent:
    """Algorithm 1 with a network: it begins where plain training ends, at the best threshold.

    The other start goes on from there with classes of equal weight.

    Parameters
    ----------
    learner : Learner
        A family whose trained models are models with parameters: `TorchModel`.
    method : part with a `run` method, optional
        By default a descent that probes in the subspace of the surrogates' gradients, and
        projects by batches of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from torch import nn
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.models.torch import TorchModel
    >>> from anymetric.surrogates import per_class
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> data = Data(X, np.where(X[:, 0] * X[:, 1] > 0.3, 1.0, -1.0))
    >>> problem = Problem(data, per_class("logistic"), as_metric("gmean"), labels=(0, 1))
    >>> net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
    >>> solution = NetworkDescent(TorchModel(net, lr=0.03)).run(Ledger(problem), [], rng)
    >>> solution.cost <= solution.iterations[0].cost < 0.2
    True
    """

    takes_starts: ClassVar[bool] = False
    cross_fits: ClassVar[bool] = False

    learner: Learner
    method: Method | None = None

    @property
    def inner(self) -> Method:
        """What descends."""
        return self.method or Descent(
            iterations=30,
            step=0.1,
            gradient=Subspace(),
            projection=Minibatch(step=3e-4),
            decay=0.3,
            normalised=True,
        )

    def run(
        self,
        ledger: Ledger,
        starts: Sequence[Floats64],
        rng: np.random.Generator,
        watch: Watcher | None = None,
    ) -> Solution:
        """Train the starts, then descend; `starts` are not needed and not read."""
        train, labels = ledger.problem.train, ledger.problem.labels
        classes = 0 if labels is None else len(labels)
        network: Any = self.learner.learn(train, train.weights, rng, classes=classes)
        near = Ledger(replace(ledger.problem, model=network), ledger.max_calls, ledger.n_jobs)
        begun = [shifted(near, network.theta) if classes == 2 else network.theta]
        if classes:
            rows = class_balanced(train)
            other: Any = self.learner.learn(train, rows, rng, classes=classes, start=network)
            begun.append(other.theta)
        try:
            return told(near.problem, self.inner.run(near, begun, rng, watch))
        except (MetricError, Interrupted) as error:
            error.best = told(near.problem, error.best) if error.best is not None else None
            raise
        finally:
            ledger.calls = near.calls


def told(problem: Problem, solution: Solution) -> Solution:
    """Return the solution with its network, and with what each surrogate counted for."""
    model: Any = problem.model
    weights = solution.best.weights
    if weights is None:
        weights = stationary_weights(problem.linearise(solution.theta)[1])
    learned = dict(zip(problem.names, weights.tolist(), strict=True))
    scorer = Ensemble((model.at(solution.theta),), (1.0,))
    return replace(solution, scorer=scorer, weights=learned)


def class_balanced(data: Data) -> Floats64:
    """Return row weights under which all classes weigh the same.

    Examples
    --------
    >>> import numpy as np
    >>> class_balanced(Data(np.zeros((3, 1)), np.array([0.0, 2.0, 2.0]))).tolist()
    [1.0, 0.5, 0.5]
    """
    kind = np.unique(data.y, return_inverse=True)[1]
    return np.asarray(data.weights / np.bincount(kind, data.weights)[kind])
