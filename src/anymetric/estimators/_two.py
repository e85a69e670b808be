"""Two: what y means where it has two classes."""

from __future__ import annotations

import numpy as np
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from anymetric import starts
from anymetric.estimators._defaults import default_by_query, default_slices
from anymetric.metrics import Classes
from anymetric.metrics.calls import BoundCalls
from anymetric.metrics.ranked import QUERY


class TwoClasses:
    """Targets of two classes: -1 for the first, +1 for the second."""

    def _decided(self, scores):
        return self._pair[(scores > 0).astype(int)]

    @property
    def _pair(self):
        """The negative and the positive class; `classes_` is sorted, as scikit-learn has it."""
        return positive_last(self.classes_, getattr(self, "pos_label", None))

    def _encode(self, y):
        check_classification_targets(y)
        kind = type_of_target(y, input_name="y", raise_unknown=True)
        classes = np.unique(y)
        if kind != "binary":
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}: y has "
                f"{len(classes)} classes. sklearn.multiclass.OneVsRestClassifier around this "
                "estimator trains one model a class; MetricClassifier takes many classes itself."
            )
        self.classes_ = classes
        return np.where(y == self._pair[-1], 1.0, -1.0)

    def _check_target(self, data):
        if len(np.unique(data.y)) < 2:
            only = self._pair[-1 if data.y[0] > 0 else 0]
            raise ValueError(
                f"y has only one class among the rows of positive weight: {str(only)!r}. A "
                "classifier needs two classes."
            )

    def _encode_valid(self, y):
        self._known(y)
        return np.where(y == self._pair[1], 1.0, -1.0)

    def _known(self, y):
        """Refuse labels that are not in the training rows."""
        new = sorted(set(np.unique(y).tolist()) - set(self.classes_.tolist()))
        if new:
            raise ValueError(
                f"The labels {new} were never seen in training, which had {self.classes_.tolist()}."
            )

    def _codes(self):
        return (-1.0, 1.0)

    def _problem(self, metric, train, valid):
        problem = super()._problem(metric, train, valid)
        if not isinstance(problem.labels, Classes):
            check_validation_classes(
                problem, [f"of the class {str(name)!r}" for name in self._pair]
            )
        return problem

    def _strata(self, data):
        group = data.side.get("groups")
        if group is None:
            return data.y
        return 2 * np.unique(group, return_inverse=True)[1] + (data.y > 0)

    def _labels(self):
        return tuple(self._pair.tolist())

    def _default_surrogates(self, metric, train):
        if QUERY in metric.needs and not metric.decides and QUERY in train.side:
            # Scores of a query have no common level: losses per class alone would diverge.
            return default_by_query(metric, train)
        loss = self._published() or "logistic"
        return default_slices(train, loss, by=self.slices or ())

    def _plainest(self, problem):
        return starts.plain(problem)

    def _plain_starts(self, ledger):
        # Tuning the threshold never costs more on the validation rows, so neither does the result.
        plain = starts.shifted(ledger, self._plainest(ledger.problem))
        return [plain, starts.balanced(ledger.problem)]

    def _set_coefficients(self, weights, offset):
        self.coef_ = weights[np.newaxis, :]
        self.intercept_ = np.array([offset])


def positive_last(classes, pos_label):
    """Return two classes, the positive one last; by default as they are.

    Examples
    --------
    >>> positive_last(np.array(["ham", "spam"]), "ham").tolist()
    ['spam', 'ham']
    >>> positive_last(np.array([0, 1]), "yes")
    Traceback (most recent call last):
    ...
    ValueError: pos_label='yes' is none of the classes of y: [0, 1].
    """
    if pos_label is None:
        return classes
    if pos_label not in classes.tolist():
        raise ValueError(
            f"pos_label={pos_label!r} is none of the classes of y: {classes.tolist()}."
        )
    return np.concatenate([classes[classes != pos_label], classes[classes == pos_label]])


def check_validation_classes(problem, kinds):
    """Refuse validation rows of one class, where the metric is then constant.

    Parameters
    ----------
    problem : Problem
    kinds : pair of str
        What to call rows of the first class, and of the second.

    Examples
    --------
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.problem import Problem
    >>> one = Data(np.zeros((2, 1)), np.ones(2))
    >>> check_validation_classes(
    ...     Problem(one, "hinge", as_metric("prbep")), ("irrelevant", "relevant")
    ... )
    Traceback (most recent call last):
    ...
    ValueError: The 2 validation rows are all relevant: the metric 'prbep' is the same there ...
    """
    y, n = problem.valid.y, len(problem.valid)
    if len(np.unique(y)) > 1 or isinstance(problem.judge, BoundCalls):
        return
    ramp = np.linspace(-1.0, 1.0, n)
    costs = problem.judge.costs(np.column_stack([np.ones(n), -np.ones(n), ramp, -ramp]))
    if np.ptp(costs) <= 1e-12 * max(1.0, np.abs(costs).max()):
        raise ValueError(
            f"The {n} validation rows are all {kinds[int(y[0] > 0)]}: the metric "
            f"{problem.metric.name!r} is the same there whatever is predicted. Give rows of both "
            "classes."
        )
