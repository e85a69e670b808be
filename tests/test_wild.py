"""A handful of rows with values far beyond all others: they cost no feature."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from anymetric import MetricClassifier, MetricRegressor
from anymetric.auto.wild import wild_rows
from anymetric.data import Data
from anymetric.errors import MetricWarning
from anymetric.models import Linear

ROWS = 400
# One test of them is enough.
pytestmark = pytest.mark.filterwarnings("ignore:.*hold a value over")


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


def spoilt(X, seed, count):
    """Return X with wild values in so many of the training rows."""
    rng = np.random.default_rng([seed, count])
    X, rows = X.copy(), rng.choice(ROWS, count, replace=False)
    X[rows, 0] = 1e6 * rng.choice([-1.0, 1.0], count)
    return X, rows


CASES = {
    "classes": (MetricClassifier("balanced_accuracy", random_state=0), two_classes),
    "probabilities": (
        MetricClassifier("neg_brier_score", max_metric_calls=500, random_state=0),
        two_classes,
    ),
    "many": (MetricClassifier("macro_f1", random_state=0), three_classes),
    "numbers": (MetricRegressor("median_absolute_error", random_state=0), numbers),
}


@pytest.mark.parametrize("count", [1, 5])
@pytest.mark.parametrize("case", list(CASES))
def test_a_wild_row_costs_no_feature(case, count):
    model, draw = CASES[case]
    sound, wild = [], []
    for seed in range(3):
        X, y = draw(seed)
        Z, _ = spoilt(X, seed, count)
        test = X[ROWS:], y[ROWS:]
        sound.append(clone(model).fit(X[:ROWS], y[:ROWS]).score(*test))
        wild.append(clone(model).fit(Z[:ROWS], y[:ROWS]).score(*test))
    # Without the first column they are a fifth behind, or far more.
    assert np.mean(wild) == pytest.approx(np.mean(sound), rel=0.05)


def test_lines_beside_trees_miss_no_feature_either():
    pytest.importorskip("lightgbm")
    X, y = two_classes(0)
    Z, _ = spoilt(X, 0, 2)
    model = MetricClassifier("balanced_accuracy", model="auto", random_state=0)
    sound = clone(model).fit(X[:ROWS], y[:ROWS]).score(X[ROWS:], y[ROWS:])
    assert model.fit(Z[:ROWS], y[:ROWS]).score(X[ROWS:], y[ROWS:]) > sound - 0.05


def test_a_wild_row_has_no_weight_in_the_learned_loss():
    X, y = two_classes(0)
    Z, rows = spoilt(X, 0, 3)
    model = MetricClassifier("balanced_accuracy", random_state=0).fit(Z[:ROWS], y[:ROWS])
    assert sorted(np.flatnonzero(model.sample_weight_ == 0.0)) == sorted(rows)


def test_wild_rows_that_do_not_train_are_spoken_of():
    for draw, kind, metric in (
        (numbers, MetricRegressor, "median_absolute_error"),
        (two_classes, MetricClassifier, "f1"),
        (three_classes, MetricClassifier, "macro_f1"),
    ):
        X, y = draw(0)
        Z, _ = spoilt(X, 0, 2)
        with pytest.warns(MetricWarning, match=r"2 row\(s\) hold a value"):
            found = kind(metric, random_state=0).fit(Z[:ROWS], y[:ROWS])
        assert found.settings_["wild"] == 2
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert "wild" not in clone(found).fit(X[:ROWS], y[:ROWS]).settings_


def test_errors_of_any_size_keep_wild_rows_in_training():
    X, y = numbers(0)
    Z, _ = spoilt(X, 0, 5)
    judges = X[ROWS:800].copy()
    judges[:5, 0] = 1e6
    model = MetricRegressor("r2", random_state=0)
    model.fit(Z[:ROWS], y[:ROWS], X_val=judges, y_val=y[ROWS:800])
    assert model.validation_score_ > 0.0


def test_ordinary_tables_have_no_wild_rows():
    rng = np.random.default_rng(0)
    rare = (rng.random(3000) < 0.001).astype(float)
    money = np.exp(1.5 * rng.normal(size=3000))
    counts = rng.poisson(0.02, 3000) * 1e6
    tails = rng.standard_t(3, 3000)
    assert not wild_rows(np.column_stack([rare, money, counts, tails])).any()


def test_many_wild_rows_are_no_accident():
    X = np.random.default_rng(0).normal(size=(1000, 2))
    X[:80, 0] = 1e6
    assert not wild_rows(X).any()
    X[20:80, 0] = 0.0
    assert np.flatnonzero(wild_rows(X)).tolist() == list(range(20))


def test_a_class_of_wild_rows_still_trains():
    X, _ = two_classes(0)
    y = np.zeros(ROWS, dtype=int)
    y[:8] = 1
    Z = X[:ROWS].copy()
    Z[:8, 0] = 1e6
    model = MetricClassifier("f1", random_state=0).fit(Z, y)
    assert model.predict(Z)[:8].all()


def test_the_scale_of_sound_tables_is_the_standard_deviation():
    X, y = two_classes(0)
    model = MetricClassifier("f1", random_state=0).fit(X[:ROWS], y[:ROWS])
    scale = model._linear(Data(X[:ROWS], np.ones(ROWS))).scale
    np.testing.assert_array_equal(scale, Linear.standardised(X[:ROWS]).scale)
