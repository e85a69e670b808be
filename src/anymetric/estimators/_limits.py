"""Limits: `subject_to` as a metric under constraints, and the value of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from anymetric.errors import warn
from anymetric.estimators._units import InUnit
from anymetric.metrics import Limited, as_constraints, limit_values, limited
from anymetric.metrics.under_limits import LimitedCounts

# Groups are read off the features only with this many rows: fewer may be separable by chance.
FEWEST = 100
# Thresholds of a trade-off that is shown.
SHOWN = 49


def goal_of(objective, subject_to, meant=None):
    """Return the metric to train for: the objective, under limits if there are any.

    Parameters
    ----------
    objective : Metric
    subject_to : constraint, text, list of them or None
    meant : callable, optional
        What a metric means for the target that there is.

    Examples
    --------
    >>> from anymetric.metrics import Precision
    >>> goal_of(Precision(), None), goal_of(Precision(), "recall>=0.8").name
    (Precision(), 'precision subject to recall >= 0.8')
    """
    limits = as_constraints(subject_to)
    if meant is not None:
        limits = tuple(replace(one, metric=meant(one.metric)) for one in limits)
    return limited(objective, limits)


def values_on(problem, scores):
    """Return the objective's value and every limit's, of scores of the validation rows.

    None for a metric without limits, or one that is undefined there.

    Examples
    --------
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import Precision
    >>> from anymetric.problem import Problem
    >>> rows = Data(np.zeros((2, 1)), np.array([1.0, -1.0]))
    >>> problem = Problem(rows, "hinge", goal_of(Precision(), "recall>=0.8"), labels=(0, 1))
    >>> value, (limit,) = values_on(problem, np.array([1.0, 1.0]))
    >>> value, str(limit)
    (0.5, 'recall >= 0.8: 1.0000, kept')
    """
    metric = problem.metric
    inner = metric.inner if isinstance(metric, InUnit) else metric

    def bound(part):
        own = replace(metric, inner=part) if isinstance(metric, InUnit) else part
        return replace(problem, metric=own).judge

    return limit_values(inner, bound, np.asarray(scores).reshape(-1))


def trade_off(problem, scores):
    """Return the objective and every limited metric at thresholds of the scores of two classes.

    None for functions, which would have to be called, and where there is no threshold.

    Examples
    --------
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import Precision
    >>> from anymetric.problem import Problem
    >>> rows = Data(np.zeros((2, 1)), np.array([1.0, -1.0]))
    >>> problem = Problem(rows, "hinge", goal_of(Precision(), "recall>=0.8"), labels=(0, 1))
    >>> float(trade_off(problem, np.array([[1.0], [0.0]]))["limits"].min())
    1.0
    """
    metric = problem.metric
    exact = isinstance(metric, LimitedCounts)
    if not exact or np.ndim(scores) != 2 or np.shape(scores)[1] != 1:
        return None
    cuts = np.unique(np.quantile(scores, np.linspace(0.02, 0.98, SHOWN)))
    moved = scores - np.nextafter(cuts, -np.inf)
    values = [replace(problem, metric=part).judge.values(moved) for part in metric.parts]
    return {"threshold": cuts, "objective": values[0], "limits": np.stack(values[1:])}


def warn_if_broken(limits):
    """Warn where the model violates a limit even on the validation rows.

    Examples
    --------
    >>> warn_if_broken(())
    """
    missed = [str(one) for one in limits if not one.kept and one.limit.confidence is None]
    if missed:
        warn(
            "No candidate kept all limits on the validation rows; the one of the least violation "
            f"was taken ({'; '.join(missed)}). Relax the limit, or give features or rows that make "
            "it possible."
        )


@dataclass(frozen=True)
class GroupReader:
    """Reads groups off the features, where these determine them.

    Examples
    --------
    >>> X = np.column_stack([np.arange(200) % 2, np.arange(200.0)])
    >>> groups = np.where(X[:, 0] == 1, "b", "a")
    >>> reader = GroupReader.of(X, groups)
    >>> reader.read(X[:3]).tolist()
    ['a', 'b', 'a']
    >>> GroupReader.of(X, np.random.default_rng(0).permutation(groups)) is None
    True
    """

    tree: Any

    @classmethod
    def of(cls, X, groups):
        """Return the reader of these groups; None if the features do not determine them."""
        names = np.unique(groups)
        if len(groups) < FEWEST or len(names) < 2:
            return None
        tree = DecisionTreeClassifier(max_leaf_nodes=2 * len(names), random_state=0)
        tree.fit(X, groups)
        return cls(tree) if np.array_equal(tree.predict(X), groups) else None

    def read(self, X):
        """Return the groups of rows."""
        return self.tree.predict(X)


def reads_groups(metric):
    """Return whether a limit is about groups.

    Examples
    --------
    >>> from anymetric.metrics import Accuracy, at_most, gap
    >>> reads_groups(goal_of(Accuracy(), at_most(gap("recall"), 0.1))), reads_groups(Accuracy())
    (True, False)
    """
    limits = metric.limits if isinstance(metric, Limited) else ()
    return any("groups" in one.metric.needs for one in limits)
