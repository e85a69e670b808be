"""Metrics: the base classes, binding to rows, and costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from anymetric.data import NO_COLUMNS, Columns, Floats
from anymetric.metrics.rows import Rows
from anymetric.metrics.thresholds import Sweep


class MetricError(RuntimeError):
    """A metric failed on one probe: the message says which, and what was got.

    Attributes
    ----------
    probe : int
        The probe's place in the batch, counted from 0.
    call : int or None
        The metric call of the whole run, where the caller counts them.
    best : object or None
        The best model before the failure, where the caller keeps one.
    made : int
        Calls of the batch that were made: where several go at once, some after the failure.
    attempts : int
        How often this probe was tried.
    answers : tuple of float
        The values of the probes before this one, where they were evaluated one by one.
    swept : Sweep or None
        The thresholds that had been answered, where the batch was a sweep.

    Examples
    --------
    >>> error = MetricError("Metric 'profit' failed at probe 2: it returned nan.", probe=2)
    >>> error.probe, error.call, error.made
    (2, None, 3)
    """

    def __init__(
        self, message: str, probe: int = 0, call: int | None = None, best: Any | None = None
    ) -> None:
        super().__init__(message)
        self.probe = probe
        self.call = call
        self.best = best
        self.made = probe + 1
        self.attempts = 1
        self.answers: tuple[float, ...] = ()
        self.swept: Sweep | None = None


class Metric(ABC):
    """A number to be trained for: what it reads, which way is better, how it binds to rows.

    A part is a frozen dataclass below this class. A row is predicted positive where its score is
    above zero; a score that is not a number never is.

    Attributes
    ----------
    name : str
    greater_is_better : bool
    needs : tuple of str
        Metadata columns that must be there, by name.
    decides : bool
        True if only the sign of the scores is read, so that a threshold can be tuned; False if
        the scores themselves are (rankings, regression).
    probabilistic : bool
        True if scores are read as log-odds, so that their size counts and not their order alone.
    black_box : bool
        True for user code, called once for each score vector: it may take no weights, so that
        bootstrap resamples are drawn, not weighted.
    reads_features : bool
        True if it needs X.
    ceiling : float
        The best value of a greater-is-better metric where it has one: ``cost = ceiling - value``.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import Accuracy
    >>> bound = Accuracy().bind(np.array([1.0, 1.0, -1.0, -1.0]))
    >>> float(bound.values(np.array([2.0, -1.0, -1.0, -3.0])))
    0.75
    """

    if TYPE_CHECKING:
        # Read-only here, so that a subclass may use a class attribute, a field or a property.
        @property
        def name(self) -> str: ...  # noqa: D102
        @property
        def greater_is_better(self) -> bool: ...  # noqa: D102
        @property
        def needs(self) -> tuple[str, ...]: ...  # noqa: D102
        @property
        def decides(self) -> bool: ...  # noqa: D102
        @property
        def probabilistic(self) -> bool: ...  # noqa: D102
        @property
        def black_box(self) -> bool: ...  # noqa: D102
        @property
        def reads_features(self) -> bool: ...  # noqa: D102
        @property
        def ceiling(self) -> float: ...  # noqa: D102

    else:
        needs = ()
        decides = False
        probabilistic = False
        black_box = False
        reads_features = False
        ceiling = 1.0

    def bind(
        self,
        y: NDArray[Any],
        *,
        weights: NDArray[Any] | None = None,
        side: Columns = NO_COLUMNS,
        labels: Sequence[Any] | None = None,
        X: Any = None,
    ) -> BoundMetric:
        """Check the rows and return the metric on them.

        Parameters
        ----------
        y : array of shape (n,)
            -1.0 and +1.0 for classes; any real number for regression.
        weights : array of shape (n,), optional
        side : mapping from name to array of shape (n,)
        labels : (negative, positive), optional
            The user's own names of the classes, for metrics that the user wrote.
        X : array, optional
            Features, for metrics that ask for them.
        """
        rows = Rows.of(self.name, y, weights, side, labels, X)
        self._check_columns(rows.side)
        return self._bind(rows)

    def cost(self, value: Any) -> Any:
        """Turn values into costs: lower is better."""
        return self.ceiling - value if self.greater_is_better else value

    def joint_costs(self, values: Callable[[Metric], NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return costs on rows and, along the last axis, on resamples of them.

        Parameters
        ----------
        values : callable
            From this metric, or a part of it, to its values ``(..., 1 + B)``.
        """
        return np.asarray(self.cost(values(self)))

    def value(self, cost: Any) -> Any:
        """Turn costs back into values."""
        return self.ceiling - cost if self.greater_is_better else cost

    def _check_columns(self, side: Columns) -> None:
        missing = [name for name in self.needs if name not in side]
        if missing:
            raise ValueError(
                f"Metric {self.name!r} needs the metadata column {missing[0]!r}; columns given: "
                f"{sorted(side) or 'none'}."
            )

    def _check_classes(self, y: NDArray[np.float64]) -> None:
        if not np.all(np.abs(y) == 1.0):
            raise ValueError(
                f"Metric {self.name!r} needs classes coded as -1 and +1; got "
                f"{np.unique(y[np.abs(y) != 1.0])[:5].tolist()}."
            )

    @abstractmethod
    def _bind(self, rows: Rows) -> BoundMetric: ...


