"""Solution: the best model of a run, why it ended, and all its iterations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Data
from anymetric.gradients import Estimate
from anymetric.ledger import Probe
from anymetric.losses import Loss
from anymetric.metrics import MetricError
from anymetric.models import Scorer
from anymetric.projections import Projection
from anymetric.rules import FittedRule
from anymetric.summary import Summary


class Status(Enum):
    """Why a run ended: a name, and a sentence that says what to do.

    Examples
    --------
    >>> Status.BUDGET.value
    'The metric was called as often as allowed. Raise `max_metric_calls` for a longer run.'
    """

    COMPLETED = "All iterations were run. If the cost was still falling, raise `iterations`."
    CONVERGED = "The profile no longer moves. Nothing to do, unless another start does better."
    FLAT = (
        "No probe changes the cost: the best of the starting models is kept. Check that the "
        "metric reads the labels as they are in y; else raise `sigma`, or give more validation "
        "rows."
    )
    BUDGET = "The metric was called as often as allowed. Raise `max_metric_calls` for a longer run."
    TIME = "The time limit was reached: the best model so far is kept. Raise `max_seconds`."
    SELECTED = "All candidates were evaluated; those whose difference is within noise are averaged."
    STOPPED = "The caller stopped the run. The best model so far is kept."
    FAULTS = (
        "Too many evaluations failed, one that had succeeded before among them: the best model so "
        "far is kept. Fix the metric and fit again; `on_error` sets how many may fail."
    )
    FAILED = "The metric failed. The best model so far is kept; fix the metric and fit again."


@dataclass(frozen=True, eq=False)
class Iteration:
    """One iteration: the point reached, and how.

    Attributes
    ----------
    number, start : int
        The iteration, from 0 (the starting point itself), and which start it belongs to.
    here : Probe
        The point reached: theta, profile, cost.
    point : array of shape (K,)
        Where the next step begins: the profile, or with the exact projection
        ``max(target, profile)``.
    target, estimate, projection
        How it was reached; None at a starting point.
    calls : int
        Metric calls of the whole run so far.
    seconds : float
    family : str
        Of the candidate that was trained, where a method has candidates of several families.

    Examples
    --------
    >>> import numpy as np
    >>> start = Iteration(0, 0, Probe(np.zeros(2), np.ones(2), 0.5), np.ones(2))
    >>> start.weights is None
    True
    """

    number: int
    start: int
    here: Probe
    point: NDArray[np.float64]
    target: NDArray[np.float64] | None = None
    estimate: Estimate | None = None
    projection: Projection | None = None
    calls: int = 0
    seconds: float = 0.0
    family: str = ""

    @property
    def theta(self) -> NDArray[np.float64]:
        """The parameters reached."""
        return self.here.theta

    @property
    def cost(self) -> float:
        """The cost there."""
        return self.here.cost

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """The weight of each surrogate in this iteration, summing to one (Appendix C).

        The multipliers ``2 (l_k - target_k)_+`` of the projection; where the target was reached
        they are zero, and the estimated gradient is used instead.
        """
        if self.projection is None or self.estimate is None:
            return None
        for weights in (self.projection.multipliers, np.maximum(self.estimate.gradient, 0.0)):
            if weights.sum() > 0.0:
                return np.asarray(weights / weights.sum())
        return None

    def record(self) -> dict[str, Any]:
        """Return the iteration as plain values: one row of `history_`."""
        row: dict[str, Any] = {
            "start": self.start,
            "iteration": self.number,
            "cost": self.cost,
            "profile": self.here.profile,
            "target": self.target,
            "gradient": None if self.estimate is None else self.estimate.gradient,
            "condition": None if self.estimate is None else self.estimate.condition,
            "weights": self.weights,
            "gap": None if self.projection is None else self.projection.gap,
            "calls": self.calls,
            "seconds": self.seconds,
        }
        return row


@dataclass(frozen=True, eq=False)
class Solution:
    """The best iteration of a run by cost, why the run ended, and all its iterations.

    Attributes
    ----------
    best : Iteration
    status : Status
    iterations : tuple of Iteration
    calls : int
        Metric calls of the whole run.
    summary : Summary
        What the method selected and measured.
    weights : dict or None
        The learned weight of each surrogate or slice, where the method reports it.
    row_weights : array or None
        The learned weights of the training rows, summing to one, where the method learns them.
    scorer : Scorer or None
        The model itself, where it is more than the best iteration's parameters.
    validation_weights : array or None
        Those of the validation rows, where they trained too, in the unit of `row_weights`; they
        sum to one where no training row was used.
    resampled_costs : array or None
        The cost of the answer on bootstrap resamples of the validation rows, where drawn.
    out_of_fold : (Data, array of shape (n, C)) or None
        The validation rows, and their out-of-fold scores with the decision rule applied.
    rule : FittedRule or None
        The decision rule, where it reads metadata.
    held_out : array or None
        The out-of-fold scores of the validation rows, without the decision rule.
    losses : tuple of (share, Loss or None)
        The losses of the answer's candidates, where they train by row; None is the usual one.

    Examples
    --------
    >>> import numpy as np
    >>> iteration = Iteration(0, 0, Probe(np.zeros(2), np.ones(2), 0.5), np.ones(2))
    >>> solution = Solution(iteration, Status.FLAT, (iteration,), calls=1)
    >>> solution.cost, solution.status.name
    (0.5, 'FLAT')
    """

    best: Iteration
    status: Status
    iterations: tuple[Iteration, ...] = field(repr=False)
    calls: int = 0
    summary: Summary = field(default_factory=Summary)
    weights: dict[str, float] | None = None
    row_weights: NDArray[np.float64] | None = field(default=None, repr=False)
    scorer: Scorer | None = field(default=None, repr=False)
    validation_weights: NDArray[np.float64] | None = field(default=None, repr=False)
    resampled_costs: NDArray[np.float64] | None = field(default=None, repr=False)
    out_of_fold: tuple[Data, NDArray[np.float64]] | None = field(default=None, repr=False)
    rule: FittedRule | None = field(default=None, repr=False)
    held_out: NDArray[np.float64] | None = field(default=None, repr=False)
    losses: tuple[tuple[float, Loss | None], ...] = field(default=(), repr=False)

    @property
    def theta(self) -> NDArray[np.float64]:
        """The parameters of the best iteration."""
        return self.best.theta

    @property
    def cost(self) -> float:
        """The cost of the best iteration."""
        return self.best.cost

    @property
    def history(self) -> list[dict[str, Any]]:
        """All iterations as plain values."""
        return [iteration.record() for iteration in self.iterations]


class Interrupted(KeyboardInterrupt):
    """The user stopped a run: `best` is the best model before that; None if there was none.

    Examples
    --------
    >>> Interrupted().best is None
    True
    """

    def __init__(self, best: Any | None = None) -> None:
        super().__init__()
        self.best = best


@contextmanager
def keeping(best: Callable[[Status], Solution | None]) -> Iterator[None]:
    """Attach the best model so far to the exception that ends a run.

    Examples
    --------
    >>> try:
    ...     with keeping(lambda status: None):
    ...         raise KeyboardInterrupt
    ... except Interrupted as stop:
    ...     print(stop.best)
    None
    """
    try:
        yield
    except MetricError as error:
        error.best = best(Status.FAILED)
        raise
    except KeyboardInterrupt as stop:
        raise Interrupted(best(Status.STOPPED)) from stop
