"""A handful of values far beyond all others: they cost no feature."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from anymetric import MetricClassifier, MetricRegressor
from anymetric.errors import MetricWarning

ROWS = 400
# One test of them is enough.
pytestmark = pytest.mark.filterwarnings("ignore:.*clipped for linear models")


def table(seed):
    """Rows of which the first column tells most."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2400, 4))
    return X, X @ np.array([1.5, 1.0, -0.7, 0.0]), rng.normal(size=2400)


def numbers(seed):
    X, f, noise = table(seed)
    return X, f + noise


def two_classes(seed):
    X, y = numbers(seed)
    return X, (y > 1.0).astype(int)


def three_classes(seed):
    X, y = numbers(seed)
    return X, np.digitize(y, [-1.5, 1.5])


def corrupted(X, seed, count):
    """Return X with outliers in a number of the training rows."""
    rng = np.random.default_rng([seed, count])
    X, rows = X.copy(), rng.choice(ROWS, count, replace=False)
    X[rows, 0] = 1e6 * rng.choice([-1.0, 1.0], count)
    return X, rows


CASES = {
    "classes": (MetricClassifier("balanced_accuracy", model="linear", random_state=0), two_classes),
    "probabilities": (
        MetricClassifier("neg_brier_score", max_metric_calls=500, model="linear", random_state=0),
        two_classes,
    ),
    "many": (MetricClassifier("macro_f1", model="linear", random_state=0), three_classes),
    "numbers": (MetricRegressor("median_absolute_error", model="linear", random_state=0), numbers),
}


@pytest.mark.parametrize("count", [1, 5])
@pytest.mark.parametrize("case", list(CASES))
def test_an_outlier_costs_no_feature(case, count):
    model, draw = CASES[case]
    sound, wild = [], []
    for seed in range(2):
        X, y = draw(seed)
        Z, _ = corrupted(X, seed, count)
        test = X[ROWS:], y[ROWS:]
        sound.append(clone(model).fit(X[:ROWS], y[:ROWS]).score(*test))
        wild.append(clone(model).fit(Z[:ROWS], y[:ROWS]).score(*test))
    # Without the first column they are a fifth behind, or far more.
    assert np.mean(wild) == pytest.approx(np.mean(sound), rel=0.2)


def test_lines_beside_trees_miss_no_feature_either():
    pytest.importorskip("lightgbm")
    X, y = two_classes(0)
    Z, _ = corrupted(X, 0, 2)
    model = MetricClassifier("balanced_accuracy", model="auto", random_state=0)
    sound = clone(model).fit(X[:ROWS], y[:ROWS]).score(X[ROWS:], y[ROWS:])
    assert model.fit(Z[:ROWS], y[:ROWS]).score(X[ROWS:], y[ROWS:]) > sound - 0.05


def test_errors_of_any_size_keep_outliers_in_training():
    X, y = numbers(0)
    Z, _ = corrupted(X, 0, 5)
    judges = X[ROWS:800].copy()
    judges[:5, 0] = 1e6
    model = MetricRegressor("r2", model="linear", random_state=0)
    model.fit(Z[:ROWS], y[:ROWS], X_val=judges, y_val=y[ROWS:800])
    assert model.validation_score_ > 0.0


def test_columns_that_are_clipped_are_warned_of():
    X, y = two_classes(0)
    Z, _ = corrupted(X, 0, 2)
    clf = MetricClassifier("f1", model="linear", random_state=0)
    with pytest.warns(MetricWarning, match=r"column\(s\) 0 hold outliers"):
        clf.fit(Z[:ROWS], y[:ROWS])
    with warnings.catch_warnings():
        warnings.simplefilter("error", MetricWarning)
        clf.fit(X[:ROWS], y[:ROWS])


def test_a_class_of_outliers_still_trains():
    X, _ = two_classes(0)
    y = np.zeros(ROWS, dtype=int)
    y[:8] = 1
    Z = X[:ROWS].copy()
    Z[:8, 0] = 1e6
    model = MetricClassifier("f1", model="linear", random_state=0).fit(Z, y)
    assert model.predict(Z)[:8].all()


@pytest.mark.parametrize("few", [1, 6])
def test_rows_that_decide_a_mean_of_losses_are_named(few, rng):
    X = rng.normal(size=(300, 3))
    y = np.exp(X[:, 0])
    y[:few] = 0.0
    with pytest.warns(MetricWarning, match=r"[156] of 300 validation rows make up 99% .*: 0\)"):
        MetricRegressor("mean_absolute_percentage_error", random_state=0).fit(X, y)


@pytest.mark.parametrize("metric", ["mean_absolute_percentage_error", "mean_squared_error"])
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_rows_that_share_a_mean_of_losses_are_left_in_peace(metric, noise, rng):
    X = rng.normal(size=(300, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error", MetricWarning)
        MetricRegressor(metric, random_state=0).fit(
            X, np.exp(X[:, 0] + noise * rng.normal(size=300))
        )
