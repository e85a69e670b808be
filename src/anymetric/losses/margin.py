"""Margin losses: functions of ``z = y f`` that fall as the margin grows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anymetric.losses.base import FLOOR, Floats, MarginLoss

# Below this margin the exponential loss goes on as its tangent.
CAP = -30.0


@dataclass(frozen=True)
class Hinge(MarginLoss):
    """Hinge loss.

    Domain: real margins; values in [0, inf). Convex, with a kink at 1.
    Formula: ``phi(z) = max(0, 1 - z)``.
    Slope: -1 for z < 1, else 0.
    Curvature: ``1 / (2 |1 - z|)``, the weight of reweighted least squares.
    Identities: ``phi(z) - phi(2 - z) = 1 - z``; ``2 phi(z) = |1 - z| + (1 - z)``.

    Examples
    --------
    >>> Hinge().value([-1.0, 1.0, 3.0]).tolist()
    [2.0, 0.0, 0.0]
    """

    smooth: ClassVar[bool] = False

    def _value(self, z: Floats) -> Floats:
        gap = 1 - z
        return np.maximum(gap, 0, out=gap)

    def _slope(self, z: Floats) -> Floats:
        return -(z < 1).astype(z.dtype)

    def _both(self, z: Floats) -> tuple[Floats, Floats]:
        gap = 1 - z
        slope = -(gap > 0).astype(z.dtype)
        return np.maximum(gap, 0, out=gap), slope

    def _curvature(self, z: Floats) -> Floats:
        return 0.5 / np.maximum(np.abs(1 - z), FLOOR)


@dataclass(frozen=True)
class SquaredHinge(MarginLoss):
    """Squared hinge loss.

    Domain: real margins; values in [0, inf). Convex and smooth.
    Formula: ``phi(z) = max(0, 1 - z)^2``.
    Slope: ``-2 max(0, 1 - z)``.
    Curvature: 2 for z < 1, else 0.
    Identities: the square of `Hinge`; ``phi(z) + phi(2 - z) = (1 - z)^2``.

    Examples
    --------
    >>> SquaredHinge().slope([-1.0, 1.0, 3.0]).tolist()
    [-4.0, 0.0, 0.0]
    """

    def _value(self, z: Floats) -> Floats:
        gap = np.maximum(1 - z, 0)
        return np.square(gap, out=gap)

    def _slope(self, z: Floats) -> Floats:
        return 2 * np.minimum(z - 1, 0)

    def _curvature(self, z: Floats) -> Floats:
        return 2 * (z < 1).astype(z.dtype)


@dataclass(frozen=True)
class Logistic(MarginLoss):
    """Logistic loss, in nats.

    Domain: real margins; values in (0, inf). Convex and smooth.
    Formula: ``phi(z) = log(1 + exp(-z))``.
    Slope: ``-1 / (1 + exp(z))``.
    Curvature: ``exp(-z) / (1 + exp(-z))^2``.
    Identities: ``phi(-z) = phi(z) + z``; the slope is minus `Sigmoid`.

    Examples
    --------
    >>> Logistic().value([-1000.0, 0.0, 1000.0]).round(4).tolist()
    [1000.0, 0.6931, 0.0]
    """

    def _value(self, z: Floats) -> Floats:
        loss = _log1p(_decay(z))
        loss -= np.minimum(z, 0)
        return loss

    def _slope(self, z: Floats) -> Floats:
        return -_fall(z)

    def _both(self, z: Floats) -> tuple[Floats, Floats]:
        decay = _decay(z)
        slope = np.where(z > 0, decay, 1)
        slope /= -1 - decay
        loss = _log1p(decay)
        loss -= np.minimum(z, 0)
        return loss, slope

    def _curvature(self, z: Floats) -> Floats:
        return _bell(z)


@dataclass(frozen=True)
class Sigmoid(MarginLoss):
    """Sigmoid loss, a smooth 0-1 loss.

    Domain: real margins; values in (0, 1). Smooth, not convex.
    Formula: ``phi(z) = 1 / (1 + exp(scale z))``.
    Slope: ``-scale phi(z) phi(-z)``.
    Curvature: ``scale^2 phi(z) phi(-z) (phi(-z) - phi(z))``, negative for z < 0.
    Identities: ``phi(z) + phi(-z) = 1``; tends to the 0-1 loss as scale grows.

    Parameters
    ----------
    scale : float, default=1.0
        How steep the fall at z = 0 is.

    Examples
    --------
    >>> Sigmoid(scale=4.0).value([-1.0, 0.0, 1.0]).round(3).tolist()
    [0.982, 0.5, 0.018]
    """

    scale: float = 1.0

    convex: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 < self.scale < np.inf:
            raise ValueError(
                f"Sigmoid needs a positive, finite scale; got {self.scale!r}. "
                "The 0-1 loss itself has no slope: take a large scale for it."
            )

    @property
    def supremum(self) -> float:
        """One, the cost of a sure mistake."""
        return 1.0

    def _value(self, z: Floats) -> Floats:
        return _fall(self.scale * z)

    def _slope(self, z: Floats) -> Floats:
        return -self.scale * _bell(self.scale * z)

    def _both(self, z: Floats) -> tuple[Floats, Floats]:
        rise = self.scale * z
        # A little below the logarithm of the largest number: 2^1024, or 2^128.
        np.minimum(rise, 0.69 * np.finfo(rise.dtype).maxexp, out=rise)
        np.exp(rise, out=rise)
        value = np.reciprocal(1 + rise)
        # phi (1 - phi), from factors that neither overflow nor cancel
        rise *= value
        rise *= value
        rise *= -self.scale
        return value, rise

    def _curvature(self, z: Floats) -> Floats:
        decay = _decay(self.scale * z)
        whole = 1 + decay
        bend = decay * (1 - decay) / (whole * whole * whole)
        return self.scale**2 * np.copysign(bend, z)


@dataclass(frozen=True)
class Exponential(MarginLoss):
    """Exponential loss, continued as its tangent below z = -30.

    Domain: real margins; values in (0, inf). Convex and smooth.
    Formula: ``phi(z) = exp(-z)`` for z >= -30, else ``exp(30) (1 - 30 - z)``.
    Slope: ``-exp(-max(z, -30))``.
    Curvature: ``exp(-z)`` for z >= -30, else 0.
    Identities: ``phi(z) phi(-z) = 1`` and ``phi = -phi' = phi''`` for |z| <= 30.

    Examples
    --------
    >>> Exponential().value([-1.0, 0.0, 1.0]).round(3).tolist()
    [2.718, 1.0, 0.368]
    """

    def _value(self, z: Floats) -> Floats:
        held = np.maximum(z, CAP)
        height = np.exp(-held)
        held -= z
        held += 1
        return np.multiply(height, held, out=height)

    def _slope(self, z: Floats) -> Floats:
        return -np.exp(-np.maximum(z, CAP))

    def _curvature(self, z: Floats) -> Floats:
        return np.exp(-np.maximum(z, CAP)) * (z >= CAP)


def _decay(z: Floats) -> Floats:
    """Return ``exp(-|z|)``, which cannot overflow."""
    out = np.copysign(z, -1)
    return np.exp(out, out=out)


def _fall(z: Floats) -> Floats:
    """Return ``1 / (1 + exp(z))``, exact to rounding also in the tail."""
    with np.errstate(over="ignore"):  # an infinite exponential falls to 0, which is right
        out = np.exp(z)
    out += 1
    return np.reciprocal(out, out=out)


def _bell(z: Floats) -> Floats:
    """Return ``exp(-z) / (1 + exp(-z))^2``, from the side that cannot overflow."""
    decay = _decay(z)
    return decay / np.square(1 + decay)


def _log1p(u: Floats) -> Floats:
    """Overwrite u, from [0, 1], with ``log(1 + u)``."""
    if u.dtype != np.float32:
        return np.log1p(u, out=u)
    # In single precision `log` is vectorised and `log1p` is not: half the time, if what is
    # rounded off in 1 + u is added again.
    whole = 1 + u
    u -= whole - 1
    u /= whole
    u += np.log(whole)
    return u
