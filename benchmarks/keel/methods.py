"""Methods: ours, learners with a tuned threshold, and learners with balanced class weights."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np
from lightgbm import LGBMClassifier
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from anymetric import MetricClassifier

from .counts import threshold, value

# The library's names; that of MCC is a scorer's.
NAMES = {"f1": "f1", "gmean": "gmean", "mcc": "matthews_corrcoef"}
Learner = Callable[[int], Any]


@dataclass(frozen=True)
class Sample:
    """Training rows, and the features of the test rows."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    X_test: NDArray[np.float64]


@dataclass(frozen=True)
class Answer:
    """Which rows of the test are flagged for a metric, and the seconds of one fit for it."""

    metric: str
    flagged: NDArray[np.bool_]
    seconds: float


@dataclass(frozen=True)
class Ours:
    """A `MetricClassifier` for each metric, with these settings."""

    settings: tuple[tuple[str, Any], ...] = ()

    def answers(self, sample: Sample, metrics: Sequence[str], seed: int) -> Iterator[Answer]:
        for metric in metrics:
            model = MetricClassifier(NAMES[metric], random_state=seed, **dict(self.settings))
            began = time.process_time()
            model.fit(sample.X, sample.y)
            seconds = time.process_time() - began
            yield Answer(metric, model.predict(sample.X_test) == 1, seconds)


@dataclass(frozen=True)
class Tuned:
    """A learner fitted to all rows, with the threshold that is best for out-of-fold scores.

    The metrics share the fits; each is charged for all of them.
    """

    learner: Learner

    def answers(self, sample: Sample, metrics: Sequence[str], seed: int) -> Iterator[Answer]:
        model, folds = self.learner(seed), StratifiedKFold(5, shuffle=True, random_state=seed)
        began = time.process_time()
        inside = cross_val_predict(model, sample.X, sample.y, cv=folds, method="predict_proba")
        model.fit(sample.X, sample.y)
        shared = time.process_time() - began
        scores = model.predict_proba(sample.X_test)[:, 1]
        for metric in metrics:
            began = time.process_time()
            least = threshold(metric, sample.y, inside[:, 1])
            yield Answer(metric, scores >= least, shared + time.process_time() - began)


@dataclass(frozen=True)
class Plain:
    """A learner that knows nothing of the metric."""

    learner: Learner

    def answers(self, sample: Sample, metrics: Sequence[str], seed: int) -> Iterator[Answer]:
        model = self.learner(seed)
        began = time.process_time()
        model.fit(sample.X, sample.y)
        seconds = time.process_time() - began
        flagged = model.predict(sample.X_test) == 1
        yield from (Answer(metric, flagged, seconds) for metric in metrics)


@dataclass(frozen=True)
class AutoGluon:
    """AutoGluon's models in bags of five folds, weighted together, with a calibrated threshold.

    Its networks are left out, which need torch. It wants an environment of its own, and is left
    out where it is not installed.
    """

    needs: ClassVar = "autogluon"
    limit: float = 30.0
    without: tuple[str, ...] = ("NN_TORCH", "FASTAI")

    def answers(self, sample: Sample, metrics: Sequence[str], seed: int) -> Iterator[Answer]:
        import pandas as pd
        from autogluon.tabular import TabularPredictor

        names = [f"x{k}" for k in range(sample.X.shape[1])]
        train = pd.DataFrame(sample.X, columns=names).assign(y=sample.y)
        for metric in metrics:
            began = time.process_time()
            with TemporaryDirectory() as folder:
                model = TabularPredictor(
                    "y", "binary", scorer(metric), path=folder, verbosity=0
                ).fit(
                    train,
                    time_limit=self.limit,
                    num_bag_folds=5,
                    excluded_model_types=list(self.without),
                    calibrate_decision_threshold=True,
                    num_cpus=1,
                    ag_args_ensemble={"fold_fitting_strategy": "sequential_local"},
                )
                seconds = time.process_time() - began
                flagged = model.predict(pd.DataFrame(sample.X_test, columns=names)) == 1
            yield Answer(metric, flagged.to_numpy(), seconds)


def scorer(metric: str) -> Any:
    """Return a metric as AutoGluon takes it."""
    from autogluon.core.metrics import make_scorer

    return make_scorer(metric, partial(value, metric), needs_class=True)


def logistic(seed: int, **settings: Any) -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000, **settings))


def trees(seed: int, **settings: Any) -> Any:
    return LGBMClassifier(n_estimators=100, random_state=seed, n_jobs=1, verbose=-1, **settings)


def histograms(seed: int) -> Any:
    return HistGradientBoostingClassifier(random_state=seed)


def forest(seed: int) -> Any:
    return RandomForestClassifier(class_weight="balanced_subsample", random_state=seed, n_jobs=1)


METHODS: dict[str, Any] = {
    "anymetric": Ours(),
    "anymetric, linear": Ours((("model", "linear"),)),
    "anymetric, boosted": Ours((("model", "boosted"),)),
    "logistic, threshold": Tuned(logistic),
    "logistic, balanced": Plain(lambda seed: logistic(seed, class_weight="balanced")),
    "LightGBM, threshold": Tuned(trees),
    "LightGBM, balanced": Plain(lambda seed: trees(seed, class_weight="balanced")),
    "HistGradientBoosting, threshold": Tuned(histograms),
    "random forest, balanced, threshold": Tuned(forest),
    "AutoGluon": AutoGluon(),
}
