"""Metrics of many classes and of sets of labels, beside scikit-learn's numbers of the same."""

import numpy as np
from sklearn import metrics as sk

from anymetric.metrics import Classes, CostMatrix

FOUR = Classes(("a", "b", "c", "d"))
LABELS = list(range(4))
COSTS = np.array([[0, 1, 4, 9], [2, 0, 1, 4], [8, 2, 0, 1], [18, 8, 2, 0]])


def weighed(function, **settings):
    return lambda y, p, w: function(y, p, sample_weight=w, **settings)


def recalls(y, p, w):
    """Recalls of the classes that occur."""
    each = sk.recall_score(y, p, labels=LABELS, average=None, sample_weight=w, zero_division=0)
    return each[np.bincount(y, minlength=len(LABELS)) > 0]


# Functions of (y, predicted, weights), of codes.
BY_CLASS = {
    "accuracy": weighed(sk.accuracy_score),
    "error": weighed(sk.zero_one_loss),
    "balanced_accuracy": weighed(sk.balanced_accuracy_score),
    "balanced_error": lambda y, p, w: 1 - sk.balanced_accuracy_score(y, p, sample_weight=w),
    "macro_f1": weighed(sk.f1_score, average="macro"),
    "macro_f2": weighed(sk.fbeta_score, beta=2, average="macro"),
    "micro_f1": weighed(sk.f1_score, average="micro"),
    "weighted_f1": weighed(sk.f1_score, average="weighted"),
    "macro_recall": weighed(sk.balanced_accuracy_score),
    "macro_precision": weighed(sk.precision_score, average="macro", zero_division=0),
    "worst_class_recall": lambda y, p, w: recalls(y, p, w).min(),
    "gmean": lambda y, p, w: np.prod(found := recalls(y, p, w)) ** (1 / len(found)),
    "cohen_kappa": weighed(sk.cohen_kappa_score),
    "mcc": weighed(sk.matthews_corrcoef),
    CostMatrix(COSTS): lambda y, p, w: np.average(COSTS[y, p], weights=w),
}


def f(average, beta=1.0):
    return weighed(sk.fbeta_score, beta=beta, average=average, zero_division=0)


# Functions of (y, predicted, weights), of tables of zeros and ones.
BY_LABEL = {
    "micro_f1": f("micro"),
    "macro_f1": f("macro"),
    "macro_f2": f("macro", 2.0),
    "weighted_f1": f("weighted"),
    "instance_f1": f("samples"),
    "instance_f0.5": f("samples", 0.5),
    "hamming_loss": weighed(sk.hamming_loss),
    "subset_accuracy": weighed(sk.accuracy_score),
    "accuracy": weighed(sk.accuracy_score),
    "error": weighed(sk.zero_one_loss),
    "worst_class_recall": lambda y, p, w: sk.recall_score(
        y, p, average=None, sample_weight=w
    ).min(),
    "balanced_accuracy": lambda y, p, w: np.mean(
        [
            sk.balanced_accuracy_score(own, given, sample_weight=w)
            for own, given in zip(y.T, p.T, strict=True)
        ]
    ),
}
