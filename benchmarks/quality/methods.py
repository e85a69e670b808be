"""Methods: estimators by name, where each applies, and what kind it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np

from anymetric import baselines
from anymetric.estimators import MetricClassifier, MetricRanker
from anymetric.metrics import FBeta, FunctionMetric, MacroByGroup, Metric
from anymetric.paper.methods import Answer

from .samples import Parts, groups_of, side_of
from .tasks import Task

Kind = Literal["ours", "linear", "nonlinear", "oracle"]


def always(task: Task) -> bool:
    """Apply to every task."""
    return True


@dataclass(frozen=True)
class Method:
    """A way to answer a task.

    Parameters
    ----------
    name : str
    estimator : str
        Its class in `anymetric.baselines`, or ``MetricClassifier``: for ranking tasks, its twin.
    kind : {"ours", "linear", "nonlinear", "oracle"}
        An oracle trains on the training rows before they were corrupted.
    applies : function of a Task
    needs : str
        A package that must be installed.
    settings : mapping
        Constructor arguments.
    hidden : bool
        The metric is given as a function without a known formula: every threshold and every
        bootstrap resample is a call.
    """

    name: str
    estimator: str
    kind: Kind = "linear"
    applies: Callable[[Task], bool] = always
    needs: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    hidden: bool = False

    @property
    def ranked(self) -> bool:
        """Whether it competes: linear, with what everybody has; of the default, one variant."""
        return self.kind in ("ours", "linear") and not self.name.startswith("auto_")

    @property
    def missing(self) -> bool:
        """Whether the package it needs is not there."""
        return bool(self.needs) and find_spec(self.needs) is None

    def fit(self, task: Task, parts: Parts, seed: int) -> Answer:
        """Fit on the training rows and the validation rows."""
        train = parts.train if self.kind != "oracle" else parts.clean or parts.train
        metric = as_function(task.metric) if self.hidden else task.metric
        estimator = self._class(task)(metric, random_state=seed, **self.settings)
        return Answer(
            estimator.fit(
                train.X,
                train.y,
                groups=groups_of(train),
                side=side_of(train, task.metric),
                X_val=parts.valid.X,
                y_val=parts.valid.y,
                groups_val=groups_of(parts.valid),
                side_val=side_of(parts.valid, task.metric),
            )
        )

    def _class(self, task: Task) -> Any:
        if self.kind == "ours":
            return MetricRanker if task.ranking else MetricClassifier
        return getattr(baselines, self.estimator)


def as_function(metric: Metric) -> FunctionMetric:
    """Return a metric of decisions as a function of labels 0 and 1 that shows no formula."""

    def called(y_true: Any, y_pred: Any, **columns: Any) -> float:
        y, decided = (np.where(np.asarray(of) > 0, 1.0, -1.0) for of in (y_true, y_pred))
        return float(metric.bind(y, side=columns).values(decided))

    return FunctionMetric(
        called, metric.greater_is_better, "decisions", metric.needs, name=f"hidden {metric.name}"
    )


def decides(task: Task) -> bool:
    """Apply where there are decisions to take."""
    return not task.ranking


def ranks(task: Task) -> bool:
    """Apply where the order counts."""
    return task.ranking


def grouped(task: Task) -> bool:
    """Apply where decisions may differ by group."""
    return task.grouped and not task.ranking


def corrupted(task: Task) -> bool:
    """Apply where training rows mislead."""
    return task.corrupted


def hideable(task: Task) -> bool:
    """Apply where training rows mislead and the metric can be given as a function."""
    return task.corrupted and not task.ranking


def f_measure(task: Task) -> bool:
    """Apply to F-measures, whole or by group."""
    metric = task.metric
    return isinstance(metric.of if isinstance(metric, MacroByGroup) else metric, FBeta)


LINES = {"model": "linear"}

_METHODS = (
    # Ours are lines here, like what they are compared with; boosted.py compares trees.
    Method("auto", "MetricClassifier", "ours", settings=LINES),
    Method(
        "auto_judge_only", "MetricClassifier", "ours", settings={**LINES, "use_validation": False}
    ),
    Method(
        "auto_by_group",
        "MetricClassifier",
        "ours",
        grouped,
        settings={**LINES, "decision": "group"},
    ),
    Method("auto_hidden", "MetricClassifier", "ours", hideable, settings=LINES, hidden=True),
    Method(
        "auto_hidden_200",
        "MetricClassifier",
        "ours",
        hideable,
        settings={**LINES, "max_metric_calls": 200},
        hidden=True,
    ),
    Method("descent", "MetricClassifier", "ours", settings={"method": "descent"}),
    Method("logistic", "LogisticBaseline"),
    Method("tuned_threshold", "TunedThreshold"),
    Method("tuned_threshold_raw", "TunedThreshold", settings={"standardize": False}),
    Method("group_thresholds", "GroupThresholds", applies=grouped),
    Method("balanced", "BalancedLogistic"),
    Method("class_weights", "ClassWeightSearch"),
    Method("relaxed_fm", "RelaxedFM", applies=f_measure),
    Method("gen_rates", "GenRates", applies=f_measure),
    Method("kar", "KarRanker", applies=ranks),
    Method("fw_eg", "FWEG", applies=decides),
    Method("cma_es", "CMAES", needs="cma"),
    Method("on_validation", "ValidationLogistic"),
    Method("on_both", "BothLogistic"),
    Method("domain_weighted", "DomainWeighted"),
    Method("lightgbm", "LightGBMThreshold", "nonlinear", needs="lightgbm"),
    Method("clean_tuned_threshold", "TunedThreshold", "oracle", applies=corrupted),
)

METHODS: dict[str, Method] = {method.name: method for method in _METHODS}
