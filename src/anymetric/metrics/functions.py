"""Functions: any Python function of targets and predictions as a metric."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from anymetric.data import Columns, Floats
from anymetric.metrics.base import BoundMetric, Metric
from anymetric.metrics.calls import BoundCalls
from anymetric.metrics.classes import Classes
from anymetric.metrics.exchange import RESERVED, predictions_table
from anymetric.metrics.ranked import RELEVANCE
from anymetric.metrics.rows import Rows
from anymetric.metrics.signatures import (
    READINGS,
    direction,
    function_name,
    read_signature,
    reading,
)

# Parameters that are filled without a metadata column of that name.
GIVEN = ("sample_weight", "X", "pos_label")


@dataclass(frozen=True)
class FunctionMetric(Metric):
    """A user's function of targets and predictions; best made by `metric` or `as_metric`.

    Parameters
    ----------
    function : callable
        Called as ``function(y_true, second, **columns)``, once a probe, on fresh arrays. With
        labels, `y_true` and decisions are in the user's own coding; without (regression) the
        second argument is the prediction itself.
    greater_is_better : bool
    on : {"decisions", "scores", "probabilities"} or None
        What the second argument is; None will do for regression only.
    asks, takes : tuple of str
        Columns passed by name: those that must be there, and those that are passed if they are.
        Without a column of that name, ``sample_weight`` is the rows' weights, ``X`` the features
        and ``pos_label`` the positive label.
    name : str
    ceiling : float
        ``cost = ceiling - value`` where greater is better.

    Examples
    --------
    >>> import numpy as np
    >>> def profit(y_true, y_pred, amount):
    ...     return amount[(y_true == "fraud") & (y_pred == "fraud")].sum()
    >>> wrapped = FunctionMetric(profit, True, on="decisions", asks=("amount",), name="profit")
    >>> bound = wrapped.bind(
    ...     np.array([1.0, -1.0, 1.0]),
    ...     side={"amount": np.array([10.0, 20.0, 30.0])},
    ...     labels=("fine", "fraud"),
    ... )
    >>> bound.values(np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0]])).tolist()
    [10.0, 40.0]
    """

    function: Callable[..., Any]
    greater_is_better: bool
    on: str | None = None
    asks: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    name: str = "metric"
    ceiling: float = 0.0

    black_box = True

    def __post_init__(self) -> None:
        if self.on is not None and self.on not in READINGS:
            raise ValueError(f"on must be one of {READINGS}; got {self.on!r}.")

    @property
    def needs(self) -> tuple[str, ...]:
        """The metadata columns that must be there."""
        return tuple(name for name in self.asks if name not in GIVEN)

    @property
    def decides(self) -> bool:
        """Whether decisions are read."""
        return self.on == "decisions"

    @property
    def probabilistic(self) -> bool:
        """Whether the function gets probabilities."""
        return self.on == "probabilities"

    @property
    def reads_features(self) -> bool:
        """Whether the function takes X."""
        return "X" in (*self.asks, *self.takes)

    @property
    def takes_weights(self) -> bool:
        """Whether the function takes `sample_weight`."""
        return "sample_weight" in (*self.asks, *self.takes)

    @property
    def takes_all(self) -> bool:
        """Whether it gets the rows' numbers and all metadata columns, as a program does."""
        return bool(getattr(self.function, "takes_all", False))

    @property
    def slots(self) -> int:
        """How many calls may be made at the same time in threads."""
        return int(getattr(self.function, "slots", 1))

    def stop(self) -> None:
        """End the calls that other threads are waiting for, where that can be done."""
        getattr(self.function, "stop", lambda: None)()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself: a decorated function is still one."""
        return self.function(*args, **kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        # Decorated, the function's own name means this metric: its true address is `.function`.
        home, path = (getattr(self.function, key, "") for key in ("__module__", "__qualname__"))
        if getattr(_found(home, path), "function", None) is self.function:
            self.function.__qualname__ = f"{path}.function"
        return FunctionMetric, tuple(getattr(self, field.name) for field in fields(self))

    def _check_columns(self, side: Columns) -> None:
        """Leave this to `_bind`, which knows what is given besides metadata columns."""

    def _bind(self, rows: Rows) -> BoundMetric:
        columns = self.columns(rows)
        if rows.labels is None:
            return BoundFunction(self, rows, columns)
        self._check_classes(rows.y)
        if self.on is None:
            raise ValueError(self.unclear)
        return BoundFunction(self, rows, columns)

    @property
    def unclear(self) -> str:
        """The error where the meaning of the second argument is unknown."""
        return (
            f"Metric {self.name!r}: the name of its second parameter does not say what it "
            "wants. Name it y_pred, y_score or y_prob, or wrap the function: "
            f"metric(f, on=...) with one of {READINGS}."
        )

    def columns(self, rows: Rows) -> dict[str, Any]:
        """Return the columns that the function gets by name; one that is missing is an error."""
        given = _given(rows)
        asked = (*self.asks, *self.takes)
        if self.takes_all:
            self._check_names(rows.side)
            weights = ("sample_weight",) if not rows.unweighted else ()
            asked = (*asked, *(name for name in (*weights, *rows.side) if name not in asked))
        missing = [name for name in self.asks if name not in given]
        if missing:
            raise ValueError(
                f"Metric {self.name!r} needs {missing[0]!r}; columns given: "
                f"{sorted(rows.side) or 'none'}. Give a metadata column of that name, or a default."
            )
        return {name: given[name] for name in asked if name in given}

    def _check_names(self, side: Columns) -> None:
        """Refuse metadata that would stand in the place of what is predicted."""
        for name in side:
            if name in RESERVED or name.startswith(tuple(f"{one}_" for one in RESERVED)):
                raise ValueError(
                    f"Metric {self.name!r} is given a table with columns of its own, {RESERVED}: "
                    f"metadata cannot be called {name!r}."
                )


@dataclass(frozen=True, eq=False)
class BoundFunction(BoundCalls):
    """A user's function on fixed rows."""

    metric: FunctionMetric
    columns: dict[str, Any]

    def call(self, scores: NDArray[np.float64]) -> Any:
        """Call the function on copies of everything."""
        columns = {name: _copied(column) for name, column in self.columns.items()}
        return self.metric.function(self.truth(), self._second(scores), **columns)

    def table(self, scores: Floats) -> dict[str, NDArray[Any]]:
        """Return scores ``(n,)`` as a table for a program or a person."""
        on = None if self.names is None else self.metric.on
        return predictions_table(self.truth(), self._second(scores), self.rows.side, on)

    def _second(self, scores: Floats) -> NDArray[Any]:
        if self.names is None or self.metric.on == "scores":
            return scores
        if self.metric.on == "probabilities":
            return np.asarray(expit(scores))
        return self.names[(scores > 0.0).astype(np.intp)]


