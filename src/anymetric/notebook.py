"""Notebook: Algorithm 1 step by step as the authors' notebook runs it, its errors included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from anymetric.descent import Descent, FirstEstimate, Watcher
from anymetric.gradients import Estimate, GradientEstimator, LinearInterpolation
from anymetric.ledger import Ledger
from anymetric.projections import Adagrad, Projector
from anymetric.solution import Iteration, Solution


@dataclass(frozen=True)
class NotebookDescent(Descent):
    """The authors' published loop: what `method="notebook"` runs.

    It departs from the paper's text in five places: perturbations are one-sided, with a constant
    in the fit, and do not perturb the intercept; one Adagrad state is kept for all
    projections; the step in surrogate space is the inner solver's; every surrogate of a class
    steps from the value of that class's last group, not from its own; and only every tenth
    iterate is evaluated on the validation rows.

    Parameters
    ----------
    iterations, step, gradient, projection, decay, normalised, patience
        As in `Descent`, with the notebook's values.
    shared_origin : bool
        Whether all surrogates of a class, which is one half of the profile, step from the value of
        the last of them. False: each steps from its own, as in the paper.
    every : int
        Iterates 1, 1 + every, 1 + 2 every ... may become the model.

    Examples
    --------
    >>> from anymetric.data import Data
    >>> from anymetric.losses import Sigmoid
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.problem import Problem
    >>> from anymetric.surrogates import per_class_and_group
    >>> rng = np.random.default_rng(0)
    >>> X, groups = rng.normal(size=(300, 2)), rng.integers(2, size=300)
    >>> data = Data(X, np.where(X[:, 0] > 1.0, 1.0, -1.0), side={"groups": groups})
    >>> problem = Problem(data, per_class_and_group(Sigmoid(1.5)), as_metric("gmean"))
    >>> run = NotebookDescent(iterations=21).run(Ledger(problem), [np.zeros(3)], rng)
    >>> run.best.number in (1, 11, 21), run.cost < 0.1
    (True, True)
    """

    step: float = 1.0
    gradient: GradientEstimator = field(
        default_factory=lambda: LinearInterpolation(m=100, sigma=1.0, sides="one")
    )
    projection: Projector = field(default_factory=lambda: Adagrad(persistent=True))
    shared_origin: bool = True
    every: int = 10

    def advance(
        self,
        ledger: Ledger,
        last: Iteration,
        rng: np.random.Generator,
        estimate: Estimate | None = None,
    ) -> Iteration:
        """Take one iteration from where the notebook steps."""
        profile, gradient = last.here.profile, self.gradient
        groups = len(profile) // 2
        if self.shared_origin and 2 * groups == len(profile):
            profile = np.repeat(profile[groups - 1 :: groups], groups)
        intercept = bool(getattr(ledger.problem.model, "intercept", True))
        if intercept and isinstance(gradient, LinearInterpolation):
            gradient = replace(gradient, coordinates=range(len(last.theta) - 1))
        plain = Descent(self.iterations, self.step, gradient, self.projection)
        return plain.advance(ledger, replace(last, point=profile), rng, estimate)

    def run(
        self,
        ledger: Ledger,
        starts: Sequence[NDArray[np.float64]],
        rng: np.random.Generator,
        watch: Watcher | None = None,
        known: Sequence[FirstEstimate] | None = None,
    ) -> Solution:
        """Run from every start and keep the best of the iterates that are evaluated."""
        found = super().run(ledger, starts, rng, watch, known)
        seen = [
            iteration
            for iteration in found.iterations
            if iteration.number % self.every == 1 % self.every
        ]
        return (
            replace(found, best=min(seen, key=lambda iteration: iteration.cost)) if seen else found
        )
