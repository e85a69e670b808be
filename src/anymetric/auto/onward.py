"""Onward: judging rows train on from where a model of the training rows ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Data
from anymetric.losses import as_loss
from anymetric.models import Ensemble, Linear, Scorer
from anymetric.solvers import WeightedLoss, minimise

Floats64 = NDArray[np.float64]
Rows = NDArray[np.intp]


def onward(
    learner: Any,
    base: Scorer,
    valid: Data,
    rows: tuple[Floats64, Floats64],
    folds: Sequence[Rows],
    rng: np.random.Generator,
    classes: int = 2,
) -> tuple[Ensemble, Floats64]:
    """Return the base with trees of the judging rows on top, and honest scores of these rows.

    The base's scores are brought to the scale of the judging rows first, by a line.

    Parameters
    ----------
    learner : a family that grows
    base : Scorer
        No judging row trained it.
    valid : Data
    rows : pair of arrays
        Weights of the judging rows where they train, and where they watch.
    folds : sequence of arrays
        Each is scored without it.
    rng : numpy Generator
    classes : int
    """
    known, (weights, seen) = base.scores(valid.X), rows
    grown, lines = [], []
    for out in folds:
        kept = weights.copy()
        kept[out] = 0.0
        slope, offset = line(known, valid.y, kept, classes)
        begun = slope * known + offset
        watch, told = [(valid.take(out), seen[out])], (begun, begun[out])
        grown.append(learner.grow(valid, kept, rng, watch=watch, classes=classes, begun=told))
        lines.append((slope, offset))
    best, scores = np.array([one.best for one in grown]), np.empty(len(valid))
    for k, out in enumerate(folds):
        stop = int(np.median(np.delete(best, k)))
        scores[out] = grown[k].scores(valid.X[out], stop) + lines[k][0] * known[out] + lines[k][1]
    stop = int(np.median(best))
    slope, offset = line(known, valid.y, weights, classes)
    begun = slope * known + offset
    final = learner.grow(valid, weights, rng, trees=stop, classes=classes, begun=(begun,))
    return Ensemble((base, final.cut(stop)), (slope, 1.0), offset), scores


def line(scores: Floats64, y: Floats64, rows: Floats64, classes: int) -> tuple[float, float]:
    """Return slope and offset that bring scores to the scale of these rows' targets.

    Examples
    --------
    >>> import numpy as np
    >>> slope, offset = line(np.arange(9.0), 3.0 * np.arange(9.0) + 1.0, np.ones(9), 0)
    >>> round(slope, 2), round(offset, 2)
    (3.0, 1.0)
    """
    loss = as_loss("logistic" if classes else "squared")
    data = Data(scores[:, np.newaxis], y)
    model = Linear.standardised(data.X, rows)
    weights, offset = model.raw(minimise(WeightedLoss(model, data, loss, rows, 1e-4)))
    return float(weights[0]), float(offset)
