"""Unpacked: from a solution to the attributes of a fitted estimator."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from anymetric.estimators._exports import learned_of
from anymetric.estimators._families import families
from anymetric.estimators._learned import (
    learned_weights,
    readers,
    row_shares,
    warn_if_clipped,
    warn_if_collinear,
    warn_if_flat,
    warn_if_unread,
)
from anymetric.estimators._limits import trade_off, values_on, warn_if_broken
from anymetric.history import History
from anymetric.ledger import Probe
from anymetric.models.ensemble import single_linear
from anymetric.solution import Iteration, Solution, Status


class Unpacks:
    """Write the result of a run as fitted attributes."""

    def _unevaluated(self, problem, calls):
        """Return a plain model that was not evaluated, where nothing else is available."""
        theta = self._plainest(problem)
        here = Probe(theta, problem.profile(theta), math.nan)
        iteration = Iteration(0, 0, here, here.profile, calls=calls)
        return Solution(iteration, Status.FAILED, (iteration,), calls)

    def _unpack(self, problem, solution):
        """Write the fitted attributes."""
        self._unpack_model(problem, solution)
        self.cost_ = solution.cost
        self.validation_score_ = float(problem.metric.value(solution.cost))
        self._unpack_limits(problem, solution)
        self.status_ = solution.status
        self.history_ = History(solution.history, problem.names)
        self.surrogates_ = problem.names
        self.weights_ = solution.weights or learned_weights(problem, solution.best)
        self.row_shares_ = row_shares(problem, self.weights_)
        self.summary_ = solution.summary
        self.__dict__.pop("decision_rule_", None)
        if solution.rule is not None:
            self.decision_rule_ = solution.rule
        self.n_metric_calls_ = solution.calls
        self._unpack_rows(problem, solution)
        own = not (isinstance(self.surrogates, str) and self.surrogates == "auto")
        if (
            solution.scorer is None and own
        ):  # no warning about surrogates that the user did not choose
            warn_if_collinear(problem, solution.theta)
        if own:
            warn_if_unread(problem, self._method())
        warn_if_flat(self, solution)
        warn_if_clipped(self)

    def _unpack_limits(self, problem, solution):
        """Write the values of the limits; cost and score are then the objective's."""
        for name in ("constraints_", "trade_off_"):
            self.__dict__.pop(name, None)
        rows, scores = solution.out_of_fold or (problem.valid, None)
        if scores is None and solution.scorer is None:
            scores = problem.validation_scores(solution.theta)
        found = None if scores is None else values_on(replace(problem, valid=rows), scores)
        if found is not None:
            self.validation_score_, self.constraints_ = found
            self.cost_ = float(self.metric_.cost(self.validation_score_))
            table = trade_off(replace(problem, valid=rows), scores)
            if table is not None:
                self.trade_off_ = table
            warn_if_broken(self.constraints_)

    def _unpack_model(self, problem, solution):
        """Write the coefficients of a linear answer, or the model itself; sometimes both."""
        for name in ("coef_", "intercept_", "model_"):
            self.__dict__.pop(name, None)
        if solution.scorer is None:
            weights, offset = self._coefficients(problem, solution.theta)
            self._set_coefficients(weights, float(offset))
            return
        scorer = self._in_units(problem, solution.scorer)
        linear = single_linear(scorer)
        if linear is not None:
            self._set_coefficients(*linear)
        if linear is None or families(self._families())[0] or readers(scorer):
            self.model_ = scorer

    def _in_units(self, problem, scorer):
        """Return the scorer in the units of y."""
        return scorer

    def _unpack_rows(self, problem, solution):
        """Write the learned loss as `sample_weight` and `class_weight` for other learners."""
        n, kept = self.__dict__.pop("_given_rows", (0, None))
        given = self.__dict__.pop("_given_validation", (0, None))
        for name in ("sample_weight_", "sample_weight_val_", "class_weight_", "_learned"):
            self.__dict__.pop(name, None)
        self._learned = learned_of(self, problem, solution)
        if solution.validation_weights is not None and given[1] is not None:
            alone = solution.row_weights is None or kept is None
            self.sample_weight_val_ = np.zeros(given[0])
            unit = len(given[1]) if alone else len(kept)
            self.sample_weight_val_[given[1]] = unit * solution.validation_weights
        if solution.row_weights is None or kept is None:
            return
        learned = np.zeros(n)
        learned[kept] = solution.row_weights * len(kept) / solution.row_weights.sum()
        self.sample_weight_ = learned
        codes = self._codes()
        if codes is not None:
            shares = [learned[kept][problem.train.y == code].mean() for code in codes]
            labels = self.classes_.tolist() if len(codes) > 2 else self._labels()
            self.class_weight_ = dict(zip(labels, map(float, shares), strict=True))

    def _codes(self):
        """Return the codes of the classes, in order; None where there are none."""
        return None
