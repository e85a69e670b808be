"""What a loss is: an elementwise function of a margin or of a residual."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.floating[Any]]

# Elements worked on at once: 64 KiB of doubles. Temporaries then stay in the cache, and below the
# size from which the C library asks the system for fresh pages at each allocation.
BLOCK = 8192

# Where a kink makes the curvature infinite, it is the one of this distance from the kink.
FLOOR = 1e-3


class Loss(ABC):
    """An elementwise loss ``phi`` of one argument, the margin or the residual.

    A new loss is a frozen dataclass below `MarginLoss` or `ResidualLoss` that writes `_value`,
    `_slope` and `_curvature` for a float array, which they must not change. The public methods
    take any shape, keep float32 as float32, and work through large arrays block by block.

    Examples
    --------
    >>> from anymetric.losses import Hinge
    >>> Hinge().value([-1.0, 0.5, 2.0]).tolist()
    [2.0, 0.5, 0.0]
    >>> Hinge().name, Hinge().convex, Hinge().smooth, Hinge().decreasing
    ('hinge', True, False, True)
    """

    convex: ClassVar[bool] = True  # phi is convex
    smooth: ClassVar[bool] = True  # phi' is continuous
    decreasing: ClassVar[bool] = False  # a margin loss that never rises with the margin

    @property
    def infimum(self) -> float:
        """The greatest number that is below every value."""
        return 0.0

    @property
    def supremum(self) -> float:
        """The least number that is above every value."""
        return math.inf

    @property
    def name(self) -> str:
        """The loss's name in `as_loss`."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(self).__name__).lower()

    @abstractmethod
    def argument(self, scores: ArrayLike, y: ArrayLike) -> Floats:
        """Return what ``phi`` takes, for scores of shape (n,) or (n, m) and y of shape (n,)."""

    @abstractmethod
    def _value(self, z: Floats) -> Floats: ...

    @abstractmethod
    def _slope(self, z: Floats) -> Floats: ...

    @abstractmethod
    def _curvature(self, z: Floats) -> Floats: ...

    def _both(self, z: Floats) -> tuple[Floats, Floats]:
        """Return value and slope; a loss whose two share work does it once."""
        return self._value(z), self._slope(z)

    def value(self, z: ArrayLike) -> Floats:
        """Return ``phi(z)``, elementwise."""
        return _by_elements(self._value, floats(z))

    def slope(self, z: ArrayLike) -> Floats:
        """Return ``phi'(z)``; at a kink, one of the subgradients."""
        return _by_elements(self._slope, floats(z))

    def curvature(self, z: ArrayLike) -> Floats:
        """Return ``phi''(z)``, or for a loss with a kink the weight of reweighted least squares.

        That weight is the curvature of the parabola that touches ``phi`` at z and is nowhere
        below it, so a Newton step with it does not climb; within `FLOOR` of the kink it is held.
        """
        return _by_elements(self._curvature, floats(z))

    def of_scores(self, scores: ArrayLike, y: ArrayLike) -> Floats:
        """Return the losses of these scores, in their shape."""
        return _by_rows(lambda s, t: self.value(self.argument(s, t)), scores, y)

    def score_slope(self, scores: ArrayLike, y: ArrayLike) -> Floats:
        """Return the derivative of each loss by its score."""
        return _by_rows(lambda s, t: self.slope(self.argument(s, t)), scores, y)

    def with_slopes(self, scores: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Return the losses of ``(n,)`` scores and their derivatives by the scores, in one pass.

        Examples
        --------
        >>> import numpy as np
        >>> from anymetric.losses import Hinge
        >>> losses, slopes = Hinge().with_slopes(np.array([0.5, -2.0]), np.array([1.0, 1.0]))
        >>> losses.tolist(), slopes.tolist()
        ([0.5, 3.0], [-1.0, -1.0])
        """
        losses, slopes = np.empty_like(scores), np.empty_like(scores)
        for start in range(0, len(scores), BLOCK):
            rows = slice(start, start + BLOCK)
            losses[rows], slopes[rows] = self._both(self.argument(scores[rows], y[rows]))
        return losses, slopes

    def score_curvature(self, scores: ArrayLike, y: ArrayLike) -> Floats:
        """Return the curvature of each loss by its score; classes must be -1 and +1."""
        return _by_rows(lambda s, t: self.curvature(self.argument(s, t)), scores, y)


class MarginLoss(Loss):
    """A loss of the margin ``z = y f``, for y in {-1, +1}.

    Examples
    --------
    >>> from anymetric.losses import Logistic
    >>> Logistic().argument([0.5, -2.0], [-1.0, -1.0]).tolist()
    [-0.5, 2.0]
    """

    decreasing: ClassVar[bool] = True

    def argument(self, scores: ArrayLike, y: ArrayLike) -> Floats:
        """Return the margins ``y f``."""
        f, t = _aligned(scores, y)
        return np.multiply(t, f)

    def score_slope(self, scores: ArrayLike, y: ArrayLike) -> Floats:
        """Return ``y phi'(y f)``."""
        return _by_rows(lambda s, t: self.argument(self.slope(self.argument(s, t)), t), scores, y)

    def with_slopes(self, scores: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Return the losses and ``y phi'(y f)``, in one pass."""
        losses, slopes = super().with_slopes(scores, y)
        slopes *= y
        return losses, slopes


class ResidualLoss(Loss):
    """A loss of the residual ``r = f - y``, for any real y.

    Examples
    --------
    >>> from anymetric.losses import Squared
    >>> Squared().of_scores([0.5, -2.0], [-1.0, -1.0]).tolist()
    [2.25, 1.0]
    """

    def argument(self, scores: ArrayLike, y: ArrayLike) -> Floats:
        """Return the residuals ``f - y``."""
        f, t = _aligned(scores, y)
        return np.subtract(f, t)

    def margin_form(self) -> MarginForm:
        """Return the same loss as a function of the margin, for y in {-1, +1}."""
        return MarginForm(self)


@dataclass(frozen=True)
class MarginForm(MarginLoss):
    """A residual loss read as a margin loss.

    Domain: real margins, y in {-1, +1}.
    Formula: ``phi(z) = rho(1 - z)`` for an even residual loss ``rho``.
    Slope: ``-rho'(1 - z)``. It rises beyond z = 1: it is not `decreasing`.
    Identities: ``rho(f - y) = phi(y f)``, because ``f - y = -y (1 - y f)``.

    Parameters
    ----------
    residual : ResidualLoss
        rho.

    Examples
    --------
    >>> from anymetric.losses import Squared
    >>> loss = Squared().margin_form()
    >>> loss.name, loss.value([-1.0, 1.0, 2.0]).tolist()
    ('margin_squared', [4.0, 0.0, 1.0])
    """

    residual: ResidualLoss

    decreasing: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "convex", self.residual.convex)
        object.__setattr__(self, "smooth", self.residual.smooth)

    @property
    def name(self) -> str:
        """The residual loss's name after ``margin_``."""
        return f"margin_{self.residual.name}"

    @property
    def infimum(self) -> float:
        """The residual loss's infimum."""
        return self.residual.infimum

    @property
    def supremum(self) -> float:
        """The residual loss's supremum."""
        return self.residual.supremum

    def _value(self, z: Floats) -> Floats:
        return self.residual.value(1 - z)

    def _slope(self, z: Floats) -> Floats:
        slope = self.residual.slope(1 - z)
        return np.negative(slope, out=slope)

    def _curvature(self, z: Floats) -> Floats:
        return self.residual.curvature(1 - z)


def floats(z: ArrayLike) -> Floats:
    """Return z as a floating array, untouched when it is one already.

    >>> floats([1, 2]).dtype, floats(np.ones(2, np.float32)).dtype
    (dtype('float64'), dtype('float32'))
    """
    array = np.asarray(z)
    return array if array.dtype.kind == "f" else array.astype(np.float64)


def _aligned(scores: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """Return the scores, and y in their precision with as many axes."""
    f = floats(scores)
    t = np.asarray(y, dtype=f.dtype)
    if f.ndim not in (1, 2) or t.shape != f.shape[:1]:
        raise ValueError(
            "Scores must have shape (n,) or (n, m) and y shape (n,); "
            f"got scores of shape {f.shape} and y of shape {t.shape}."
        )
    return f, t if f.ndim == 1 else t[:, None]


def _by_elements(act: Callable[[Floats], Floats], z: Floats) -> Floats:
    """Return act(z), worked out a block of elements at a time."""
    flat = z.reshape(-1)
    if flat.size <= BLOCK:
        return act(flat).reshape(z.shape)
    out = np.empty_like(flat)
    for start in range(0, flat.size, BLOCK):
        out[start : start + BLOCK] = act(flat[start : start + BLOCK])
    return out.reshape(z.shape)


def _by_rows(act: Callable[[Floats, Floats], Floats], scores: ArrayLike, y: ArrayLike) -> Floats:
    """Return act(scores, y), worked out a block of rows at a time."""
    f, t = floats(scores), np.asarray(y)
    if f.size <= BLOCK or f.shape[:1] != t.shape:
        return act(f, t)
    out = np.empty(f.shape, f.dtype)
    step = max(1, BLOCK * len(f) // f.size)
    for start in range(0, len(f), step):
        rows = slice(start, start + step)
        out[rows] = act(f[rows], t[rows])
    return out
