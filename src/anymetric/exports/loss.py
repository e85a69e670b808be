"""Loss: what the answer's candidates minimise on average, with derivatives by the scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from anymetric.losses import Loss, as_loss

Floats64 = NDArray[np.float64]
# The least second derivative by a score: leaves of rows without curvature must stay finite.
LEAST = 1e-6
# Newton steps to the best constant score, at most.
STEPS = 50
# Shares of the answer, each with its loss; None is the usual one.
Parts = tuple[tuple[float, Loss | None], ...]


class TargetUnit(Protocol):
    """The unit in which a regression trains: ``score = center + spread * standardised score``."""

    @property
    def center(self) -> float:
        """The score of a standardised score of zero."""
        ...

    @property
    def spread(self) -> float:
        """The size of one unit."""
        ...

    def small(self, data: Any) -> Any:
        """Return rows with standardised targets."""
        ...

    def small_scores(self, scores: Any) -> Any:
        """Return standardised targets."""
        ...

    def large(self, scores: Any) -> Any:
        """Return predictions from standardised scores."""
        ...


@dataclass(frozen=True, eq=False)
class LearnedLoss:
    """The mean loss of the selected candidates by their shares, row by row.

    With shares ``s_k``, losses ``l_k`` and row weights ``w_ki`` of the candidates, a score f costs
    row i ``W_i * sum_k s_k l_k(y_i, f)`` with ``W_i = sum_k s_k w_ki``. Where all candidates have
    one loss, as two classes always do (the logistic one), this is exactly what they minimise on
    average; where losses differ, weights and losses are averaged separately.

    Parameters
    ----------
    parts : tuple of (share, Loss or None)
        None is the usual loss: logistic, softmax or squared.
    classes : int
        2, more, or 0 for numbers.
    class_weight : tuple of float
        Weight of each class, in the order of `classes_`; for rows that bring no weight.
    unit : TargetUnit, optional
        Of numbers: scores are ``center + spread * z``, and losses are of ``z``.

    Examples
    --------
    >>> loss = LearnedLoss(((1.0, None),), 2, (1.0, 3.0))
    >>> gradient, hessian = loss.derivatives(np.array([0, 1]), np.zeros(2))
    >>> gradient.tolist(), hessian.tolist()
    ([0.5, -1.5], [0.25, 0.75])
    """

    parts: Parts
    classes: int
    class_weight: tuple[float, ...] = ()
    unit: TargetUnit | None = None

    def weights(self, y: NDArray[Any], weight: Any = None) -> Floats64:
        """Return the weights of the rows: those given, or else those of their classes."""
        if weight is not None and np.size(weight):
            return np.asarray(weight, dtype=np.float64)
        if not self.class_weight:
            return np.ones(len(y))
        return np.asarray(np.array(self.class_weight)[self.codes(y)])

    def codes(self, y: NDArray[Any]) -> NDArray[np.intp]:
        """Return the class of each label 0, 1, ...; of two classes also of -1 and 1."""
        y = np.asarray(y)
        return (y > 0).astype(np.intp) if self.classes == 2 else y.astype(np.intp)

    def values(self, y: NDArray[Any], scores: Floats64, weight: Any = None) -> Floats64:
        """Return the weighted loss of every row."""
        found = np.zeros(len(scores))
        for share, loss in self.parts:
            found += share * self._value(loss, y, np.asarray(scores, dtype=np.float64))
        return found * self.weights(y, weight)

    def derivatives(
        self, y: NDArray[Any], scores: Floats64, weight: Any = None
    ) -> tuple[Floats64, Floats64]:
        """Return first and second derivatives by the scores, in the shape of these.

        Second derivatives are the diagonal. Losses that are flat or have a kink get the weight of
        reweighted least squares instead, which is never smaller.
        """
        scores = np.asarray(scores, dtype=np.float64)
        gradient, hessian = np.zeros_like(scores), np.zeros_like(scores)
        for share, loss in self.parts:
            first, second = self._derivatives(loss, y, scores)
            gradient += share * first
            hessian += share * second
        rows = self.weights(y, weight)
        rows = rows if scores.ndim == 1 else rows[:, np.newaxis]
        return gradient * rows, np.maximum(hessian, LEAST) * rows

    def init_score(self, y: NDArray[Any], weight: Any = None) -> Any:
        """Return the constant score of the lowest loss: where boosting begins.

        A float; of more than two classes an array of shape (C,).
        """
        many = self.classes > 2
        at = np.zeros(self.classes if many else 1)
        if self.unit is not None:
            at[0] = self.unit.center
        for _ in range(STEPS):
            scores = np.tile(at, (len(y), 1))
            first, second = self.derivatives(y, scores if many else scores[:, 0], weight)
            step = first.sum(axis=0) / np.maximum(second.sum(axis=0), np.finfo(float).tiny)
            at = at - step
            if np.all(np.abs(step) <= 1e-9 * (1.0 + np.abs(at))):
                break
        return at if many else float(at[0])

    def _value(self, loss: Loss | None, y: NDArray[Any], scores: Floats64) -> Floats64:
        if self.classes > 2 and loss is None:
            logs = log_softmax(scores, axis=1)
            return np.asarray(-logs[np.arange(len(scores)), self.codes(y)])
        if self.classes > 2:
            signs = self._signs(y)
            return np.asarray(as_loss(loss or "logistic").value(signs * scores).sum(axis=1))
        kind, targets, z, spread = self._single(loss, y, scores)
        return np.asarray(spread**2 * kind.of_scores(z, targets))

    def _derivatives(
        self, loss: Loss | None, y: NDArray[Any], scores: Floats64
    ) -> tuple[Floats64, Floats64]:
        if self.classes > 2 and loss is None:
            p = np.exp(log_softmax(scores, axis=1))
            return p - (self._signs(y) > 0.0), p * (1.0 - p)
        if self.classes > 2:
            signs, kind = self._signs(y), as_loss(loss or "logistic")
            bent = np.asarray(kind.curvature(signs * scores), dtype=np.float64)
            return signs * kind.slope(signs * scores), bent
        kind, targets, z, spread = self._single(loss, y, scores)
        first: Floats64 = np.asarray(kind.score_slope(z, targets), dtype=np.float64)
        second: Floats64 = np.asarray(kind.score_curvature(z, targets), dtype=np.float64)
        if self.classes == 0:  # a parabola that touches the loss here and is nowhere below it
            away = np.maximum(np.abs(z - targets), LEAST)
            second = np.asarray(np.maximum(second, np.abs(first) / away), dtype=np.float64)
        return np.asarray(spread * first, dtype=np.float64), second

    def _single(
        self, loss: Loss | None, y: NDArray[Any], scores: Floats64
    ) -> tuple[Loss, Floats64, Floats64, float]:
        """Return the loss, targets and scores as it reads them, and their unit."""
        if self.classes == 2:
            signs = np.where(self.codes(y) > 0, 1.0, -1.0)
            return as_loss(loss or "logistic"), signs, scores, 1.0
        kind = as_loss(loss or "squared")
        if self.unit is None:
            return kind, np.asarray(y, dtype=np.float64), scores, 1.0
        targets = np.asarray(self.unit.small_scores(np.asarray(y, dtype=np.float64)))
        return kind, targets, (scores - self.unit.center) / self.unit.spread, self.unit.spread

    def _signs(self, y: NDArray[Any]) -> Floats64:
        """Return +1 for each row's own class and -1 for the others, ``(n, C)``."""
        return np.asarray(np.where(np.eye(self.classes, dtype=bool)[self.codes(y)], 1.0, -1.0))
