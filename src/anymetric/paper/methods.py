"""Methods: what each column of the paper's tables is here, and the library's default beside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric import baselines, estimators
from anymetric.datasets import Dataset, best_linear_gmean
from anymetric.gradients import LinearInterpolation
from anymetric.losses import Sigmoid
from anymetric.notebook import NotebookDescent
from anymetric.paper.resumed import Resumed
from anymetric.paper.samples import Parts, groups_of, side_of
from anymetric.paper.scales import Scale
from anymetric.paper.tasks import Task
from anymetric.projections import Adagrad
from anymetric.tuning import Tuned


@dataclass(frozen=True, eq=False)
class Job:
    """The settings of a method, and where it may keep unfinished work."""

    task: Task
    parts: Parts
    scale: Scale
    seed: int
    points: Path | None = None


# From a job to an estimator, in the language of scikit-learn, which has no types.
Make = Callable[[Job], Any]


@dataclass(frozen=True, eq=False)
class Answer:
    """A fitted estimator: scores for any sample, its metric calls, its settings."""

    estimator: Any

    @property
    def calls(self) -> float:
        """Metric calls; NaN where they are not counted."""
        return float(getattr(self.estimator, "n_metric_calls_", np.nan))

    @property
    def earlier(self) -> float:
        """Seconds of work that an earlier run had done."""
        summary = getattr(self.estimator, "summary_", None)
        return 0.0 if summary is None else float(summary.earlier_seconds)

    @property
    def detail(self) -> str:
        """The settings that were chosen; of a plane's lines the line itself."""
        settings = getattr(getattr(self.estimator, "summary_", None), "chosen", {})
        kept = {key: settings[key] for key in ("step", "sigma", "C", "shift") if key in settings}
        line = [
            *np.ravel(self.estimator.coef_).tolist(),
            float(np.ravel(self.estimator.intercept_)[0]),
        ]
        return json.dumps({**kept, "line": line} if len(line) == 3 else kept)

    def scores(self, sample: Dataset) -> NDArray[np.float64]:
        """Return the scores, with the metadata that the decision rule reads."""
        score = getattr(self.estimator, "decision_function", self.estimator.predict)
        metadata: dict[str, Any] = {"groups": groups_of(sample)}
        if hasattr(self.estimator, "metric_"):
            metadata["side"] = side_of(sample, self.estimator.metric_)
        known = signature(score).parameters
        given = {name: value for name, value in metadata.items() if name in known}
        return np.asarray(score(sample.X, **given), dtype=np.float64)


@dataclass(frozen=True)
class Method:
    """A way to answer a task.

    Parameters
    ----------
    name, label : str
        For files and for tables.
    make : function of a Job
        Returns the estimator to be fitted.
    scaled : bool
        Whether the scale matters: it does to the paper's algorithm, which takes hours, and gets
        its features in single precision.
    iterations : float
        How many iterations of the paper's algorithm take as long, to estimate the time left.

    Examples
    --------
    >>> METHODS["proposed"].scaled, METHODS["post_shift"].scaled
    (True, False)
    """

    name: str
    label: str
    make: Make
    scaled: bool = False
    iterations: float = 1.0

    def fit(self, job: Job) -> Answer:
        """Fit on the training rows and the validation rows."""
        task, parts = job.task, job.parts
        kind = np.float32 if self.scaled else np.float64
        return Answer(
            self.make(job).fit(
                parts.train.X.astype(kind, copy=False),
                parts.train.y,
                groups=groups_of(parts.train),
                side=side_of(parts.train, task.metric),
                X_val=parts.valid.X.astype(kind, copy=False),
                y_val=parts.valid.y,
                groups_val=groups_of(parts.valid),
                side_val=side_of(parts.valid, task.metric),
            )
        )


def baseline(name: str) -> Make:
    """Return the maker of a comparison method."""
    of: Any = getattr(baselines, name)
    return lambda job: of(job.task.metric, random_state=job.seed)


