"""Noise: how often a label is written down as another one, by slice, and what a row's label was.

``T[s, y, z]`` is the probability that a row of slice s and true class y has the label z.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats64 = NDArray[np.float64]
Ints = NDArray[np.intp]
# What is believed before any row is seen: so many rows of each class, this share of them wrong.
BELIEVED, WRONG = 50.0, 0.05
# A slice begins with so many rows like those of all slices together.
BORROWED = 20.0
# Steps of expectation and maximisation, each a pass over the rows.
STEPS = 30


@dataclass(frozen=True, eq=False)
class Noise:
    """Transition probabilities by slice, and what follows for rows.

    Attributes
    ----------
    table : array of shape (slices, C, C)

    Examples
    --------
    A third of the positives of one slice are written down as negatives:

    >>> noise = Noise(np.array([[[1.0, 0.0], [1 / 3, 2 / 3]]]))
    >>> p, label, slices = np.array([[0.5, 0.5]]), np.array([0]), np.array([0])
    >>> noise.posterior(p, label, slices).round(2).tolist()
    [[0.75, 0.25]]
    >>> noise.informed.round(2).tolist()
    [0.67]
    """

    table: Floats64

    @classmethod
    def plain(cls, slices: int, classes: int, wrong: float = 2.0 * WRONG) -> Noise:
        """Return the same share of wrong labels everywhere."""
        return cls(np.broadcast_to(believed(classes, wrong), (slices, classes, classes)))

    @classmethod
    def estimated(cls, p: Floats64, label: Ints, slices: Ints, start: Noise) -> Noise:
        """Return the maximum of the likelihood of the labels, with a prior against noise.

        Parameters
        ----------
        p : array of shape (n, C)
            Probabilities of the true classes, by models that the rows did not train.
        label, slices : arrays of shape (n,)
        start : Noise
        """
        noise, shape = start, start.table.shape
        for _ in range(STEPS):
            true = noise.posterior(p, label, slices)
            counts = np.zeros(shape)
            for y in range(shape[1]):
                flat = slices * shape[2] + label
                size = shape[0] * shape[2]
                sums = np.bincount(flat, weights=true[:, y], minlength=size)
                counts[:, y] = sums.reshape(shape[0], shape[2])
            whole = unit(counts.sum(axis=0) + BELIEVED * believed(shape[1], WRONG))
            noise = cls(unit(counts + BORROWED * whole))
        return noise

    def posterior(self, p: Floats64, label: Ints, slices: Ints) -> Floats64:
        """Return the probabilities ``(n, C)`` of the true classes, given the labels too."""
        joint = p * self.table[slices, :, label]
        return np.asarray(joint / joint.sum(axis=1, keepdims=True))

    def likelihood(self, p: Floats64, label: Ints, slices: Ints) -> float:
        """Return the log-likelihood of the labels."""
        found = np.sum(p * self.table[slices, :, label], axis=1)
        return float(np.log(np.maximum(found, 1e-300)).sum())

    @property
    def informed(self) -> Floats64:
        """How much labels of each slice say: 1 where none is wrong, 0 where they are chance."""
        classes = self.table.shape[1]
        return np.asarray((np.trace(self.table, axis1=1, axis2=2) - 1.0) / (classes - 1))


def confident(p: Floats64, label: Ints) -> Noise:
    """Return one table for all rows from out-of-fold probabilities alone, by confident learning.

    A row counts for the likeliest class among those in which it is at least as probable as rows of
    that label are on average (Northcutt et al., 2021).

    Examples
    --------
    >>> p = np.array([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.2, 0.8], [0.1, 0.9]])
    >>> confident(p, np.array([0, 0, 1, 1, 0])).table[0, 1].round(2).tolist()
    [0.07, 0.93]
    """
    classes = p.shape[1]
    usual = np.array(
        [p[label == c, c].mean() if np.any(label == c) else 1.0 for c in range(classes)]
    )
    sure = np.where(p >= usual, p, -1.0)
    counted = sure.max(axis=1) >= 0.0
    counts = np.zeros((classes, classes))
    np.add.at(counts, (sure.argmax(axis=1)[counted], label[counted]), 1.0)
    return Noise(unit(counts + BELIEVED * believed(classes, WRONG))[np.newaxis])


def believed(classes: int, wrong: float) -> Floats64:
    """Return a table in which this share of each class is wrong, evenly."""
    return np.full((classes, classes), wrong / (classes - 1)) + (
        1.0 - wrong - wrong / (classes - 1)
    ) * np.eye(classes)


def unit(counts: Floats64) -> Floats64:
    """Return rows that sum to one."""
    return np.asarray(counts / counts.sum(axis=-1, keepdims=True))
