"""Defaults: whole fits beside a logistic regression or LightGBM with a tuned threshold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from anymetric import MetricClassifier
from anymetric.datasets import load_adult, load_compas
from anymetric.models.trees import lightgbm

from .table import Table
from .timing import timed

HEAD = ["rows and features", "ours", "seconds", "the other", "seconds", "ratio", "F1", "its F1"]


@dataclass(frozen=True)
class Case:
    """Rows, and what is compared on them."""

    name: str
    rows: Callable[[], tuple[Any, Any]]
    model: str
    other: str


def adult() -> tuple[Any, Any]:
    """Return all rows of Adult."""
    data = load_adult()
    return data.X, (data.y > 0).astype(int)


def compas() -> tuple[Any, Any]:
    """Return all rows of COMPAS."""
    data = load_compas()
    return data.X, (data.y > 0).astype(int)


def dense(n: int, d: int) -> tuple[Any, Any]:
    """Return standard normal rows with a tenth of positives, by ten of the columns."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype=np.float32)
    score = X[:, :10].sum(axis=1) / 3.0 + rng.standard_normal(n)
    return X, (score > np.quantile(score, 0.9)).astype(int)


def text(n: int, d: int) -> tuple[Any, Any]:
    """Return sparse rows like counts of words, one entry in a hundred."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((n, d), density=0.01, rng=rng, format="csr", dtype=np.float64)
    score = np.asarray(X[:, : d // 10].sum(axis=1)).ravel()
    score = score / score.std() + rng.standard_normal(n)
    return sparse.csr_array(X), (score > np.quantile(score, 0.9)).astype(int)


CASES = (
    Case("COMPAS", compas, "linear", "logistic"),
    Case("Adult", adult, "linear", "logistic"),
    Case("Adult", adult, "auto", "LightGBM"),
    Case("500 x 20,000", lambda: dense(500, 20_000), "linear", "logistic"),
    Case("100,000 x 100", lambda: dense(100_000, 100), "linear", "logistic"),
    Case("text, 100,000 x 2,000", lambda: text(100_000, 2000), "linear", "logistic"),
)
QUICK = (Case("COMPAS", compas, "linear", "logistic"), Case("COMPAS", compas, "auto", "LightGBM"))


def tuned(kind: str, X: Any) -> Any:
    """Return a learner whose threshold is tuned for F1 on five folds."""
    if kind == "LightGBM":
        inner: Any = lightgbm().LGBMClassifier(n_jobs=1, verbose=-1, random_state=0)
    else:
        scaled = StandardScaler(with_mean=not sparse.issparse(X))
        inner = make_pipeline(scaled, LogisticRegression(max_iter=1000))
    return TunedThresholdClassifierCV(inner, scoring="f1", cv=5)


def measure(quick: bool = False) -> Table:
    """Time whole fits, one after the other, and score them on held-out rows."""
    rows = []
    for case in QUICK if quick else CASES:
        X, y = case.rows()
        train, test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
        ours = MetricClassifier("f1", model=case.model, random_state=0)
        _, own = timed(lambda m=ours, X=train, y=y_train: m.fit(X, y))
        other = tuned(case.other, X)
        _, took = timed(lambda m=other, X=train, y=y_train: m.fit(X, y))
        scores = ours.score(test, y_test), f1(other.predict(test), y_test)
        named = f"{case.other}, tuned threshold"
        shape = f"{case.name}, {train.shape[0]:,} x {train.shape[1]:,}"
        told = [f"{score:.3f}" for score in scores]
        rows.append([shape, case.model, own, named, took, own / took, *told])
    return Table("Whole fits, side by side", HEAD, rows, [NOTE])


NOTE = (
    "F1, one thread, processor seconds; the other learner is scikit-learn's "
    "TunedThresholdClassifierCV with five folds around it. A quarter of the rows is held out."
)


def f1(decided: Any, y: Any) -> float:
    """Return the F-measure."""
    right = float(np.sum((decided == 1) & (y == 1)))
    return 2.0 * right / max(float(np.sum(decided == 1) + np.sum(y == 1)), 1.0)
