"""Many: what y means where it has more than two classes, or a column for each label."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target

from anymetric import starts_classes
from anymetric.diagnosis import diagnose
from anymetric.estimators._columns import known_direction
from anymetric.metrics import Classes, Metric, as_metric, meant
from anymetric.models import Outputs
from anymetric.span import around
from anymetric.surrogates import class_losses

NETWORKS = "NetworkDescent"
KINDS = {"multiclass": True, "multilabel-indicator": False}


def means_classes(metric):
    """Return whether a metric is defined for more than two classes.

    Examples
    --------
    >>> means_classes("accuracy"), means_classes("f1")
    (True, False)
    """
    try:
        meant(
            as_metric(metric, greater_is_better=known_direction(metric)), Classes(("a", "b", "c"))
        )
    except ValueError:
        return not isinstance(metric, str | Metric)
    return True


class ManyClasses:
    """Targets of many classes, coded from 0; or sets of labels, coded by the sets that occur.

    With two classes everything is left to the class that comes next.
    """

    metric_: Metric
    # False in subclasses that train two classes only.
    _takes_many = True
    _classes = None

    def _several(self, y):
        """Return whether y is a table of labels."""
        if isinstance(y, list | tuple) and y and np.ndim(y[0]) == 1:
            return self._takes_many and len(y[0]) > 1
        shape = getattr(y, "shape", ())
        return self._takes_many and len(shape) == 2 and shape[1] > 1

    def _encode(self, y):
        self._classes = None
        kind = type_of_target(y, input_name="y", raise_unknown=True)
        if not self._takes_many or kind not in KINDS:
            return super()._encode(y)
        if getattr(self, "pos_label", None) is not None:
            raise ValueError(
                f"pos_label={self.pos_label!r} names one of two classes; y is {kind}. Leave it "
                "out, or make y two classes: the positive one and the rest."
            )
        if KINDS[kind]:
            self.classes_, codes = np.unique(y, return_inverse=True)
            self._classes = Classes(tuple(self.classes_.tolist()))
        else:
            self.classes_ = np.arange(y.shape[1])
            self._classes = Classes(tuple(range(y.shape[1])), np.zeros((0, y.shape[1]), dtype=bool))
            codes = self._coded(y)
        self.metric_ = meant(self.metric_, self._classes)
        return codes.astype(np.float64)

    def _encode_valid(self, y):
        if self._classes is None:
            return super()._encode_valid(y)
        if not self._classes.exclusive:
            return self._coded(y).astype(np.float64)
        self._known(y)
        return np.searchsorted(self.classes_, y).astype(np.float64)

    def _coded(self, y):
        """Return each row's place among the sets of labels; new sets are added to them."""
        y = y.toarray() if sparse.issparse(y) else np.asarray(y)
        old = self._classes.sets
        if y.ndim != 2 or y.shape[1] != old.shape[1] or not np.isin(y, (0, 1)).all():
            raise ValueError(
                f"y must be a table of zeros and ones, with a column for each of the "
                f"{old.shape[1]} labels; got an array of shape {y.shape}."
            )
        found, codes = np.unique(y.astype(bool), axis=0, return_inverse=True)
        places = {row.tobytes(): k for k, row in enumerate(old)}
        new = [row for row in found if row.tobytes() not in places]
        if new:
            self._classes = Classes(self._classes.names, np.concatenate([old, new]))
            places |= {row.tobytes(): len(old) + k for k, row in enumerate(new)}
        return np.array([places[row.tobytes()] for row in found])[codes.ravel()]

    def _meant_limit(self, metric):
        return metric if self._classes is None else meant(metric, self._classes)

    def _check_target(self, data):
        if self._classes is None:
            super()._check_target(data)
        elif self._classes.exclusive and len(np.unique(data.y)) < 2:
            only = self.classes_[int(data.y[0])]
            raise ValueError(
                f"y has only one class among the rows of positive weight: {str(only)!r}. A "
                "classifier needs two classes."
            )

    def _strata(self, data):
        if self._classes is None:
            return super()._strata(data)
        # Of labels there may be nearly as many sets as rows.
        y = data.y if self._classes.exclusive else np.zeros(len(data))
        group = data.side.get("groups")
        if group is None:
            return y
        return len(self._classes) * np.unique(group, return_inverse=True)[1] + y

    def _labels(self):
        return super()._labels() if self._classes is None else self._classes

    def _codes(self):
        """Return the codes of the classes; None where a row may have several."""
        if self._classes is None:
            return super()._codes()
        return np.arange(len(self._classes)) if self._classes.exclusive else None

    def _model(self, train):
        model = super()._model(train)
        return model if self._classes is None else Outputs(model, len(self._classes))

    def _default_surrogates(self, metric, train):
        if self._classes is None:
            return super()._default_surrogates(metric, train)
        slices = self.slices or ()
        further = (slices,) if isinstance(slices, str) else tuple(slices)
        usual = [c for c in ("groups", "source") if c in train.side and c not in further]
        return class_losses("auto", self._classes, train, by=(*usual, *further))

    def _meant(self, surrogates, train):
        """Return what the user's surrogates mean for the classes that there are."""
        if self._classes is None:
            return surrogates
        return class_losses(surrogates, self._classes, train)

    def _method(self):
        """Return the method; not every descent trains many classes."""
        method = super()._method()
        if self._classes is None:
            return method
        unable = {"BoostedDescent"} if self._classes.exclusive else {"BoostedDescent", NETWORKS}
        if type(method).__name__ in unable:
            kind = "classes" if self._classes.exclusive else "labels"
            raise TypeError(
                f"{type(method).__name__} does not train {len(self._classes)} {kind}: use "
                "method='auto'."
            )
        return method

    def _plainest(self, problem):
        return (
            super()._plainest(problem) if self._classes is None else starts_classes.plain(problem)
        )

    def _plain_starts(self, ledger):
        if self._classes is None:
            return super()._plain_starts(ledger)
        problem = ledger.problem
        return [
            starts_classes.shifted(ledger, starts_classes.plain(problem)),
            starts_classes.plain(problem, 1.0),
        ]

    def _parameters(self, problem, given):
        """Return theta of each class's weights, then its intercept, on X as it is."""
        if self._classes is None:
            return super()._parameters(problem, given)
        table = np.reshape(given, (len(self._classes), -1))
        if not self.fit_intercept:
            return problem.model.parameters(table, np.zeros(len(table)))
        return problem.model.parameters(table[:, :-1], table[:, -1])

    def _fitted(self):
        if self._classes is None or not self.fit_intercept:
            return super()._fitted()
        return np.column_stack([self.coef_, self.intercept_]).ravel()

    def _diagnose_scores(self, problem, scores, comparisons=()):
        if self._classes is None:
            return super()._diagnose_scores(problem, scores, comparisons)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        near, theta = around(problem, scores)
        return diagnose(near, theta, self.summary_, rng, comparisons=comparisons)

    def _unpack_model(self, problem, solution):
        if self._classes is None or solution.scorer is not None:
            super()._unpack_model(problem, solution)
            return
        self.__dict__.pop("model_", None)
        self.coef_, self.intercept_ = problem.model.raw(solution.theta)

    def _set_coefficients(self, weights, offset):
        if self._classes is None:
            super()._set_coefficients(weights, offset)
        else:
            self.coef_, self.intercept_ = weights, offset

    def _scores(self, X):
        if self._classes is None or hasattr(self, "model_"):
            return super()._scores(X)
        product = self._checked(X) @ self.coef_.T + self.intercept_
        return np.asarray(product, dtype=np.float64)

    def _decided(self, scores):
        return (
            super()._decided(scores) if self._classes is None else self._classes.labels_of(scores)
        )
