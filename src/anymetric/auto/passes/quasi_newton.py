"""Quasi-Newton steps that are asked and told, so that many fits share each pass over the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from anymetric.solvers import positive_definite

Floats64 = NDArray[np.float64]
#: From a gradient to a step: an approximate inverse of the curvature.
Inverse = Callable[[Floats64], Floats64]
# Pairs of steps and changes of the gradient that are kept.
PAIRS = 10
# The least part of the predicted gain that a step must bring, and the shortest step.
ENOUGH, SHORTEST = 1e-4, 1e-8
# A step that gains no more than this part of what the one before was to gain is slow.
SLOW = 0.1


@dataclass(frozen=True, eq=False)
class QuasiNewton:
    """The state of one fit: `trial` is to be evaluated, and `told` returns the next state.

    L-BFGS steps over a given approximation of the curvature. Where that comes from a sample of the
    rows, the first steps are nearly Newton's.

    Attributes
    ----------
    theta : array of shape (p,)
        The best point.
    trial : array of shape (p,)
        Where the objective is to be evaluated.
    inverse : callable
    tolerance : float
        The relative gain below which one last step is taken unseen.
    done : bool
        Whether `theta` is final.
    slow : bool
        Whether the last step gained little: the curvature may be wrong.

    Examples
    --------
    >>> state = QuasiNewton.begin(np.array([5.0]), lambda g: g / 3.0)
    >>> while not state.done:
    ...     x = state.trial
    ...     state = state.told(float(x @ x), 2.0 * x)
    >>> bool(abs(state.theta[0]) < 1e-6)
    True
    """

    theta: Floats64
    trial: Floats64
    inverse: Inverse
    tolerance: float = 1e-10
    value: float = np.inf
    gradient: Floats64 | None = None
    gain: float = np.inf
    length: float = 1.0
    pairs: tuple[tuple[Floats64, Floats64], ...] = ()
    done: bool = False
    slow: bool = False

    @classmethod
    def begin(cls, theta: Floats64, inverse: Inverse, tolerance: float = 1e-10) -> QuasiNewton:
        """Begin at a point that is not evaluated yet."""
        return cls(theta, theta, inverse, tolerance)

    def told(self, value: float, gradient: Floats64) -> QuasiNewton:
        """Return the state after `trial` was evaluated."""
        if self.gradient is None:
            return self._at(value, gradient, ())
        if not value <= self.value - 2.0 * ENOUGH * self.length * self.gain:
            return self._halved()
        pair = self.trial - self.theta, gradient - self.gradient
        pairs = self.pairs
        if float(pair[0] @ pair[1]) > 1e-12 * float(np.linalg.norm(pair[0])) ** 2:
            pairs = (*pairs, pair)[-PAIRS:]
        return self._at(value, gradient, pairs)

    def curved(self, inverse: Inverse) -> QuasiNewton:
        """Go on from `theta` with another approximation of the curvature."""
        if self.gradient is None or self.done:
            return replace(self, inverse=inverse)
        return replace(self, inverse=inverse)._at(self.value, self.gradient, (), self.theta)

    def _at(
        self,
        value: float,
        gradient: Floats64,
        pairs: tuple[tuple[Floats64, Floats64], ...],
        theta: Floats64 | None = None,
    ) -> QuasiNewton:
        theta = self.trial if theta is None else theta
        step = direction(gradient, pairs, self.inverse)
        gain = 0.5 * float(gradient @ step)
        here = replace(self, theta=theta, trial=theta - step, value=value, gradient=gradient)
        here = replace(here, gain=gain, length=1.0, pairs=pairs, slow=gain > SLOW * self.gain)
        if gain > self.tolerance * max(1.0, abs(value)):
            return here
        sound = np.isfinite(gain) and gain >= 0.0
        return replace(here, theta=here.trial if sound else theta, done=True)

    def _halved(self) -> QuasiNewton:
        length = 0.5 * self.length
        trial = self.theta + 0.5 * (self.trial - self.theta)
        return replace(self, trial=trial, length=length, slow=True, done=length < SHORTEST)


def direction(
    gradient: Floats64, pairs: tuple[tuple[Floats64, Floats64], ...], inverse: Inverse
) -> Floats64:
    """Return the L-BFGS step for a gradient (the two-loop recursion).

    Examples
    --------
    >>> pair = (np.array([1.0]), np.array([4.0]))
    >>> direction(np.array([8.0]), (pair,), lambda g: g).tolist()
    [2.0]
    """
    found, kept = gradient.copy(), []
    for step, change in reversed(pairs):
        alpha = float(step @ found) / float(step @ change)
        kept.append(alpha)
        found -= alpha * change
    found = inverse(found)
    for (step, change), alpha in zip(pairs, reversed(kept), strict=True):
        found = found + (alpha - float(change @ found) / float(step @ change)) * step
    return found


def inverse_of(curvature: Floats64) -> Inverse:
    """Return what multiplies by the inverse of a matrix, or of a diagonal.

    Examples
    --------
    >>> inverse_of(np.array([2.0, 4.0]))(np.ones(2)).tolist()
    [0.5, 0.25]
    >>> inverse_of(np.diag([2.0, 4.0]))(np.ones(2)).round(6).tolist()
    [0.5, 0.25]
    """
    if curvature.ndim == 1:
        floor = max(1e-6 * float(curvature.max(initial=0.0)), np.finfo(float).tiny)
        return lambda g: g / np.maximum(curvature, floor)
    factor = linalg.cho_factor(positive_definite(curvature))
    return lambda g: np.asarray(linalg.cho_solve(factor, g))