@dataclass(frozen=True, eq=False)
class BoundMetric(ABC):
    """A metric on fixed rows: from scores to values, to costs, to a sweep of thresholds.

    Attributes
    ----------
    metric : Metric
    rows : Rows
        The rows that `Metric.bind` was given.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> bound = as_metric("accuracy").bind(np.array([1.0, -1.0, -1.0, -1.0]))
    >>> batch = np.array([[1.0, -1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, -1.0]])
    >>> bound.values(batch).tolist(), bound.costs(batch).tolist()
    ([0.75, 0.75], [0.25, 0.25])
    >>> float(bound.sweep(np.array([3.0, 2.0, 1.0, 0.0])).values.max())
    1.0
    """

    metric: Metric
    rows: Rows

    def values(self, scores: Floats) -> NDArray[np.float64]:
        """Return the value ``()`` of scores ``(n,)``, or values ``(m,)`` of ``(n, m)``."""
        scores = self._checked(scores, (1, 2))
        values = self._values(scores if scores.ndim == 2 else scores[:, None])
        unreal = np.flatnonzero(~np.isfinite(values))
        if unreal.size:
            raise MetricError(
                f"Metric {self.metric.name!r} is {values[unreal[0]]} at probe {unreal[0]}: are "
                f"all {len(self.rows)} scores finite?",
                probe=int(unreal[0]),
            )
        return values.reshape(scores.shape[1:])[()]

    def costs(self, scores: Floats) -> NDArray[np.float64]:
        """Return what `values` does, turned into costs."""
        return self.metric.cost(self.values(scores))  # type: ignore[no-any-return]

    def box(self, scores: Floats) -> tuple[Any, Floats] | None:
        """Return the black box behind the metric and its scores; None if there is none."""
        return None

    def sweep(self, scores: Floats, limit: int | None = None) -> Sweep:
        """Return the metric at every threshold of these scores.

        Parameters
        ----------
        scores : array of shape (n,)
        limit : int, optional
            Maximum number of thresholds, evenly spaced in rank: for a metric that is expensive
            to call. All of them by default.
        """
        raise ValueError(
            f"Metric {self.metric.name!r} reads scores, not decisions: it has no threshold to "
            "sweep. Check `decides` first."
        )

    def _checked(self, scores: Floats, dimensions: tuple[int, ...]) -> Floats:
        scores = np.asarray(scores)
        if scores.ndim not in dimensions or len(scores) != len(self.rows):
            wanted = " or ".join("(rows,)" if d == 1 else "(rows, probes)" for d in dimensions)
            raise ValueError(
                f"Metric {self.metric.name!r} is bound to {len(self.rows)} rows; got scores of "
                f"shape {scores.shape}: give {wanted}."
            )
        return scores

    @abstractmethod
    def _values(self, scores: Floats) -> NDArray[np.float64]: ...
