"""Methods: what `method`, `model`, `starts` and `standardize` mean for a fit."""

from __future__ import annotations

import numbers
from dataclasses import replace
from typing import ClassVar

import numpy as np
from scipy import sparse

from anymetric import starts
from anymetric.auto import Auto
from anymetric.auto.records import LINEAR
from anymetric.descent import Descent
from anymetric.estimators._families import descent_over, families, reads_missing, with_categories
from anymetric.estimators._learned import (
    warn_if_large,
)
from anymetric.gradients import LinearInterpolation, Subspace
from anymetric.losses import Sigmoid
from anymetric.method import check_method
from anymetric.models import Linear
from anymetric.models.tables import Plain
from anymetric.notebook import NotebookDescent
from anymetric.projections import LBFGS, Adagrad, GaussNewton
from anymetric.tuning import Tuned

METHODS = {
    "auto": lambda n_jobs: Auto(),
    "descent": lambda n_jobs: Descent(
        iterations=60,
        step=0.1,
        gradient=Subspace(),
        projection=GaussNewton(iterations=10, otherwise=LBFGS(iterations=30)),
        decay=0.3,
        normalised=True,
    ),
    "paper": lambda n_jobs: Tuned(
        Descent(gradient=LinearInterpolation(), projection=Adagrad()), n_jobs=n_jobs
    ),
    "notebook": lambda n_jobs: NotebookDescent(),
}
# Published methods, and their loss by class and group.
PUBLISHED = {"paper": "hinge", "notebook": Sigmoid(1.5)}


class ChoosesMethod:
    """Choose the method, the model family and the starting points from the settings."""

    # The settings of trees that the user names without giving them.
    _trees: ClassVar[dict] = {}

    def _model(self, train):
        """Return the model family, on standardised features if set."""
        if families(self._families())[0] or (self._reads_missing() and self._has_missing(train.X)):
            return Linear(self.fit_intercept)  # its parameters are not used
        return self._linear(train)

    def _has_missing(self, X):
        """Return whether X has missing values or categories."""
        values = X.data if sparse.issparse(X) else X
        return bool(self._category_places()) or bool(np.isnan(np.min(values, initial=0.0)))

    def _linear(self, train):
        if not self._standardized():
            if self.standardize == "auto":
                warn_if_large(train.X, self.method)
            return Linear(self.fit_intercept)
        return Linear.standardised(train.X, train.weights, intercept=self.fit_intercept)

    def _standardized(self):
        """Return whether parameters are those of standardised features."""
        return self.standardize is True or (self.standardize == "auto" and not self._published())

    def _published(self):
        """Return the loss of a published method; None for any other."""
        method = getattr(self, "method", None)
        return PUBLISHED.get(method) if isinstance(method, str) else None

    def _starts(self, ledger, rng):
        """Return the first models: plain ones and random ones, or the user's."""
        problem = ledger.problem
        if isinstance(self.starts, numbers.Integral):
            plain = [np.zeros(problem.size)] if self._published() else self._plain_starts(ledger)
            return plain + starts.scattered(problem, self.starts, rng)
        given = np.atleast_2d(np.asarray(self.starts, dtype=np.float64))
        if given.shape[1] != problem.size or not np.all(np.isfinite(given)):
            raise ValueError(
                f"Each of `starts` must be {problem.size} finite parameters (weights, then the "
                f"intercept if there is one); got an array of shape {given.shape}."
            )
        return [self._parameters(problem, theta) for theta in given]

    def _method(self):
        """Return the method that solves the problem."""
        if not hasattr(self, "method"):  # a subclass that overrides `_run`
            return None
        if isinstance(self.method, str):
            if self.method not in METHODS:
                raise ValueError(
                    f"method must be one of {sorted(METHODS)}, or a part such as Descent(...); "
                    f"got {self.method!r}."
                )
            method = METHODS[self.method](self.n_jobs)
            if isinstance(method, Tuned):
                steps, sigmas = self._paper_grid
                method = replace(method, steps=steps, sigmas=sigmas)
        else:
            method = check_method(self.method)
        if isinstance(method, Auto):
            return self._over_families(method)
        name = self.method if isinstance(self.method, str) else type(method).__name__
        return descent_over(families(self._families(), self._trees)[0], method, name)

    def _families(self):
        """Return what `model` means: ``auto`` is linear for all methods but the default."""
        model = getattr(self, "model", LINEAR)
        lines_only = isinstance(model, str) and model == "auto" and not self._by_default()
        return LINEAR if lines_only else model

    def _by_default(self):
        """Return whether the default method trains."""
        method = getattr(self, "method", None)
        return isinstance(method, Auto) or (isinstance(method, str) and method == "auto")

    def _reads_missing(self):
        """Return whether missing values and categories are read."""
        model = self._families()
        lines = isinstance(model, str) and model == LINEAR
        return self._by_default() if lines else reads_missing(model)

    def _over_families(self, auto):
        """Return the default method for the families that `model` names."""
        own = {
            name: getattr(self, name)
            for name, default in (("use_validation", "auto"), ("max_seconds", None))
            if getattr(self, name, default) != default
        }
        places = tuple(self._category_places())
        learners, linear = families(self._families(), self._trees)
        return replace(
            auto,
            learners=auto.learners or tuple(with_categories(one, places) for one in learners),
            linear=linear and auto.linear,
            categorical=places,
            standardize=self._standardized(),
            **own,
        )

    def _category_places(self):
        """Return the columns that a data frame calls categories."""
        return list(getattr(self, "_category_at", ()))

    def _readable(self, X):
        """Return X as a linear model reads it: missing values filled, categories encoded."""
        plain = Plain.of(X, tuple(self._category_places()))
        return X if plain is None or plain.idle else plain.table(X)
