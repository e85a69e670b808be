"""Calibration: from scores to probabilities, by scores of rows that did not train the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, softmax
from sklearn.isotonic import IsotonicRegression

from anymetric.metrics import Classes

__all__ = ["Calibrator", "ClassCalibrator", "Isotonic", "LabelCalibrator", "Sigmoid", "calibrated"]

Floats64 = NDArray[np.float64]
# Folds in which the two ways are compared.
FOLDS = 5
# A sigmoid's part in an isotonic map: enough to keep the order of rows on its plateaus.
STRICT = 1e-3
# Ridge on slopes and offsets, in units of one row.
RIDGE = 1e-3
# With less weight in a class, the simplest way is taken without comparison.
FEWEST = 30.0


class Calibrator(Protocol):
    """Maps scores to probabilities.

    Examples
    --------
    >>> maker: Calibrator = Sigmoid(1.0, 0.0)
    """

    def probabilities(self, scores: Floats64) -> Floats64:
        """Return the probability of the second class ``(n,)``, or of every class ``(n, C)``."""
        ...


@dataclass(frozen=True)
class Sigmoid:
    """A logistic curve of the score (Platt scaling), rising.

    Parameters
    ----------
    slope, offset : float

    Examples
    --------
    >>> Sigmoid(2.0, 0.0).probabilities(np.array([0.0])).tolist()
    [0.5]
    """

    slope: float
    offset: float

    @classmethod
    def of(
        cls, scores: Floats64, positive: Floats64, weights: Floats64, *, even: bool = False
    ) -> Sigmoid:
        """Fit to smoothed targets, so that no row is called certain; `even` is without offset."""
        n = weights @ positive, weights @ (1.0 - positive)
        target = np.where(positive > 0.0, (n[0] + 1.0) / (n[0] + 2.0), 1.0 / (n[1] + 2.0))
        centre, spread = moments(scores, weights)
        centre = 0.0 if even else centre
        unit = (scores - centre) / spread

        def loss(at: Floats64) -> tuple[float, Floats64]:
            z = at[0] * unit + at[1]
            left = weights * (expit(z) - target)
            value = weights @ (np.logaddexp(0.0, z) - target * z) + 0.5 * RIDGE * at @ at
            return float(value), np.array([left @ unit, left.sum()]) + RIDGE * at

        rising = [(1e-6, None), (0.0, 0.0) if even else (None, None)]
        slope, offset = minimize(loss, [1.0, 0.0], jac=True, method="L-BFGS-B", bounds=rising).x
        return cls(float(slope / spread), float(offset - slope * centre / spread))

    def probabilities(self, scores: Floats64) -> Floats64:
        """Return the probability of the second class."""
        return np.asarray(expit(self.slope * scores + self.offset))


@dataclass(frozen=True, eq=False)
class Isotonic:
    """The best rising steps, joined by lines; a trace of a sigmoid keeps equal steps in order.

    Parameters
    ----------
    scores, shares : arrays of shape (k,)
        The steps.
    sigmoid : Sigmoid

    Examples
    --------
    >>> steps = Isotonic(np.array([0.0, 1.0]), np.array([0.2, 0.8]), Sigmoid(1.0, 0.0))
    >>> steps.probabilities(np.array([0.5, 9.0])).round(2).tolist()
    [0.5, 0.8]
    """

    scores: Floats64
    shares: Floats64
    sigmoid: Sigmoid

    @classmethod
    def of(cls, scores: Floats64, positive: Floats64, weights: Floats64) -> Isotonic:
        """Fit the steps; none is called certain."""
        least = 1.0 / (float(weights.sum()) + 2.0)
        fitted = IsotonicRegression(y_min=least, y_max=1.0 - least, out_of_bounds="clip")
        fitted.fit(scores, positive, sample_weight=weights)
        steps = np.asarray(fitted.X_thresholds_), np.asarray(fitted.y_thresholds_)
        return cls(*steps, Sigmoid.of(scores, positive, weights))

    def probabilities(self, scores: Floats64) -> Floats64:
        """Return the probability of the second class."""
        steps = np.interp(scores, self.scores, self.shares)
        return np.asarray((1.0 - STRICT) * steps + STRICT * self.sigmoid.probabilities(scores))


@dataclass(frozen=True, eq=False)
class ClassCalibrator:
    """Probabilities of many classes: a softmax of scaled scores, or steps for each class.

    Parameters
    ----------
    slope : float
    offsets : array of shape (C,)
    steps : tuple of Isotonic
        Of each class's probability under the softmax; empty if that is better as it is.

    Examples
    --------
    >>> ClassCalibrator(1.0, np.zeros(2)).probabilities(np.zeros((1, 2))).tolist()
    [[0.5, 0.5]]
    """

    slope: float
    offsets: Floats64
    steps: tuple[Isotonic, ...] = ()

    @classmethod
    def tempered(cls, scores: Floats64, members: Floats64, weights: Floats64) -> ClassCalibrator:
        """Fit one slope: the class of the highest score keeps the highest probability."""
        return cls.scaled(scores, members, weights, offsets=False)

    @classmethod
    def scaled(
        cls, scores: Floats64, members: Floats64, weights: Floats64, offsets: bool = True
    ) -> ClassCalibrator:
        """Fit one slope and an offset for each class, to smoothed targets."""
        count = scores.shape[1]
        spread = moments(scores.ravel(), np.repeat(weights, count))[1]
        unit = scores / spread
        n = weights @ members
        target = members @ np.diag(n / (n + 1.0)) + members @ (1.0 / (n + 1.0))[:, None] / count

        def loss(at: Floats64) -> tuple[float, Floats64]:
            logs = log_softmax(at[0] * unit + at[1:], axis=1)
            left = weights[:, np.newaxis] * (np.exp(logs) - target)
            gradient = np.append((left * unit).sum(), left.sum(axis=0)) + RIDGE * at
            value = -(weights @ (target * logs).sum(axis=1)) + 0.5 * RIDGE * at @ at
            return float(value), gradient

        start = np.append(1.0, np.zeros(count))
        bounds = [(1e-6, None)] + [(None, None) if offsets else (0.0, 0.0)] * count
        found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
        return cls(float(found[0] / spread), found[1:])

    @classmethod
    def stepped(cls, scores: Floats64, members: Floats64, weights: Floats64) -> ClassCalibrator:
        """Fit steps to each class's probability under the softmax."""
        softly = cls.scaled(scores, members, weights)
        p = softly.probabilities(scores)
        pairs = zip(p.T, members.T, strict=True)
        steps = tuple(Isotonic.of(own, member, weights) for own, member in pairs)
        return cls(softly.slope, softly.offsets, steps)

    def probabilities(self, scores: Floats64) -> Floats64:
        """Return the probabilities ``(n, C)``, summing to one."""
        p = np.asarray(softmax(self.slope * scores + self.offsets, axis=1))
        if not self.steps:
            return p
        each = [one.probabilities(own) for one, own in zip(self.steps, p.T, strict=True)]
        table = np.column_stack(each)
        return np.asarray(table / table.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class LabelCalibrator:
    """Probabilities of labels, each by a calibrator of its own.

    Examples
    --------
    >>> LabelCalibrator((Sigmoid(1.0, 0.0),)).probabilities(np.zeros((1, 1))).tolist()
    [[0.5]]
    """

    labels: tuple[Sigmoid | Isotonic, ...]

    def probabilities(self, scores: Floats64) -> Floats64:
        """Return each label's probability ``(n, L)``."""
        pairs = zip(self.labels, scores.T, strict=True)
        return np.column_stack([one.probabilities(own) for one, own in pairs])


def calibrated(
    scores: Floats64,
    y: Floats64,
    weights: Floats64,
    classes: Classes | None = None,
    *,
    even: bool = False,
) -> Calibrator:
    """Return a sigmoid or steps, whichever has the lower cross-validated log loss.

    Parameters
    ----------
    scores : array of shape (n,) or (n, C)
        Of rows that did not train the model.
    y : array of shape (n,)
        -1 and 1, or codes of the classes.
    weights : array of shape (n,)
    classes : Classes, optional
    even : bool
        Of two classes: whether both are equally probable at a score of zero, as it is where the
        threshold was placed for accuracy. Then it is a sigmoid.

    Examples
    --------
    >>> score = np.random.default_rng(0).normal(size=500)
    >>> y = np.where(np.random.default_rng(1).logistic(size=500) < 3.0 * score, 1.0, -1.0)
    >>> found = calibrated(score, y, np.ones(500))
    >>> isinstance(found, Sigmoid), 2.5 < found.slope < 3.5
    (True, True)
    """
    if classes is None and even:
        return Sigmoid.of(scores.reshape(-1), (y > 0.0).astype(np.float64), weights, even=True)
    if classes is None:
        return better_of_two(scores.reshape(-1), (y > 0.0).astype(np.float64), weights)
    members = classes.members(y).astype(np.float64)
    if classes.exclusive:
        return better_of_many(scores, members, weights)
    pairs = zip(scores.T, members.T, strict=True)
    return LabelCalibrator(tuple(better_of_two(own, member, weights) for own, member in pairs))


def better_of_two(scores: Floats64, positive: Floats64, weights: Floats64) -> Sigmoid | Isotonic:
    """Return the better of a sigmoid and steps on the folds; the sigmoid if rows are few."""
    if min(weights @ positive, weights @ (1.0 - positive)) < FEWEST:
        return Sigmoid.of(scores, positive, weights)
    losses = np.zeros(2)
    ways: tuple[type[Sigmoid] | type[Isotonic], ...] = (Sigmoid, Isotonic)
    for out in folds(positive):
        for k, way in enumerate(ways):
            p = way.of(scores[~out], positive[~out], weights[~out]).probabilities(scores[out])
            losses[k] += weights[out] @ log_loss(p, positive[out])
    return ways[int(losses[1] < losses[0])].of(scores, positive, weights)


def better_of_many(scores: Floats64, members: Floats64, weights: Floats64) -> ClassCalibrator:
    """Return a slope, offsets or steps: on the folds more must pay beyond noise."""
    ways = ClassCalibrator.tempered, ClassCalibrator.scaled, ClassCalibrator.stepped
    best, least = ways[0], np.zeros(0)
    if (weights @ members).min() < FEWEST:
        return best(scores, members, weights)
    for way in ways:
        loss = np.empty(len(scores))
        for out in folds(members @ np.arange(members.shape[1])):
            p = way(scores[~out], members[~out], weights[~out]).probabilities(scores[out])
            own = (p * members[out]).sum(axis=1)
            loss[out] = -weights[out] * np.log(np.maximum(own, np.finfo(float).tiny))
        gain = least - loss if len(least) else np.ones(len(loss))
        if gain.mean() > gain.std() / np.sqrt(len(gain)):
            best, least = way, loss
    return best(scores, members, weights)


def moments(scores: Floats64, weights: Floats64) -> tuple[float, float]:
    """Return the weighted mean and deviation, the latter above zero."""
    mean = float(np.average(scores, weights=weights))
    spread = float(np.sqrt(np.average((scores - mean) ** 2, weights=weights)))
    return mean, max(spread, np.finfo(float).tiny)


def folds(codes: Floats64) -> list[NDArray[np.bool_]]:
    """Return the rows of each fold, every class dealt evenly.

    Examples
    --------
    >>> [int(out.sum()) for out in folds(np.arange(10) % 2)]
    [2, 2, 2, 2, 2]
    """
    fold = np.empty(len(codes), dtype=np.intp)
    order = np.argsort(codes, kind="stable")
    order = order[np.lexsort((np.random.default_rng(0).random(len(codes)), codes[order]))]
    fold[order] = np.arange(len(codes)) % FOLDS
    return [fold == k for k in range(FOLDS)]


def log_loss(p: Floats64, positive: Floats64) -> Floats64:
    """Return each row's log loss."""
    own = np.where(positive > 0.0, p, 1.0 - p)
    return np.asarray(-np.log(np.maximum(own, np.finfo(float).tiny)))
