"""Residual losses: functions of ``r = f - y``, least at zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Never

import numpy as np

from anymetric.losses.base import FLOOR, Floats, ResidualLoss

# An Lp loss that has grown to this height goes on as its tangent, which single precision can hold.
HEIGHT = 1e25


@dataclass(frozen=True)
class Squared(ResidualLoss):
    """Squared error, without a factor of one half.

    Domain: real residuals; values in [0, inf). Convex and smooth.
    Formula: ``rho(r) = r^2``.
    Slope: ``2 r``.
    Curvature: 2.
    Identities: `Lp` with p = 2; `Huber` with an endless delta.

    Examples
    --------
    >>> Squared().value([-2.0, 0.5]).tolist(), Squared().slope([-2.0, 0.5]).tolist()
    ([4.0, 0.25], [-4.0, 1.0])
    """

    def _value(self, z: Floats) -> Floats:
        return np.square(z)

    def _slope(self, z: Floats) -> Floats:
        return 2 * z

    def _curvature(self, z: Floats) -> Floats:
        return np.full_like(z, 2)


@dataclass(frozen=True)
class Absolute(ResidualLoss):
    """Absolute error.

    Domain: real residuals; values in [0, inf). Convex, with a kink at 0.
    Formula: ``rho(r) = |r|``.
    Slope: the sign of r, 0 at 0.
    Curvature: ``1 / |r|``, the weight of reweighted least squares.
    Identities: the limit of `Lp` as p falls to 1, and of ``Huber(delta) / (2 delta)`` as delta
    falls to 0.

    Examples
    --------
    >>> Absolute().value([-2.0, 0.5]).tolist(), Absolute().curvature([-2.0, 0.5]).tolist()
    ([2.0, 0.5], [0.5, 2.0])
    """

    smooth: ClassVar[bool] = False

    def _value(self, z: Floats) -> Floats:
        return np.abs(z)

    def _slope(self, z: Floats) -> Floats:
        return np.sign(z)

    def _curvature(self, z: Floats) -> Floats:
        return 1 / np.maximum(np.abs(z), FLOOR)


@dataclass(frozen=True)
class Huber(ResidualLoss):
    """Huber's loss on the scale of `Squared`: a parabola that goes on as its tangents.

    Domain: real residuals; values in [0, inf). Convex and smooth.
    Formula: ``rho(r) = r^2`` for |r| <= delta, else ``2 delta |r| - delta^2``.
    Slope: ``2 min(max(r, -delta), delta)``.
    Curvature: 2 for |r| <= delta, else 0.
    Identities: ``a (2 |r| - a)`` with ``a = min(|r|, delta)``; at most `Squared`.

    Parameters
    ----------
    delta : float, default=1.0
        The residual from which the loss is a straight line.

    Examples
    --------
    >>> Huber(delta=1.0).value([-3.0, 0.5]).tolist()
    [5.0, 0.25]
    """

    delta: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.delta < np.inf:
            raise ValueError(
                f"Huber needs a positive, finite delta; got {self.delta!r}. "
                "Use Absolute() for a kink at zero, Squared() for no straight part."
            )

    def _value(self, z: Floats) -> Floats:
        size = np.abs(z)
        near = np.minimum(size, self.delta)
        size *= 2
        size -= near
        return np.multiply(size, near, out=size)

    def _slope(self, z: Floats) -> Floats:
        return 2 * np.clip(z, -self.delta, self.delta)

    def _curvature(self, z: Floats) -> Floats:
        return 2 * (np.abs(z) <= self.delta).astype(z.dtype)


@dataclass(frozen=True)
class Tilted(ResidualLoss):
    """Huber's loss, steeper on one side: rounded off, the loss whose least is a quantile.

    Domain: real residuals; values in [0, inf). Convex and smooth.
    Formula: ``2 level rho(r)`` for r < 0 and ``2 (1 - level) rho(r)`` for r > 0, with Huber's rho.
    Slope and curvature: those of Huber's, with the same factors.
    Identities: `Huber` for ``level = 1/2``; for a small delta ``4 delta`` times the pinball loss.

    Parameters
    ----------
    level : float
        The part of the targets that is to lie below the predictions.
    delta : float, default=1.0
        The residual from which the loss is a straight line.

    Examples
    --------
    >>> Tilted(0.75, 1.0).value([-3.0, 3.0]).tolist()
    [7.5, 2.5]
    """

    level: float
    delta: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise ValueError(f"Tilted needs a level between 0 and 1; got {self.level!r}.")
        _ = self._even  # which checks delta

    @property
    def _even(self) -> Huber:
        return Huber(self.delta)

    def margin_form(self) -> Never:
        """Refuse: of classes, too little and too much are the same."""
        raise TypeError("Tilted is a loss of numbers: it has no form for classes.")

    def _tilt(self, z: Floats) -> Floats:
        return np.where(z < 0, 2 * self.level, 2 * (1 - self.level)).astype(z.dtype)

    def _value(self, z: Floats) -> Floats:
        return self._tilt(z) * self._even._value(z)

    def _slope(self, z: Floats) -> Floats:
        return self._tilt(z) * self._even._slope(z)

    def _curvature(self, z: Floats) -> Floats:
        return self._tilt(z) * self._even._curvature(z)


@dataclass(frozen=True)
class Lp(ResidualLoss):
    """The p-th power of the absolute error.

    Domain: real residuals; values in [0, inf). Convex and smooth.
    Formula: ``rho(r) = |r|^p``, continued as its tangent once it has grown to 1e25.
    Slope: ``p |r|^(p-1)`` with the sign of r.
    Curvature: ``p (p-1) |r|^(p-2)``, for p < 2 capped near 0.
    Identities: `Squared` for p = 2; ``r rho'(r) = p rho(r)``.

    Parameters
    ----------
    p : float
        The power, above 1.

    Examples
    --------
    >>> Lp(p=3.0).value([-2.0, 0.5]).tolist()
    [8.0, 0.125]
    """

    p: float

    def __post_init__(self) -> None:
        if not 1 < self.p < np.inf:
            raise ValueError(
                f"Lp needs a finite power p > 1, where it is convex and smooth; got {self.p!r}. "
                "Use Absolute() for p = 1; below that a Huber(delta) is the nearest convex loss."
            )

    @property
    def name(self) -> str:
        """The name with the power: ``lp(1.5)``."""
        return f"lp({self.p:g})"

    @property
    def reach(self) -> float:
        """The residual from which the loss is a straight line."""
        return float(HEIGHT ** (1 / self.p))

    def _value(self, z: Floats) -> Floats:
        size = np.abs(z)
        near = np.minimum(size, self.reach)
        # |r|^p, or its tangent beyond `reach`: near^(p-1) (near + p (|r| - near))
        size -= near
        size *= self.p
        size += near
        near **= self.p - 1
        return np.multiply(size, near, out=size)

    def _slope(self, z: Floats) -> Floats:
        near = np.minimum(np.abs(z), self.reach)
        near **= self.p - 1
        near *= self.p
        return np.copysign(near, z)

    def _curvature(self, z: Floats) -> Floats:
        size = np.abs(z)
        near = np.clip(size, FLOOR if self.p < 2 else None, self.reach)
        return self.p * (self.p - 1) * near ** (self.p - 2) * (size <= self.reach)
