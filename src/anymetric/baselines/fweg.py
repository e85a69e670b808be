"""FWEG: Frank-Wolfe with elicited gradients (Hiranandani et al. 2021)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils import check_random_state

from anymetric.baselines._base import COUNT, COUNT_OR_NONE, POSITIVE, BaselineClassifier
from anymetric.baselines._elicitation import confusion, elicited, expected_costs, probes
from anymetric.baselines._fits import logistic
from anymetric.baselines._mixture import Basis, Mixture
from anymetric.baselines._trials import Trials
from anymetric.data import Data
from anymetric.problem import Problem
from anymetric.solution import Solution, Status

Floats = NDArray[np.float64]


class FWEG(BaselineClassifier):
    """Adjust a class-probability model repeatedly by example weights that it elicits.

    A row's weight for class i is ``W_i(x) = sum_l alpha_i^l phi^l(x)``, with indicators ``phi`` of
    its group and, if set, its cluster. In each round the metric is probed at classifiers near
    the current one, each moved a little towards one class on one indicator's rows; ``alpha``
    solves the linear system that explains the metric's changes by those of the training rows'
    confusion. The plug-in classifier ``argmax_i W_i(x) p_i(x)`` is mixed in with the Frank-Wolfe
    share ``2 / (t + 2)``.

    The result is a randomised mixture. `decision_function` is the probability with which it
    calls a row positive, less one half; so `predict` and `score` follow the majority of the
    mixture, and `draw` follows the mixture itself. The best round by the majority's validation
    cost is kept. Fitted with groups, it needs groups to predict.

    Parameters
    ----------
    rounds : int, default=20
    epsilon : float, default=0.1
        How far a probe moves: the probability with which it departs from the current classifier.
    clusters : int, default=0
        Indicators of so many k-means clusters, beside the groups'.
    repeats : int, default=5
        A ready-made metric is given the mixture's expected confusion; any other is called on
        so many random draws.
    C : float, default=1.0
        Of the logistic regression that estimates the class probabilities.
    metric, greater_is_better, standardize, fit_intercept, validation_fraction, \
max_metric_calls, random_state
        As in `MetricClassifier`. The metric must be one of decisions.

    Attributes
    ----------
    coef_, intercept_
        Of the class-probability model.
    mixture_ : Mixture
        `shares` of shape (T,), and `alphas` of shape (T, 2, L), the first for the negative class.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(500, weights=[0.9], random_state=0)
    >>> FWEG("f1", random_state=0).fit(X, y).validation_score_ > 0.5
    True
    """

    _parameter_constraints = BaselineClassifier._parameter_constraints | {
        "rounds": [COUNT],
        "epsilon": [POSITIVE],
        "clusters": [COUNT_OR_NONE],
        "repeats": [COUNT],
        "C": [POSITIVE],
    }

    def __init__(
        self,
        metric: Any = "accuracy",
        *,
        rounds: int = 20,
        epsilon: float = 0.1,
        clusters: int = 0,
        repeats: int = 5,
        C: float = 1.0,
        greater_is_better: bool | None = None,
        standardize: bool = True,
        fit_intercept: bool = True,
        validation_fraction: float = 0.2,
        max_metric_calls: int | None = None,
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
        self.rounds = rounds
        self.epsilon = epsilon
        self.clusters = clusters
        self.repeats = repeats
        self.C = C

    def _try(self, trials: Trials, rng: np.random.Generator) -> Status:
        problem = trials.problem
        if not problem.metric.decides:
            raise ValueError(f"FWEG needs a metric of decisions; {problem.metric.name!r} is not.")
        theta = logistic(problem.model, problem.train, self.C)
        basis = self._basis(problem, rng)
        train = seen(problem, problem.train, theta, basis)
        valid = seen(problem, problem.valid, theta, basis)
        mixture = Mixture.start(train[1].shape[1])
        self._keep(trials, theta, basis, mixture, valid)
        for t in range(self.rounds):
            trained = probes(mixture.probabilities(*train), train[1], self.epsilon)
            valid_probes = probes(mixture.probabilities(*valid), valid[1], self.epsilon)
            costs = expected_costs(trials.ledger, valid_probes, rng, self.repeats)
            alpha = elicited(confusion(problem.train, train[1], trained), -costs)
            if not alpha.any():
                return Status.FLAT
            mixture = mixture.mixed(alpha, 2.0 / (t + 2.0))
            self._keep(trials, theta, basis, mixture, valid)
        return Status.COMPLETED

    def _basis(self, problem: Problem, rng: np.random.Generator) -> Basis:
        groups = problem.train.side.get("groups") if "groups" in problem.valid.side else None
        scale = getattr(problem.model, "scale", None)
        return Basis.made(problem.train.X, groups, self.clusters, scale, rng)

    def _keep(
        self,
        trials: Trials,
        theta: Floats,
        basis: Basis,
        mixture: Mixture,
        valid: tuple[Floats, Floats],
    ) -> None:
        cost = trials.ledger.ask(trials.problem.judge, mixture.probabilities(*valid) - 0.5)
        trials.keep(theta, float(cost), round=len(trials.iterations), basis=basis, mixture=mixture)

    def _unpack(self, problem: Problem, solution: Solution) -> None:
        super()._unpack(problem, solution)
        self.basis_ = solution.summary.chosen.get("basis", Basis())
        self.mixture_ = solution.summary.chosen.get("mixture", Mixture.start(1))

    def _ruled_scores(self, X: Any, groups: Any = None, side: Any = None) -> Floats:
        p = expit(self._scores(X))  # type: ignore[no-untyped-call]
        X = self._checked(X)  # type: ignore[no-untyped-call]
        return np.asarray(self.mixture_.probabilities(p, self.basis_.of(X, groups)) - 0.5)

    def draw(self, X: Any, *, groups: Any = None, random_state: Any = None) -> NDArray[Any]:
        """Return labels drawn from the mixture.

        Parameters
        ----------
        X : array-like of shape (n, d)
        groups : array-like of shape (n,)
        random_state : int, RandomState or None
        """
        probabilities = self.decision_function(X, groups=groups) + 0.5
        positive = (
            check_random_state(random_state).random_sample(len(probabilities)) < probabilities
        )
        return np.asarray(self.classes_[positive.astype(int)])


def seen(problem: Problem, data: Data, theta: Floats, basis: Basis) -> tuple[Floats, Floats]:
    """Return the rows' probabilities of being positive, and their indicators."""
    p = expit(np.asarray(problem.model.scores(data.X, theta), dtype=np.float64))
    return p, basis.of(data.X, data.side.get("groups"))