def metric(
    function: Callable[..., Any] | None = None,
    *,
    greater_is_better: bool | None = None,
    on: str | None = None,
    needs: tuple[str, ...] | None = None,
    name: str | None = None,
    ceiling: float = 0.0,
) -> Any:
    """Make a function a metric; works as a decorator too.

    Parameters
    ----------
    function : callable
        ``function(y_true, second, ...)``: the second parameter's name says what it receives
        (``y_pred``: decisions, ``y_score``: scores, ``y_prob``: probabilities) unless `on` does;
        further parameters are metadata columns by name.
    greater_is_better : bool, optional
        By default read off the name, as scikit-learn does: ``*_score`` is greater-is-better,
        ``*_error``, ``*_loss`` and ``*_deviance`` are not.
    on : {"decisions", "scores", "probabilities"}, optional
    needs : tuple of str, optional
        Columns to pass by name; by default those in the signature.
    name : str, optional
    ceiling : float
        ``cost = ceiling - value`` where greater is better: 1.0 if the metric is at most one.

    Examples
    --------
    >>> @metric(greater_is_better=True)
    ... def caught(y_true, y_pred, amount):
    ...     return amount[(y_true == 1) & (y_pred == 1)].sum()
    >>> caught.on, caught.needs
    ('decisions', ('amount',))
    """
    if function is None:
        settings: dict[str, Any] = {"on": on, "needs": needs, "name": name, "ceiling": ceiling}
        return partial(metric, greater_is_better=greater_is_better, **settings)
    called = name or function_name(function)
    if greater_is_better is None:
        greater_is_better = direction(called)
    takes: tuple[str, ...] = ()
    if on is None or needs is None:
        second, required, takes = read_signature(function)
        on = on or reading(second)
        needs = required if needs is None else needs
    return FunctionMetric(function, greater_is_better, on, tuple(needs), takes, called, ceiling)


@dataclass(frozen=True)
class Graded:
    """A function of an order, given the rows' grades in the place of relevant or not.

    Examples
    --------
    >>> Graded(lambda y_true, y_score: y_true.max(), "int64")(None, None, np.array([0.0, 3.0]))
    np.int64(3)
    """

    function: Callable[..., Any]
    dtype: Any

    def __call__(self, y_true: Any, second: Any, relevance: Any, **columns: Any) -> Any:
        """Call the function with the grades."""
        return self.function(relevance.astype(self.dtype), second, **columns)


def graded(metric: Metric, dtype: Any) -> Metric:
    """Return a function's metric as one that is given grades of relevance; others as they are.

    Examples
    --------
    >>> graded(metric(lambda y_true, y_score: 1.0, greater_is_better=True), "int64").needs
    ('relevance',)
    """
    if not isinstance(metric, FunctionMetric) or RELEVANCE in (*metric.asks, *metric.takes):
        return metric
    function = Graded(metric.function, dtype)
    return replace(metric, function=function, asks=(*metric.asks, RELEVANCE))


def _given(rows: Rows) -> dict[str, Any]:
    given = dict(zip(GIVEN, (rows.weights, rows.X, None), strict=True))
    pair = None if rows.labels is None or isinstance(rows.labels, Classes) else rows.labels
    given["pos_label"] = None if pair is None else pair[1]
    return {name: x for name, x in given.items() if x is not None} | dict(rows.side)


def _copied(column: Any) -> Any:
    return column.copy() if hasattr(column, "copy") else column


def _found(module: str, path: str) -> Any:
    try:
        return attrgetter(path)(sys.modules[module])
    except (KeyError, AttributeError):
        return None
