"""MetricClassifier: a linear classifier trained for any metric."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from anymetric import starts
from anymetric.estimators._defaults import default_slices
from anymetric.estimators._shell import MetricEstimator
from anymetric.metrics.calls import BoundCalls


class MetricClassifier(ClassifierMixin, MetricEstimator):
    """A linear classifier trained for the metric you care about.

    Parameters
    ----------
    metric : str, function, scikit-learn scorer or Metric, default="accuracy"
        A ready-made metric's name (`anymetric.metrics.metric_names()`), a scorer's name or
        object, or a function ``f(y_true, y_pred)``; one whose second argument is called
        ``y_score`` gets scores, and further arguments get the side columns of those names.
    surrogates : "auto", builder, loss, name or list, default="auto"
        ``auto``: the logistic loss per class, and per group and source where they are given. The
        default method reads their slices; the others also their losses.
    slices : str or list of str, optional
        Columns of `side` by which the rows are sliced too, with ``surrogates="auto"``: what such
        a slice is worth is learned like that of a group.
    method : "auto", "descent", "paper" or a part with a `run` method, default="auto"
        ``auto``: see `Auto`. ``descent``: Algorithm 1 with probes in the subspace that matters and
        second-order projections. ``paper``: Algorithm 1 with the paper's settings and tuning.
    greater_is_better : bool, optional
        For a function whose name does not tell.
    starts : int or array of shape (s, d + 1), default=0
        For the descents: random starts beside two logistic regressions, a plain one with the
        threshold that is best for the metric and a balanced one. Or your own, instead of them.
    standardize : bool, default=True
        Let the parameters live in standardised features; `coef_` is for X as it is.
    fit_intercept : bool, default=True
    use_validation : "auto" or bool, default="auto"
        For ``method="auto"``: whether the rows that judge train too, each judging only models that
        it did not train. ``auto`` lets such candidates in, and they count if they win; with True
        there are no others; False keeps the rows that judge for judging only.
    validation_fraction : float, default=0.2
        For the descents: share of the rows held out to judge when `fit` gets no validation data.
    max_metric_calls : int, optional
    n_jobs : int, optional
        Processes for the tuning runs of ``method="paper"``, and for the calls of a metric of
        yours that takes more than a few milliseconds. Each works with one thread: on a busy
        machine threads wait for each other longer than they work.
    verbose : int, default=0
        Lines a second of progress, on standard error.
    random_state : int, RandomState or None

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,)
    classes_ : array of shape (2,)
    weights_ : dict
        What each surrogate counted for in the loss that gave this model, summing to one. If a
        starting model was best: in the loss that it is nearest to minimising.
    surrogates_ : tuple of str
        The names of a profile's entries.
    row_shares_ : dict
        The share of the rows that each slice of `weights_` has, which a plain loss would give it;
        empty where the slices overlap.
    sample_weight_ : array of shape (n,)
        The learned loss as row weights, for any other learner (``method="auto"``); missing if no
        training row was worth anything.
    class_weight_ : dict
        The same as the mean weight of each class.
    history_ : list of dicts
        One row a turn.
    status_ : Status
        Why the run ended; ``status_.value`` says what to do.
    cost_, validation_score_ : float
        The metric on the rows that judged, as a cost and in its own direction.
    validation_ : str
        Which rows judged.
    n_metric_calls_ : int

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(500, weights=[0.9], random_state=0)
    >>> clf = MetricClassifier("f1", random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.5
    True
    """

    # The mixin's own score would come first.
    score = MetricEstimator.score
    _parameter_constraints: ClassVar[dict] = {
        **MetricEstimator._parameter_constraints,
        "slices": [str, list, tuple, None],
    }

    def __init__(
        self,
        metric="accuracy",
        *,
        surrogates="auto",
        slices=None,
        method="auto",
        greater_is_better=None,
        starts=0,
        standardize=True,
        fit_intercept=True,
        use_validation="auto",
        validation_fraction=0.2,
        max_metric_calls=None,
        n_jobs=None,
        verbose=0,
        random_state=None,
    ) -> None:
        self.slices = slices
        super().__init__(
            metric,
            surrogates=surrogates,
            method=method,
            greater_is_better=greater_is_better,
            starts=starts,
            standardize=standardize,
            fit_intercept=fit_intercept,
            use_validation=use_validation,
            validation_fraction=validation_fraction,
            max_metric_calls=max_metric_calls,
            n_jobs=n_jobs,
            verbose=verbose,
            random_state=random_state,
        )

    def decision_function(self, X) -> np.ndarray:
        """Return the scores: positive for ``classes_[1]``.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        array of shape (n,)
        """
        return self._scores(X)

    def predict(self, X) -> np.ndarray:
        """Return the predicted labels.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        array of shape (n,)
        """
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(int)]

    def _encode(self, y):
        check_classification_targets(y)
        kind = type_of_target(y, input_name="y", raise_unknown=True)
        classes = np.unique(y)
        if kind != "binary":
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}: y has "
                f"{len(classes)} classes. Many classes are coming; until then, "
                "sklearn.multiclass.OneVsRestClassifier around this estimator trains one model a "
                "class."
            )
        self.classes_ = classes
        return np.where(y == classes[-1], 1.0, -1.0)

    def _check_target(self, data):
        if len(np.unique(data.y)) < 2:
            only = self.classes_[-1 if data.y[0] > 0 else 0]
            raise ValueError(
                f"y has only one class among the rows of positive weight: {str(only)!r}. A "
                "classifier needs two classes."
            )

    def _encode_valid(self, y):
        new = sorted(set(np.unique(y).tolist()) - set(self.classes_.tolist()))
        if new:
            raise ValueError(
                f"The labels {new} were never seen in training, which had {self.classes_.tolist()}."
            )
        return np.where(y == self.classes_[1], 1.0, -1.0)

    def _problem(self, metric, train, valid):
        problem = super()._problem(metric, train, valid)
        if len(np.unique(valid.y)) == 1 and not isinstance(problem.judge, BoundCalls):
            either = np.array([1.0, -1.0]) * np.ones((len(valid), 1))
            if np.ptp(problem.judge.costs(either)) == 0.0:
                raise ValueError(
                    f"The {len(valid)} rows that judge are all of the class "
                    f"{str(self.classes_[int(valid.y[0] > 0)])!r}: there the metric "
                    f"{metric.name!r} is the same whatever is predicted."
                )
        return problem

    def _strata(self, data):
        group = data.side.get("groups")
        if group is None:
            return data.y
        return 2 * np.unique(group, return_inverse=True)[1] + (data.y > 0)

    def _labels(self):
        return tuple(self.classes_.tolist())

    def _default_surrogates(self, metric, train):
        return default_slices(train, by=self.slices or ())

    def _plainest(self, problem):
        return starts.plain(problem)

    def _plain_starts(self, ledger):
        # Moving the threshold never costs more on the rows that judge, so neither does the result.
        plain = starts.shifted(ledger, self._plainest(ledger.problem))
        return [plain, starts.balanced(ledger.problem)]

    def _set_coefficients(self, weights, offset):
        self.coef_ = weights[np.newaxis, :]
        self.intercept_ = np.array([offset])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
