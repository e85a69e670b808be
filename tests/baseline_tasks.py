"""A small task with groups and labels as words, for the tests of comparison methods."""

import numpy as np
from sklearn.metrics import f1_score

# A check that scikit-learn skips unless SciPy is told of it before it is imported.
ARRAY_API = "check_array_api_input"


def task(seed=0, n=240):
    """Rows of two classes and two groups: features, labels as words, groups."""
    rng = np.random.default_rng(seed)
    groups = rng.choice(["f", "m"], n)
    z = rng.normal(size=(n, 4))
    odds = z[:, 0] + 0.5 * z[:, 1] + np.where(groups == "f", -1.5, -0.3)
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-2 * odds)), "yes", "no")
    return z * [1.0, 2.0, 0.1, 5.0] + [0.0, 3.0, 1.0, -2.0], y, groups


def fitted(estimator, X=None, **more):
    """Fit on the task's first rows, validated on the last."""
    Z, y, groups = task()
    X = Z if X is None else X
    train, judge = slice(0, 160), slice(160, None)
    valid = {"X_val": X[judge], "y_val": y[judge], "groups_val": groups[judge]}
    return estimator.fit(X[train], y[train], groups=groups[train], **valid, **more)


def plain_macro_f1(y, positive, groups):
    """The mean of scikit-learn's F-measures."""
    each = [f1_score(y[groups == g], positive[groups == g], zero_division=0) for g in set(groups)]
    return float(np.mean(each))
