"""Labels: how probable it is that the label of each training row is wrong.

Models of the true class and the noise of the labels are estimated in turn, as in expectation and
maximisation. Clean rows anchor both: they train the models with labels that are true, and calibrate
their out-of-fold probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize
from scipy.special import log_softmax

from anymetric.suspects.models import SoftModel, probabilities
from anymetric.suspects.noise import Noise, confident

Floats64 = NDArray[np.float64]
Ints = NDArray[np.intp]
# Folds in which rows are scored by models that they did not train.
FOLDS = 4
# Rounds of models and noise with the first family, at most; fewer where the likelihood of a row's
# label rises by less. Then rounds in which all families take part.
ROUNDS, RISES, CLOSING = 8, 0.0002, 2
# Shares of the first family's scores in the average with the second.
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
# How far a calibration may move, as the standard deviation of a prior around "not at all".
MOVES = 0.5


@dataclass(frozen=True, eq=False)
class Coded:
    """Labels as numbers from 0: noisy rows first, then the clean ones.

    Attributes
    ----------
    noisy, slices : arrays of shape (n,)
    clean : array of shape (m,)
    classes, parts : int
        How many classes and slices there are.
    fold : array of shape (n + m,)
    weights : array of shape (n + m,)
        Rows of weight zero are scored and train nothing.
    """

    noisy: Ints
    slices: Ints
    clean: Ints
    classes: int
    parts: int
    fold: Ints
    weights: Floats64

    @property
    def begun(self) -> Floats64:
        """The targets of the first models: nine tenths for the label."""
        sharp = np.eye(self.classes)[np.concatenate([self.noisy, self.clean])]
        n = len(self.noisy)
        sharp[:n] = 0.9 * sharp[:n] + 0.1 * (1.0 - sharp[:n]) / (self.classes - 1)
        return np.asarray(sharp, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Labels:
    """What the labels of the noisy rows come to.

    Attributes
    ----------
    p : array of shape (n, C)
        Out-of-fold probabilities of the true class, without a look at the row's own label.
    true : array of shape (n, C)
        The same, given the label.
    noise : Noise
    clean : array of shape (m, C)
        Out-of-fold probabilities of the clean rows.
    """

    p: Floats64
    true: Floats64
    noise: Noise
    clean: Floats64

    def wrong(self, label: Ints) -> Floats64:
        """Return the probability that each label is wrong."""
        return np.asarray(1.0 - self.true[np.arange(len(label)), label])


def judge_labels(models: Sequence[SoftModel], rows: Coded) -> Labels:
    """Estimate the true class of every noisy row."""
    if not len(rows.clean):
        return unanchored(models, rows)
    noise, targets = Noise.plain(rows.parts, rows.classes), rows.begun
    found, before = blended([out_of_fold(models[0], targets, rows)], rows, noise)
    for _ in range(ROUNDS - 1):
        targets = following(found, targets)
        found, likelihood = blended([out_of_fold(models[0], targets, rows)], rows, found.noise)
        if likelihood - before < RISES * len(rows.noisy):
            break
        before = likelihood
    for _ in range(CLOSING if len(models) > 1 else 0):
        targets = following(found, targets)
        scores = [out_of_fold(model, targets, rows) for model in models]
        found = blended(scores, rows, found.noise)[0]
    return found


def following(found: Labels, targets: Floats64) -> Floats64:
    """Return the targets of the next models: what noisy rows probably were; clean rows stay."""
    return np.concatenate([found.true, targets[len(found.true) :]])


def blended(scores: list[Floats64], rows: Coded, start: Noise) -> tuple[Labels, float]:
    """Average the families so that the labels of all rows are likeliest; return that likelihood."""
    n, found = len(rows.noisy), []
    for share in SHARES if len(scores) == 2 else (1.0,):
        mixed = scores[0] if share == 1.0 else share * scores[0] + (1.0 - share) * scores[1]
        p = probabilities(calibrated(mixed, mixed[n:], rows.clean))
        noise = Noise.estimated(p[:n], rows.noisy, rows.slices, start)
        own = p[np.arange(n, len(p)), rows.clean]
        likelihood = noise.likelihood(p[:n], rows.noisy, rows.slices) + float(np.log(own).sum())
        true = noise.posterior(p[:n], rows.noisy, rows.slices)
        found.append((Labels(p[:n], true, noise, p[n:]), likelihood))
    return max(found, key=lambda one: one[1])


def unanchored(models: Sequence[SoftModel], rows: Coded) -> Labels:
    """Estimate the noise from out-of-fold probabilities alone, where there are no clean rows."""
    scores = [out_of_fold(model, rows.begun, rows) for model in models]
    p = probabilities(np.mean(scores, axis=0))
    whole = confident(p, rows.noisy)
    noise = Noise(np.repeat(whole.table, rows.parts, axis=0))
    return Labels(p, noise.posterior(p, rows.noisy, rows.slices), noise, p[:0])


def out_of_fold(model: SoftModel, targets: Floats64, rows: Coded) -> Floats64:
    """Return scores of all rows, each by a model that it did not train."""
    scores = np.empty(targets.shape)
    for k in range(int(rows.fold.max()) + 1):
        out = rows.fold == k
        scores[out] = model.fit(targets, np.where(out, 0.0, rows.weights), k)[out]
    return scores


def calibrated(scores: Floats64, clean: Floats64, y: Ints) -> Floats64:
    """Return scores with one slope and a shift for each class, fitted to the clean rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=400)
    >>> y = (rng.random(400) < 1 / (1 + np.exp(-4 * z))).astype(int)
    >>> scores = np.column_stack([np.zeros(400), z])
    >>> bool(2.0 < calibrated(scores, scores, y)[:, 1].std() / z.std() < 4.5)
    True
    """
    rows = np.arange(len(y))

    def loss(theta: Floats64) -> float:
        moved = theta[0] * clean + np.append(0.0, theta[1:])
        off = theta - start
        return float(-log_softmax(moved, axis=1)[rows, y].sum() + 0.5 * off @ off / MOVES**2)

    start = np.append(1.0, np.zeros(clean.shape[1] - 1))
    theta = optimize.minimize(loss, start, method="BFGS").x
    return np.asarray(theta[0] * scores + np.append(0.0, theta[1:]))
