"""Hostile fits give a model or one clear error: ANYMETRIC_FUZZ=2000 draws as many as a release."""

import os
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from anymetric import MetricClassifier, MetricError, MetricRegressor

DRAWS = int(os.environ.get("ANYMETRIC_FUZZ", "60"))
# Draws beyond the usual ones that once were a bug.
FOUND = (1714, 1883)
# What says what is wrong; anything else is a bug of ours that shows.
CLEAR = (ValueError, TypeError, MetricError)
SECRET = ("index ", "broadcast", "NoneType", "unpack", "argmax", "zero-size", "infs or NaNs")


def pick(rng, *choices):
    return choices[rng.integers(len(choices))]


def fails_at(rng):
    when = {"call": 0}
    last = int(rng.integers(1, 30))

    def moody_score(y_true, y_pred):
        when["call"] += 1
        if when["call"] == last:
            raise RuntimeError("the vendor is out")
        return float(np.mean(y_true == y_pred)) if last % 3 else float("nan")

    return moody_score


def features(rng, n):
    X = rng.normal(size=(n, int(rng.integers(1, 5))))
    hostile = pick(rng, "nan", "inf", "huge", "tiny", "sparse", "sparse nan", "twice", "const")
    kind = pick(rng, "plain", "plain", hostile)
    if kind in ("nan", "sparse nan"):
        X[rng.random(X.shape) < 0.2] = np.nan
    if kind == "inf":
        X[0, 0] = np.inf
    X = X * {"huge": 1e300, "tiny": 1e-300}.get(kind, 1.0)
    if kind == "const":
        X[:] = 7.0
    if kind.startswith("sparse"):
        return sparse.csr_array(X), kind
    if kind == "twice":
        return pd.DataFrame(np.column_stack([X, X]), columns=["a"] * (2 * X.shape[1])), kind
    return X, kind


def targets(rng, n):
    hostile = pick(rng, "one", "mixed", "rare", "nan", "huge")
    kind = pick(rng, "two", "words", "three", "numbers", hostile)
    y = rng.integers(0, 2, n)
    made = {
        "two": lambda: y,
        "three": lambda: rng.integers(0, 3, n),
        "one": lambda: np.zeros(n, dtype=int),
        "mixed": lambda: np.array([1, "a"] * n, dtype=object)[:n],
        "rare": lambda: (np.arange(n) == 0).astype(int),
        "words": lambda: np.where(y, "yes", "no"),
        "nan": lambda: np.where(np.arange(n) == 3, np.nan, y),
        "numbers": lambda: rng.normal(size=n),
        "huge": lambda: 1e300 * rng.normal(size=n),
    }
    return made[kind](), kind


def drawn(seed):
    """Return a description of a hostile fit, and the fit."""
    rng = np.random.default_rng(seed)
    n = int(pick(rng, 3, 12, 40, 120))
    (X, features_are), (y, target_is) = features(rng, n), targets(rng, n)
    numbers = target_is in ("numbers", "huge")
    metric = (
        pick(rng, "mean_absolute_error", "r2", "pinball_0.9")
        if numbers
        else pick(
            rng,
            "f1",
            "roc_auc",
            "accuracy",
            "precision@5",
            "group_mean_f1",
            "macro_f1",
            fails_at(rng),
        )
    )
    given = {}
    hostile = pick(rng, "zero class", "zeros", "negative", "huge")
    weights = pick(rng, None, None, None, hostile)
    if weights is not None:
        given["sample_weight"] = {
            "zero class": (np.asarray(y).astype(str) != str(np.asarray(y)[0])).astype(float),
            "zeros": np.zeros(n),
            "negative": -np.ones(n),
            "huge": np.full(n, 1e300),
        }[weights]
    if rng.random() < 0.3:
        given["groups"] = rng.choice(["a", "b"], n)
    if rng.random() < 0.05:
        given["y_val"] = y  # and no X_val
    model, method = pick(rng, "auto", "linear", "boosted"), pick(rng, "auto", "auto", "descent")
    kind = MetricRegressor if numbers else MetricClassifier
    clf = kind(metric, model=model, method=method, max_metric_calls=80, random_state=0)
    told = (features_are, target_is, weights, n, model, method, getattr(metric, "__name__", metric))
    return (*told, sorted(given)), lambda: (clf.fit(X, y, **given), X)


@pytest.mark.parametrize("part", range(4))
def test_a_hostile_fit_gives_a_model_or_one_clear_error(part):
    for seed in sorted({*range(1000 + part, 1000 + DRAWS, 4), *FOUND[part : part + 1]}):
        case, fit = drawn(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model, X = fit()
                predicted = model.predict(X)
            except CLEAR as error:
                said = str(error)
                assert len(said) > 15, (seed, case, said)
                assert not any(word in said for word in SECRET), (seed, case, said)
                continue
            except Exception as error:
                raise AssertionError((seed, case, repr(error))) from error
        assert len(predicted) == X.shape[0], (seed, case)
        if isinstance(model, MetricRegressor):
            assert np.all(np.isfinite(predicted)), (seed, case)
