"""Certifying: the estimator's part of limits with a confidence: rows that only certify."""

from __future__ import annotations

from dataclasses import replace

from anymetric.estimators._certificates import (
    by_order,
    certified,
    claims_of,
    plain_goal,
    split_certifying,
    warn_if_uncertain,
)
from anymetric.metrics import as_metric


class Certifies:
    """Hold rows apart for certificates, and certify the solution on them."""

    def _split_certifying(self, given, valid, rng):
        """Return the rows for cross-fitted training and selection, and those that certify."""
        method = self._method()
        if method is None or not method.cross_fits:
            raise ValueError(
                "A limit with a confidence needs a method that cross-fits the training rows, so "
                f"that validation rows only certify: method='auto'; got {self.method!r} with "
                f"use_validation={self.use_validation}."
            )
        if valid is not given:
            train, certifying = given, valid
        else:
            rows, held = split_certifying(self._strata(given), self.validation_fraction, rng)
            self._given_rows = self._given_rows[0], self._given_rows[1][rows]
            train, certifying = given.take(rows), given.take(held)
        self.validation_ = (
            f"{len(certifying)} rows certify and are not used otherwise; the {len(train)} training "
            "rows are cross-validated, each scored out-of-fold."
        )
        return train, certifying

    def _certify(self, problem, solution, rows, rng):
        """Certify on separate rows; return the solution at the certified threshold."""
        goal = self._goal()
        given = claims_of(goal), plain_goal(goal), rows, self._labels()
        if by_order(goal):
            order = replace(problem, metric=as_metric("average_precision"))
            found, certificates = certified(order, self._run(order, rng), *given)
            if all(one.certified for one in certificates):
                self.certificates_ = certificates
                return replace(found, best=solution.best, rule=solution.rule)
            certificates = certified(problem, solution, *given)[1]
            self.certificates_ = tuple(replace(one, certified=False) for one in certificates)
        else:
            solution, self.certificates_ = certified(problem, solution, *given)
        warn_if_uncertain(self.certificates_)
        return solution

    @property
    def certificate_(self):
        """The certificate of the limit with a confidence; print it.

        Of several, the first that does not hold, or the first.
        """
        found = self.__dict__.get("certificates_")
        if not found:
            raise AttributeError(
                "certificate_ exists after fit with a limit that has a confidence: "
                "subject_to=at_least('precision', 0.8, confidence=0.9)."
            )
        return min(found, key=lambda one: one.certified)
