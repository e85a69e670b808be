"""Small samples of every kind of task, for the parts of the default."""

import numpy as np

from anymetric.auto.families.features import Features
from anymetric.auto.families.learned import LearnerFamily
from anymetric.auto.families.linear import LinearFamily
from anymetric.auto.families.multinomial import MultinomialFamily
from anymetric.auto.sample import Sample
from anymetric.auto.task import Task
from anymetric.data import Data
from anymetric.metrics import Classes

THREE = Classes(("a", "b", "c"))
# Every set of three labels but the empty one and the full one.
SETS = Classes(("p", "q", "r"), np.array([[k >> c & 1 for c in range(3)] for k in range(1, 7)]) > 0)
LABELS = {"two": (0, 1), "numbers": None, "classes": THREE, "labels": SETS}


def drawn(kind, n, rng, d=3):
    """Return features and targets as `Data` holds them."""
    X = rng.normal(size=(n, d))
    signal = X[:, 0] - 0.5 * X[:, 1] + 0.7 * rng.normal(size=n)
    y = {
        "two": np.where(signal > 0.4, 1.0, -1.0),
        "numbers": 3.0 + 2.0 * signal,
        "classes": np.digitize(signal, [-0.5, 0.7]).astype(float),
        "labels": np.clip(np.digitize(signal, [-1.0, -0.5, 0.0, 0.5, 1.0]), 0, 5).astype(float),
    }[kind]
    return X, y


def sample(kind, rng, train=60, valid=60, weights=None, d=3):
    """Return training and validation rows; without training rows there is one sample."""
    X, y = drawn(kind, train + valid, rng, d)
    whole = Data(X, y, np.ones(len(y)) if weights is None else weights)
    parts = whole.take(np.arange(train)), whole.take(np.arange(train, train + valid))
    ratio = np.ones(train) if train else None
    return Sample(Task(LABELS[kind]), *parts, np.arange(valid) % 5, ratio)


def linear(found, **settings):
    """Return the family of linear models for a sample."""
    kind = MultinomialFamily if found.task.many else LinearFamily
    return kind.of(found, Features.of(found, **settings))


def learner(model, stopping=True):
    """Return what makes the family of a learner."""
    return lambda found: LearnerFamily(model, found, stopping)
