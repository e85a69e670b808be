"""Rates: the usual functions of a confusion matrix, by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from anymetric.metrics.counts import ratio

Floats64 = NDArray[np.float64]
Rate = Callable[[Floats64], Floats64]


def _diagonal(M: Floats64) -> Floats64:
    return np.asarray(np.diagonal(M, axis1=-2, axis2=-1))


def _total(M: Floats64) -> Floats64:
    return np.asarray(M.sum(axis=(-2, -1)))


def _recalls(M: Floats64) -> Floats64:
    return ratio(_diagonal(M), M.sum(axis=-1))


def _precisions(M: Floats64) -> Floats64:
    return ratio(_diagonal(M), M.sum(axis=-2))


def _f1s(M: Floats64) -> Floats64:
    return ratio(2.0 * _diagonal(M), M.sum(axis=-1) + M.sum(axis=-2))


def f_beta(M: Floats64, beta: float) -> Floats64:
    """Return the F-measure of the positive class, of matrices ``(..., 2, 2)``.

    Examples
    --------
    >>> float(f_beta(np.array([[8.0, 2.0], [1.0, 4.0]]), 1.0).round(3))
    0.727
    """
    square, tp = beta * beta, M[..., 1, 1]
    return ratio((1.0 + square) * tp, square * M[..., 1, :].sum(axis=-1) + M[..., :, 1].sum(-1))


def _kappa(M: Floats64) -> Floats64:
    n = _total(M)
    chance = (M.sum(axis=-1) * M.sum(axis=-2)).sum(axis=-1)
    return ratio(n * _diagonal(M).sum(axis=-1) - chance, n * n - chance)


def _mcc(M: Floats64) -> Floats64:
    n, true, said = _total(M), M.sum(axis=-1), M.sum(axis=-2)
    top = n * _diagonal(M).sum(axis=-1) - (true * said).sum(axis=-1)
    bottom = (n * n - (true * true).sum(-1)) * (n * n - (said * said).sum(-1))
    return ratio(top, np.sqrt(np.maximum(bottom, 0.0)))


def _weighted_f1(M: Floats64) -> Floats64:
    return ratio((_f1s(M) * M.sum(axis=-1)).sum(axis=-1), _total(M))


def _geometric(values: Floats64) -> Floats64:
    return np.asarray(np.prod(values, axis=-1) ** (1.0 / values.shape[-1]))


# Of any number of classes.
MANY: dict[str, Rate] = {
    "accuracy": lambda M: ratio(_diagonal(M).sum(axis=-1), _total(M)),
    "balanced accuracy": lambda M: np.asarray(_recalls(M).mean(axis=-1)),
    "macro F1": lambda M: np.asarray(_f1s(M).mean(axis=-1)),
    "weighted F1": _weighted_f1,
    "macro precision": lambda M: np.asarray(_precisions(M).mean(axis=-1)),
    "G-mean": lambda M: _geometric(_recalls(M)),
    "worst recall": lambda M: np.asarray(_recalls(M).min(axis=-1)),
    "worst F1": lambda M: np.asarray(_f1s(M).min(axis=-1)),
    "MCC": _mcc,
    "kappa": _kappa,
}
# Of two classes, the second positive; without those of `MANY` that are rare there.
TWO: dict[str, Rate] = {
    "accuracy": MANY["accuracy"],
    "balanced accuracy": MANY["balanced accuracy"],
    "recall": lambda M: ratio(M[..., 1, 1], M[..., 1, :].sum(axis=-1)),
    "specificity": lambda M: ratio(M[..., 0, 0], M[..., 0, :].sum(axis=-1)),
    "precision": lambda M: ratio(M[..., 1, 1], M[..., :, 1].sum(axis=-1)),
    "share flagged": lambda M: ratio(M[..., :, 1].sum(axis=-1), _total(M)),
    "F1": lambda M: f_beta(M, 1.0),
    "G-mean": MANY["G-mean"],
    "MCC": _mcc,
    "kappa": _kappa,
    "Jaccard": lambda M: ratio(M[..., 1, 1], _total(M) - M[..., 0, 0]),
    "negative predictive value": lambda M: ratio(M[..., 0, 0], M[..., :, 0].sum(axis=-1)),
    "macro F1": MANY["macro F1"],
    "weighted F1": _weighted_f1,
    "F1 of the negative class": lambda M: _f1s(M)[..., 0],
    "worst recall": MANY["worst recall"],
    "Fowlkes-Mallows": lambda M: np.sqrt(
        ratio(M[..., 1, 1], M[..., 1, :].sum(axis=-1))
        * ratio(M[..., 1, 1], M[..., :, 1].sum(axis=-1))
    ),
}
# What a rate is called when it is taken off one.
COMPLEMENTS = {
    "accuracy": "error rate",
    "balanced accuracy": "balanced error",
    "recall": "miss rate",
    "specificity": "false-positive rate",
    "precision": "false-discovery rate",
}


def _ratio_over(values: Floats64) -> Floats64:
    return ratio(values.min(axis=-1), values.max(axis=-1))


# Of the values of all groups, along the last axis.
OVER: dict[str, Rate] = {
    "worst group": lambda values: np.asarray(values.min(axis=-1)),
    "mean over groups": lambda values: np.asarray(values.mean(axis=-1)),
    "gap between groups": lambda values: np.asarray(np.ptp(values, axis=-1)),
    "best group": lambda values: np.asarray(values.max(axis=-1)),
    "lowest over highest group": _ratio_over,
    "harmonic mean over groups": lambda values: ratio(
        np.where((values > 0.0).all(axis=-1), float(values.shape[-1]), 0.0),
        (1.0 / np.maximum(values, 1e-300)).sum(axis=-1),
    ),
    "geometric mean over groups": lambda values: _geometric(np.maximum(values, 0.0)),
}
EQUALIZED_ODDS = "equalized-odds gap"


def rate_names(classes: int) -> tuple[str, ...]:
    """Return the names of the rates of so many classes, the plainest first.

    Examples
    --------
    >>> rate_names(3)[:2]
    ('accuracy', 'balanced accuracy')
    """
    return tuple(TWO if classes == 2 else MANY)


def rate(name: str, M: Floats64) -> Floats64:
    """Return a rate by name, of matrices ``(..., C, C)``.

    Examples
    --------
    >>> float(rate("recall", np.array([[8.0, 2.0], [1.0, 3.0]])))
    0.75
    """
    if name.startswith("F-beta "):
        return f_beta(M, float(name.removeprefix("F-beta ")))
    if name.startswith(("recall of class ", "precision of class ", "F1 of class ")):
        kind, place = name.rsplit(" ", 1)
        by_class = {"r": _recalls, "p": _precisions, "F": _f1s}[kind[0]]
        return by_class(M)[..., int(place)]
    return (TWO if M.shape[-1] == 2 else MANY)[name](M)
