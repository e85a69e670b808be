"""MetricRanker: a scoring function trained for any ranking metric."""

from __future__ import annotations

from typing import Any

import numpy as np

from anymetric import starts
from anymetric.estimators._defaults import default_by_query, default_ranking
from anymetric.estimators._queries import TakesQueries, starts_by_query
from anymetric.estimators._rows import real
from anymetric.estimators._shell import MetricEstimator
from anymetric.estimators._two import check_validation_classes
from anymetric.tuning import RANKING_SIGMAS, RANKING_STEPS


class MetricRanker(TakesQueries, MetricEstimator):
    """A scoring function trained for a ranking metric.

    All rows are ranked together, or with ``query`` those of each query by themselves. A row is
    relevant if its y is above the smallest value of y; metrics and surrogates by query read
    grades of relevance too, and a function of yours gets y as it is.

    Parameters
    ----------
    metric : str, function, scikit-learn scorer or Metric, default="average_precision"
        With ``query``: ``"ndcg@5"``, ``"mrr"``, ``"map"``, ``"query_precision@5"``...; then the
        names ``"precision@5"`` and ``"average_precision"`` mean the mean over queries too, while
        the parts ``PrecisionAtK(5)`` and ``AveragePrecision()`` still mean all rows together.
    model : "auto", "linear", "boosted" or a family, default="auto"
        As in `MetricClassifier`. With ``query`` trees are boosted on the surrogates' gradients,
        which only `Boosted(...)` among the families can.
    surrogates : "auto", surrogate, builder or list, default="auto"
        ``auto``: precision at recall 0.25, 0.5 and 0.75, and the logistic loss per class. With
        ``query``: logistic and hinge losses of pairs, ListNet's softmax, average precision at
        several k and precision at half the recall, all within each query. Without queries these
        are for the descents: ``method="auto"`` uses only their slices and loss.
    method, greater_is_better, starts, standardize, fit_intercept, use_validation, \
validation_fraction, max_metric_calls, max_seconds, on_error, n_repeats, ledger, n_jobs, \
verbose, random_state
        As in `MetricClassifier`.

    Attributes
    ----------
    coef_, intercept_ : array of shape (d,) and float
        For a linear model: always with ``model="linear"``.
    model_ : Scorer
        The model itself, unless ``model="linear"``.
    weights_, surrogates_, row_shares_, history_, status_, cost_, validation_score_, \
validation_, summary_, n_metric_calls_
        As in `MetricClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(500, weights=[0.9], random_state=0)
    >>> MetricRanker("prbep", random_state=0).fit(X, y).validation_score_ > 0.5
    True

    Fifty queries of ten rows each, and two surrogates within them:

    >>> from anymetric.surrogates import Pairwise, Softmax
    >>> query = np.repeat(np.arange(50), 10)
    >>> ranker = MetricRanker("ndcg@5", surrogates=[Pairwise(), Softmax()], random_state=0)
    >>> ranker.fit(X, y, query=query).validation_score_ > 0.5
    True
    """

    def __init__(
        self,
        metric: Any = "average_precision",
        *,
        model: Any = "auto",
        surrogates: Any = "auto",
        method: Any = "auto",
        greater_is_better: bool | None = None,
        starts: Any = 0,
        standardize: Any = "auto",
        fit_intercept: bool = True,
        use_validation: Any = "auto",
        validation_fraction: float = 0.2,
        max_metric_calls: int | None = None,
        max_seconds: float | None = None,
        on_error: Any = "skip",
        n_repeats: Any = "auto",
        ledger: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            metric,
            model=model,
            surrogates=surrogates,
            method=method,
            greater_is_better=greater_is_better,
            starts=starts,
            standardize=standardize,
            fit_intercept=fit_intercept,
            use_validation=use_validation,
            validation_fraction=validation_fraction,
            max_metric_calls=max_metric_calls,
            max_seconds=max_seconds,
            on_error=on_error,
            n_repeats=n_repeats,
            ledger=ledger,
            n_jobs=n_jobs,
            verbose=verbose,
            random_state=random_state,
        )

    _paper_grid = RANKING_STEPS, RANKING_SIGMAS

    def predict(self, X) -> np.ndarray:
        """Return the scores: rows to be put first have the highest.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        array of shape (n,)
        """
        return self._scores(X)

    def _encode(self, y):
        self.least_ = float(real(y).min())
        return self._encode_valid(y)

    def _check_target(self, data):
        if len(np.unique(data.y)) < 2:
            raise ValueError(
                "All rows of positive weight are of one class: a ranker needs relevant rows "
                "(y above its smallest value) and others."
            )

    def _encode_valid(self, y):
        return np.where(real(y) > self.least_, 1.0, -1.0)

    def _problem(self, metric, train, valid):
        problem = super()._problem(metric, train, valid)
        if "query" not in valid.side:
            check_validation_classes(problem, ("irrelevant", "relevant"))
        return problem

    def _strata(self, data):
        return data.y

    def _labels(self):
        return (0, 1)

    def _default_surrogates(self, metric, train):
        if "query" in train.side:
            return default_by_query(metric, train)
        return default_ranking()[:-1] if self._published() else default_ranking()

    def _plainest(self, problem):
        return starts.plain(problem)

    def _plain_starts(self, ledger):
        problem = ledger.problem
        if "query" in problem.train.side:
            return starts_by_query(problem)
        return [self._plainest(problem), starts.balanced(problem)]

    def _set_coefficients(self, weights, offset):
        self.coef_ = weights
        self.intercept_ = offset