def door(task: Task) -> Any:
    """Return the estimator that a user takes for such a task."""
    return estimators.MetricRanker if task.ranking else estimators.MetricClassifier


def default(job: Job) -> Any:
    """Return the library's default for lines, which is what the paper compares."""
    return door(job.task)(job.task.metric, model="linear", random_state=job.seed)


def proposed(*, loss: str | None = None, probes: int | None = None) -> Make:
    """Return the maker of the paper's algorithm with the paper's surrogates, from zero."""

    def make(job: Job) -> Any:
        task = job.task
        method: Any = job.scale.method(task.steps, task.sigmas, task.batch, probes)
        if job.points is not None and isinstance(method, Tuned):
            method = Resumed(method, job.points)
        return door(task)(
            task.metric,
            surrogates=task.surrogates(loss or task.loss),
            model="linear",
            method=method,
            standardize=task.standardize,
            # The paper does not say where it starts; the authors' notebook starts from zero.
            starts=np.zeros((1, job.parts.train.X.shape[1] + 1)),
            random_state=job.seed,
        )

    return make


def notebook(job: Job) -> Any:
    """Return the authors' published loop, as long as the scale lets it be."""
    loop = NotebookDescent(iterations=job.scale.outer_iterations)
    few = min(job.scale.probes, 100)
    shorter = replace(
        loop,
        gradient=LinearInterpolation(m=few, sigma=1.0, sides="one"),
        projection=Adagrad(iterations=job.scale.iterations, persistent=True),
    )
    return estimators.MetricClassifier(
        job.task.metric,
        surrogates=job.task.surrogates(Sigmoid(1.5)),
        model="linear",
        method=shorter,
        standardize=False,
        starts=np.zeros((1, job.parts.train.X.shape[1] + 1)),
        random_state=job.seed,
    )


class Optimum:
    """The best line on the simulated distribution, which needs no rows to be found.

    Examples
    --------
    >>> best = Optimum().fit()
    >>> best.decision_function(np.zeros((1, 2))).shape
    (1,)
    """

    def fit(self, *rows: Any, **more: Any) -> Optimum:
        """Take the analytic answer."""
        best = best_linear_gmean()
        self.coef_ = np.array(best.direction)
        self.intercept_ = -best.threshold
        return self

    def decision_function(self, X: Any) -> Any:
        """Return the distance from the line."""
        return X @ self.coef_ + self.intercept_

    predict = decision_function


_METHODS = (
    Method("logistic", "LogReg", baseline("LogisticBaseline"), iterations=0.5),
    Method("post_shift", "PostShift", baseline("TunedThreshold"), iterations=0.5),
    Method("relaxed_fm", "RelaxedFM", baseline("RelaxedFM"), iterations=6.0),
    Method("gen_rates", "GenRates", baseline("GenRates"), iterations=10.0),
    Method("kar", "Kar et al.", baseline("KarRanker"), iterations=3.0),
    Method("on_validation", "LogReg on validation", baseline("ValidationLogistic"), iterations=1.5),
    Method("on_both", "LogReg on train and validation", baseline("BothLogistic"), iterations=3.0),
    Method("fw_eg", "FW-EG", baseline("FWEG"), iterations=2.0),
    Method("proposed", "Proposed", proposed(), scaled=True),
    Method("notebook", "Proposed, the notebook's loop", notebook, scaled=True, iterations=0.2),
    Method("proposed_10", "Proposed, 10 perturbations", proposed(probes=10), scaled=True),
    Method("proposed_sigmoid", "Proposed, sigmoid", proposed(loss="sigmoid"), scaled=True),
    Method("anymetric", "anymetric's default", default, iterations=8.0),
    Method("optimum", "best line (analytic)", lambda job: Optimum(), iterations=1.0),
)

METHODS: dict[str, Method] = {method.name: method for method in _METHODS}
