"""CMAES: an evolution strategy straight on the weights of a linear classifier."""

from __future__ import annotations

from typing import Any

import numpy as np

from anymetric.baselines._base import COUNT, POSITIVE, BaselineClassifier
from anymetric.baselines._fits import logistic
from anymetric.baselines._trials import Trials
from anymetric.errors import import_extra
from anymetric.solution import Status
from anymetric.starts import shifted

# Beyond this many parameters only their variances are learned.
FULL_COVARIANCE = 500


class CMAES(BaselineClassifier):
    """Minimise the validation cost over the weights, from a threshold-tuned logistic regression.

    Nothing regularises: with few validation rows and many features it fits their noise. It needs
    the package cma: ``pip install 'anymetric[baselines]'``.

    Parameters
    ----------
    max_metric_calls : int, default=3000
    sigma : float, default=0.1
        The first steps' standard deviation, in standardised features.
    C : float, default=1.0
        Of the logistic regression at the start.
    metric, greater_is_better, standardize, fit_intercept, validation_fraction, random_state
        As in `MetricClassifier`.

    Examples
    --------
    >>> CMAES("f1", max_metric_calls=200, random_state=0)
    CMAES(max_metric_calls=200, metric='f1', random_state=0)
    """

    _parameter_constraints = BaselineClassifier._parameter_constraints | {
        "sigma": [POSITIVE],
        "C": [POSITIVE],
        "max_metric_calls": [COUNT],
    }

    def __init__(
        self,
        metric: Any = "accuracy",
        *,
        sigma: float = 0.1,
        C: float = 1.0,
        greater_is_better: bool | None = None,
        standardize: bool = True,
        fit_intercept: bool = True,
        validation_fraction: float = 0.2,
        max_metric_calls: int = 3000,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            metric,
            greater_is_better=greater_is_better,
            standardize=standardize,
            fit_intercept=fit_intercept,
            validation_fraction=validation_fraction,
            max_metric_calls=max_metric_calls,
            random_state=random_state,
        )
        self.sigma = sigma
        self.C = C

    def _try(self, trials: Trials, rng: np.random.Generator) -> Status:
        cma = import_extra("cma", needed_by="CMAES", extra="baselines")
        problem, ledger = trials.problem, trials.ledger
        # Where a plain model flags no row, a metric of decisions is flat, and no step improves.
        start = shifted(ledger, logistic(problem.model, problem.train, self.C))
        trials.judge(start, generation=0)
        options = {
            "verbose": -9,
            # Its own seed would be NumPy's global one.
            "seed": np.nan,
            "randn": np.random.RandomState(int(rng.integers(1, 2**31))).randn,
            "CMA_diagonal": len(start) > FULL_COVARIANCE,
        }
        strategy = cma.CMAEvolutionStrategy(start, self.sigma, options)
        while not strategy.stop():
            asked = np.stack(strategy.ask())
            costs = ledger.ask(problem.judge, trials.scores(asked))
            strategy.tell(list(asked), costs.tolist())
            best = int(np.argmin(costs))
            if costs[best] < min(iteration.cost for iteration in trials.iterations):
                trials.keep(asked[best], float(costs[best]), generation=strategy.countiter)
        return Status.CONVERGED
