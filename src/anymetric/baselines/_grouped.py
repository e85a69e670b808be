"""Grouped: the door of classifiers that must know a row's group to score it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _check_sample_weight

from anymetric.baselines._base import BaselineClassifier
from anymetric.estimators._columns import side_columns

Floats = NDArray[np.float64]


class GroupedClassifier(BaselineClassifier):
    """A classifier whose decisions depend on the groups: give them wherever you give X."""

    def _grouped_scores(self, X: Any, groups: Any) -> Floats:
        """Return the scores of rows with these groups."""
        raise NotImplementedError

    def decision_function(self, X: Any, *, groups: Any = None) -> Floats:
        """Return the scores: positive for ``classes_[1]``.

        Parameters
        ----------
        X : array-like of shape (n, d)
        groups : array-like of shape (n,)
        """
        return self._grouped_scores(X, groups)

    def predict(self, X: Any, *, groups: Any = None) -> NDArray[Any]:
        """Return the predicted labels.

        Parameters
        ----------
        X : array-like of shape (n, d)
        groups : array-like of shape (n,)
        """
        positive = self.decision_function(X, groups=groups) > 0.0
        return np.asarray(self.classes_[positive.astype(int)])

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, side: Any = None
    ) -> float:
        """Return the metric itself, in its own direction.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        sample_weight, groups, side : optional
            As in `fit`.
        """
        scores = self.decision_function(X, groups=groups)
        columns = side_columns(  # type: ignore[no-untyped-call]
            scores[:, np.newaxis], side, groups=groups
        )
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, scores, ensure_non_negative=True)
        target = self._encode_valid(np.asarray(y))  # type: ignore[no-untyped-call]
        labels = tuple(self.classes_.tolist())
        X = self._checked(X)  # type: ignore[no-untyped-call]
        bound = self.metric_.bind(target, weights=weights, side=columns, labels=labels, X=X)
        return float(bound.values(scores))


def members(groups: Any, known: Sequence[Any], n: int, asked_by: str) -> NDArray[np.intp]:
    """Return the place of each row's group among the known ones.

    Examples
    --------
    >>> members(["b", "a"], ["a", "b"], 2, "GroupPostShift").tolist()
    [1, 0]
    >>> members(None, ["a", "b"], 2, "GroupPostShift")
    Traceback (most recent call last):
    ...
    ValueError: GroupPostShift was fitted with groups and needs them here too: give groups=, each
    one of ['a', 'b'].
    """
    if groups is None:
        raise ValueError(
            f"{asked_by} was fitted with groups and needs them here too: give groups=, each one "
            f"of {list(known)}."
        )
    column = np.asarray(groups)
    if column.shape != (n,):
        raise ValueError(
            f"groups must have one value for each of the {n} rows; got shape {column.shape}."
        )
    new = sorted(set(np.unique(column).tolist()) - set(known))
    if new:
        raise ValueError(
            f"{asked_by} knows the groups {list(known)}; got {new}: it has no way to score them."
        )
    places = {name: place for place, name in enumerate(known)}
    return np.array([places[name] for name in column.tolist()], dtype=np.intp)
