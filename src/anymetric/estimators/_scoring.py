"""Scoring: scores, metric values and the diagnosis of a fitted estimator on new rows."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from anymetric.data import Data
from anymetric.diagnosis import around_scores, diagnose
from anymetric.estimators._columns import items, metadata_columns, reads, rule_columns
from anymetric.estimators._learned import (
    tree_gains,
)
from anymetric.estimators._rows import (
    FLOATS,
    as_matrix,
    as_target,
    checked_weights,
)
from anymetric.estimators._scorer import warn_if_maximised, weighed
from anymetric.estimators._stored import is_stored
from anymetric.estimators._units import unit_of
from anymetric.metrics import LimitValue
from anymetric.rules import TopRule


class ScoresRows:
    """Scores, the metric itself, limits and the diagnosis of new rows."""

    def _checked(self, X):
        check_is_fitted(self, "n_metric_calls_")
        return validate_data(
            self,
            self._table(X),
            accept_sparse="csr",
            dtype=FLOATS,
            reset=False,
            ensure_all_finite=self._finite(),
        )

    def _scores(self, X):
        if hasattr(self, "model_"):
            return self.model_.scores(as_matrix(self._checked(X)))
        product = self._checked(X) @ self.coef_.ravel() + np.ravel(self.intercept_)[0]
        return np.asarray(product, dtype=np.float64)

    def _ruled_scores(self, X, groups=None, side=None):
        """Return scores with the decision rule applied, which may read metadata."""
        scores, rule = self._scores(X), getattr(self, "decision_rule_", None)
        if rule is None or isinstance(rule, TopRule):  # the top is taken over all rows given
            return scores
        return rule.moved(scores, rule_columns(rule, scores, groups, side, type(self).__name__))

    def _metric_scores(self, X, groups, side):
        """Return the scores that the metric reads."""
        return self._ruled_scores(X, groups, side)

    def score(self, X, y=None, sample_weight=None, *, groups=None, side=None, **metadata) -> float:
        """Return the metric itself, in its own direction.

        Parameters
        ----------
        X : array-like of shape (n, d), or stored rows
            As in `fit`; stored rows for metrics of two classes that read nothing but counts.
        y : array-like of shape (n,)
        sample_weight, groups, side : optional
            As in `fit`.

        Returns
        -------
        float
        """
        warn_if_maximised(self.metric_)
        if is_stored(X):
            given = {"X": X, "y": y, "sample_weight": sample_weight, "groups": groups, "side": side}
            return self._score_stored({**given, **metadata})
        side = self._with_named(side, metadata)
        return self._valued(self.metric_, X, y, sample_weight, groups, side)

    def _with_named(self, side, metadata):
        """Return the metadata with the columns that were given by name."""
        given = {name: column for name, column in metadata.items() if column is not None}
        if not given:
            return side
        read = reads(self.metric)
        for name in given:
            if name not in read:
                raise TypeError(
                    f"{type(self).__name__} got an unexpected argument {name!r}: the metric reads "
                    f"the columns {', '.join(read) or 'none'}."
                )
        return {**dict(items(side, "side")), **given}

    def set_params(self, **params):
        """Set parameters; those of a model within are ``model__name``.

        Parameters
        ----------
        params : by name

        Returns
        -------
        self
        """
        nested = [name for name in params if name.startswith("model__")]
        model = params.get("model", getattr(self, "model", None))
        if nested and isinstance(model, str):
            raise ValueError(
                f"{nested[0]}: model={model!r} is a name, which has no parameters to set. Give the "
                "model itself: model=Boosted(...), or model=Reweighted(estimator), whose "
                "parameters are model__estimator__name."
            )
        return super().set_params(**params)

    @property
    def feature_importances_(self):
        """How much each feature lowered the loss of the trees, summing to one (see `model_`).

        Available if the model contains trees; linear models beside them are not counted.
        Importances for the metric itself: `sklearn.inspection.permutation_importance`.
        """
        gains = tree_gains(self.__dict__.get("model_"))
        if gains is None:
            raise AttributeError("feature_importances_ is available only for models with trees.")
        return gains

    def _get_metadata_request(self):
        requests = super()._get_metadata_request()
        for name in reads(self.metric):
            for method in (requests.fit, requests.score):
                method.add_request(param=name, alias=True)
        return requests

    def constraint_values(self, X, y, sample_weight=None, *, groups=None, side=None):
        """Return every limit of `subject_to` with its value on these rows.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        sample_weight, groups, side : optional
            As in `fit`.

        Returns
        -------
        tuple of LimitValue
        """
        limits = [one.limit for one in getattr(self, "constraints_", ())]
        given = X, y, sample_weight, groups, side
        return tuple(LimitValue(one, self._valued(one.metric, *given)) for one in limits)

    def _valued(self, metric, X, y, sample_weight, groups, side):
        """Return the value of a metric on rows."""
        scores = self._metric_scores(X, groups, side)
        check_consistent_length(X, y)
        y, scores, weights, columns, X = weighed(
            metric,
            self._encode_valid(as_target(y)),
            scores,
            None if sample_weight is None else checked_weights(sample_weight, scores),
            metadata_columns(scores, side, groups=groups),
            as_matrix(self._checked(X)),
        )
        bound = metric.bind(y, weights=weights, side=columns, labels=self._labels(), X=X)
        return float(bound.values(scores))

    def diagnose(
        self, X, y, *, sample_weight=None, groups=None, side=None, source=None, comparisons=()
    ):
        """Recommend this model or the baseline, and say how the surrogates explain the metric.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to probe on: validation rows, or any the model has not seen.
        y : array-like of shape (n,)
        sample_weight, groups, side, source : optional
            As in `fit`.
        comparisons : sequence of Comparison, optional
            With baselines, on rows that no method was trained on; `anymetric.report.gather` makes
            them. Without them the plain model is the baseline, on the validation rows.

        Returns
        -------
        Diagnosis
            Print it.
        """
        moved = bool(getattr(getattr(self, "decision_rule_", None), "needs", ()))
        known = hasattr(self, "model_") or moved
        scores = self._ruled_scores(X, groups, side) if known else None
        X = self._checked(X)
        y = self._encode_valid(as_target(y))
        columns = metadata_columns(X, side, groups=groups, source=source)
        data = Data(as_matrix(X), y, checked_weights(sample_weight, X), columns)
        problem = self._problem(self.metric_, data, data)
        if scores is not None:
            return self._diagnose_scores(problem, scores, comparisons)
        theta = self._fitted()
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        theta = self._parameters(problem, theta)
        return diagnose(problem, theta, self.summary_, rng, comparisons=comparisons)

    def _diagnose_scores(self, problem, scores, comparisons=()):
        """Probe around the scores of a model that has more to it than parameters."""
        scores = unit_of(problem.metric).small_scores(scores)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        here = around_scores(problem, scores)
        return diagnose(*here, self.summary_, rng, comparisons=comparisons)
