"""GroupThresholds: logistic regression with one threshold for each group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.baselines._base import COUNT_OR_NONE
from anymetric.baselines._thresholds import searches
from anymetric.baselines._trials import Trials
from anymetric.baselines.logistic import LogisticBaseline, TunedThreshold
from anymetric.metrics import Sweep
from anymetric.problem import Problem
from anymetric.rules import GroupRule
from anymetric.solution import Solution, Status

Floats = NDArray[np.float64]


class GroupThresholds(TunedThreshold):
    """Logistic regression, then for each group the threshold that is best on validation rows.

    C is chosen with a common threshold. Then group after group is swept exactly while the others
    stay, from the common threshold and from random ones, until nothing improves. Where the metric
    separates over the groups, as a mean over groups does, the result is the best there is.

    Parameters
    ----------
    restarts : int, default=3
        Random starts beside the common threshold.
    metric, C, greater_is_better, standardize, fit_intercept, validation_fraction, \
max_metric_calls, random_state
        As in `LogisticBaseline`.

    Attributes
    ----------
    shifts_ : dict
        What each group adds to its rows' scores ``X @ coef_.T + intercept_``. A group without
        validation rows adds nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(500, weights=[0.8], random_state=0)
    >>> groups = np.where(X[:, 0] > 0, "a", "b")
    >>> clf = GroupThresholds("group_mean_f1", random_state=0).fit(X, y, groups=groups)
    >>> sorted(clf.shifts_), clf.validation_score_ > 0.5
    (['a', 'b'], True)
    """

    _parameter_constraints = LogisticBaseline._parameter_constraints | {"restarts": [COUNT_OR_NONE]}

    def __init__(
        self,
        metric: Any = "group_mean_f1",
        *,
        C: float | Sequence[float] | None = None,
        restarts: int = 3,
        greater_is_better: bool | None = None,
        standardize: bool = True,
        fit_intercept: bool = True,
        validation_fraction: float = 0.2,
        max_metric_calls: int | None = None,
        random_state: Any = None,
    ) -> None:
        TunedThreshold.__init__(
            self,
            metric,
            C=C,
            greater_is_better=greater_is_better,
            standardize=standardize,
            fit_intercept=fit_intercept,
            validation_fraction=validation_fraction,
            max_metric_calls=max_metric_calls,
            random_state=random_state,
        )
        self.restarts = restarts

    def _try(self, trials: Trials, rng: np.random.Generator) -> Status:
        problem = trials.problem
        for rows, name in ((problem.train, "groups"), (problem.valid, "groups_val")):
            if "groups" not in rows.side:
                raise ValueError(f"GroupThresholds sets a threshold a group: give {name}= too.")
        super()._try(trials, rng)
        common = trials.solution()
        names, member = np.unique(problem.valid.side["groups"], return_inverse=True)
        limit = trials.share(2 * len(names) * (self.restarts + 1) + 1)

        def look(scores: Floats) -> Sweep:
            return trials.sweep(scores, limit)

        scores = trials.scores(common.theta) + common.summary.chosen["shift"]
        kept = {name: common.summary.chosen[name] for name in ("C", "shift")}
        reached: list[tuple[Floats, float]] = []
        try:
            for shifts, cost in searches(look, scores, member, rng, self.restarts):
                reached.append((shifts, cost))
        finally:  # what was reached is not lost with a metric that fails, or a budget that ends
            if reached:
                shifts, cost = min(reached, key=lambda one: one[1])
                apart = dict(zip(names.tolist(), shifts.tolist(), strict=True))
                trials.keep(common.theta, cost, **kept, shifts=apart)
        return Status.COMPLETED

    def _unpack(self, problem: Problem, solution: Solution) -> None:
        super()._unpack(problem, solution)
        apart = solution.summary.chosen.get("shifts", {})
        known = np.unique(problem.train.side["groups"]).tolist()
        self.decision_rule_ = GroupRule({name: apart.get(name, 0.0) for name in known})
