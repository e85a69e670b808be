"""Exports: what a fit has learned, in the forms that other learners and runtimes take."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from anymetric.estimators._scorer import MetricScorer, coded, direction, metadata, scores_of
from anymetric.estimators._units import InUnit, unit_of
from anymetric.exports.record import Learned
from anymetric.exports.weights import row_weights
from anymetric.metrics import Classes

USE_AUTO = "the learned loss is exported after method='auto'"


class Exports:
    """The learned loss, the metric, the decision rule and the model itself, for use elsewhere."""

    def export_objective(self, library):
        """Return the learned loss as an objective of another library: a small picklable object.

        It is the mean loss of the candidates in the answer by their shares; rows that bring a
        weight count by that weight (`sample_weight_`, `export_weights`), rows without one by the
        learned weight of their class. It is not the average of their models: a booster that
        minimises it is one model, and needs a threshold of its own (`export_decision`).

        Parameters
        ----------
        library : {"lightgbm", "xgboost", "catboost"}
            LightGBM and XGBoost call it ``objective`` (of their estimators, or of ``train`` as
            ``objective`` and ``obj``), CatBoost ``loss_function``.

        Returns
        -------
        Objective or CatBoostObjective
        """
        from anymetric.exports.objectives import objective_for

        return objective_for(library, self._learned_loss())

    def export_metric(self, library, *, groups=None, side=None):
        """Return the metric as an evaluation function of another library, its threshold tuned.

        Of two classes the metric is taken at the best threshold of the rows that are evaluated.

        Parameters
        ----------
        library : {"lightgbm", "xgboost", "catboost", "sklearn"}
            ``sklearn`` is a scorer, which takes `groups` and `side` by metadata routing.
        groups, side : optional
            Metadata that the metric reads, of the rows that are evaluated and in their order.

        Returns
        -------
        callable
        """
        from anymetric.exports.evaluation import Evaluation, metric_for
        from anymetric.exports.target import columns_of

        target = self._export_target(self.metric_)
        if library == "sklearn":
            return TunedScorer(self.metric_, Evaluation(target))
        given = [column for column in (groups, *(side or {}).values()) if column is not None]
        n = len(np.asarray(given[0])) if given else 0
        return metric_for(library, target, columns_of(n, groups, side))

    def export_weights(self):
        """Return the learned weights of new rows, by class, group and source.

        Returns
        -------
        RowWeights
            Call it: ``weights(y, groups=..., source=...)``. Of the training rows themselves,
            `sample_weight_` is exact, and `sample_weight_val_` of the validation rows.
        """
        return self._what_was_learned().weights

    def export_class_weight(self):
        """Return the learned weight of each class, as scikit-learn's ``class_weight`` takes it.

        Returns
        -------
        dict
        """
        by_class = self._what_was_learned().weights.by_class
        if not by_class or None in by_class:
            raise ValueError("class_weight is of classes, and y holds numbers or sets of labels.")
        return by_class

    def export_decision(self):
        """Return our decision rule for the scores of another model.

        Returns
        -------
        Decision
            ``decision.tune(scores, y)`` places it on scores of rows that did not train that model
            (`anymetric.exports.cross_fit`), ``predict(scores)`` applies it.
        """
        from anymetric.exports.decision import Decision

        check_is_fitted(self, "n_metric_calls_")
        method = self._method()
        return Decision(self._export_target(self._goal()), getattr(method, "decision", "auto"))

    def to_onnx(self, *, decision=True, dtype="float32"):
        """Return the fitted model as an ONNX model, its decision rule inside.

        Parameters
        ----------
        decision : bool
            Whether the graph decides. False leaves scores, and probabilities of a classifier.
        dtype : {"float32", "float64"}
            Of the input ``X``; sums are in double precision either way.

        Returns
        -------
        onnx.ModelProto
        """
        from anymetric.exports.onnx.export import to_onnx

        check_is_fitted(self, "n_metric_calls_")
        return to_onnx(self, decision=decision, dtype=dtype)

    def _what_was_learned(self):
        check_is_fitted(self, "n_metric_calls_")
        learned = self.__dict__.get("_learned")
        if learned is None:
            asked = f"{type(self).__name__}(method={self.method!r}, metric={self.metric_.name!r})"
            raise ValueError(f"{asked} has no loss by row to export: {USE_AUTO}, not by query.")
        return learned

    def _learned_loss(self):
        from anymetric.exports.loss import LearnedLoss

        learned, labels = self._what_was_learned(), self._labels()
        if isinstance(labels, Classes) and not labels.exclusive:
            raise ValueError(
                f"y has {len(labels)} labels a row, and boosters take one target: train one model "
                "a label, or give export_weights() to a learner of several."
            )
        classes = 0 if labels is None else len(labels)
        weights = () if labels is None else tuple(self._class_weights(learned.weights.by_class))
        return LearnedLoss(learned.losses, classes, weights, learned.unit)

    def _class_weights(self, by_class):
        return [by_class.get(label, 1.0) for label in self.classes_.tolist()]

    def _export_target(self, metric):
        from anymetric.exports.target import Target

        check_is_fitted(self, "n_metric_calls_")
        labels, unit = self._labels(), getattr(self.__dict__.get("_learned"), "unit", None)
        known = () if labels is None else tuple(self.classes_.tolist())
        if labels is None and unit is not None:
            metric = InUnit(metric, unit)
        return Target(metric, labels, known, unit if labels is None else None)


class TunedScorer(MetricScorer):
    """A scorer whose threshold is tuned on the rows that are scored; greater is better."""

    def __init__(self, metric, evaluation):
        super().__init__(metric)
        self.evaluation = evaluation

    def __repr__(self):
        return f"scorer({self.metric!r}, tuned threshold)"

    def _score(self, method_caller, estimator, X, y_true, **kwargs):
        if not self.metric.decides or isinstance(self.evaluation.target.labels, Classes):
            return super()._score(method_caller, estimator, X, y_true, **kwargs)
        from anymetric.exports.target import columns_of

        y, labels = coded(estimator, np.asarray(y_true))
        given = {name: column for name, column in kwargs.items() if column is not None}
        scores = direction(estimator, labels) * scores_of(estimator, X, **metadata(given))
        columns = columns_of(len(y), given.get("groups"), given.get("side"))
        weight = given.get("sample_weight")
        return self._sign * self.evaluation.of_codes(y, scores, weight, columns)


def learned_of(fitted, problem, solution):
    """Return what the answer's loss comes to; None where no loss by row was learned."""
    if not solution.losses or (
        solution.row_weights is None and solution.validation_weights is None
    ):
        return None
    unit = unit_of(problem.metric) if isinstance(problem.metric, InUnit) else None
    train, valid, rows, clean = problem.train, problem.valid, solution.row_weights, None
    if rows is not None:
        rows = rows * len(train) / rows.sum()
    if solution.validation_weights is not None:
        size = len(valid) if rows is None else len(train)
        clean = names_of(problem, valid), size * solution.validation_weights, valid.side
    cells = row_weights(names_of(problem, train), rows, train.side, clean)
    return Learned(cells, solution.losses, unit)


def names_of(problem, data):
    """Return each row's label as the user knows it; None of numbers and sets of labels."""
    labels = problem.labels
    if labels is None or (isinstance(labels, Classes) and not labels.exclusive):
        return None
    codes = data.y if isinstance(labels, Classes) else data.y > 0.0
    return np.asarray(labels)[codes.astype(int)]
