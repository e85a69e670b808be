"""Catalogue: the strongest simple models for each task, by their names for `--method`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from inspect import signature
from typing import Any

from sklearn.linear_model import LogisticRegression

from anymetric import baselines
from anymetric.baselines._lines import level_of
from anymetric.estimators import MetricClassifier
from anymetric.metrics import (
    ConfusionMetric,
    Constraint,
    FBeta,
    GainMetric,
    MacroByGroup,
    Metric,
    limited,
)
from anymetric.metrics.ranked import QUERY
from anymetric.models.trees import lightgbm
from anymetric.starts_classes import OnValidation, Shifted

Maker = Callable[[int | None], Any]
# With fewer calls than this a baseline does not choose between regularisations.
FEW_CALLS = 25
# With more rows than this one regularisation is as good as another, and folds are fewer.
MANY_ROWS = 5000


@dataclass(frozen=True)
class Entry:
    """A simple model: its name for `--method`, its name in tables, and how it is made.

    Attributes
    ----------
    method, name : str
    make : callable
        From how often it may call the metric to an estimator that is not fitted.
    short : bool
        Whether it is in the table of `fit`, or in that of `compare` alone.
    """

    method: str
    name: str
    make: Maker
    short: bool = True

    @property
    def trees(self) -> bool:
        """Whether it is no line."""
        return "lightgbm" in self.method or self.method == "lambdarank"


@dataclass(frozen=True)
class Task:
    """What the baselines are asked for.

    Parameters
    ----------
    metric : Metric
    limits : tuple of Constraint
    kind : {"two", "many", "numbers"}
    seed : int
    groups, valid, positive : bool
        Whether rows have groups, whether there are validation rows, and whether all targets are
        above zero.
    group_thresholds : bool
        Whether groups may have thresholds of their own.
    rows : int
        How many train.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> [entry.method for entry in Task(as_metric("f1")).entries() if entry.short]
    ['logistic', 'balanced', 'threshold', 'lightgbm']
    >>> [entry.method for entry in Task(as_metric("pinball_0.9"), kind="numbers").entries()]
    ['constant', 'ridge', 'quantile', 'lightgbm']
    """

    metric: Metric
    limits: tuple[Constraint, ...] = ()
    kind: str = "two"
    seed: int = 0
    groups: bool = False
    valid: bool = False
    positive: bool = False
    group_thresholds: bool = False
    rows: int = 0

    @property
    def goal(self) -> Metric:
        """The metric under its limits: baselines are tuned to keep them too."""
        return limited(self.metric, self.limits)

    def entries(self) -> list[Entry]:
        """Return the models, the simplest first."""
        found = {"two": self._two, "many": self._many, "numbers": self._numbers}[self.kind]()
        trees = find_spec("lightgbm") is not None
        return [entry for entry in found if trees or not entry.trees]

    def _two(self) -> Iterator[Entry]:
        metric, decides = self.metric, self.goal.decides
        clean = "on validation rows"
        tuned = "LightGBM + threshold" if decides else "LightGBM"
        yield Entry("logistic", "logistic regression", self._of("LogisticBaseline"))
        yield Entry("balanced", "balanced", self._of("BalancedLogistic"))
        if decides:
            yield Entry("threshold", "tuned threshold", self._of("TunedThreshold"))
            both = self._of("BalancedLogistic", tune_threshold=True)
            yield Entry("balanced-threshold", "balanced, tuned threshold", both, False)
            search = self._of("ClassWeightSearch")
            yield Entry("class-weights", "class weights", search, False)
        if isinstance(metric, GainMetric):
            yield Entry("row-rule", "row rule", self._of("RowRuleLogistic"))
            yield Entry("lightgbm-row-rule", "LightGBM + row rule", self._of("RowRuleLightGBM"))
        if decides and self.groups:
            own = self._of("GroupThresholds")
            yield Entry("group-thresholds", "thresholds by group", own, self.group_thresholds)
        if QUERY in metric.needs:
            yield Entry("lambdarank", "lambdarank", self._of("LambdaRank"))
        yield Entry("lightgbm", tuned, self._of("LightGBMThreshold"))
        if self.valid:
            yield Entry("clean", clean, self._of("ValidationLogistic"))
            yield Entry("clean-lightgbm", f"LightGBM {clean}", self._of("ValidationLightGBM"))
            yield Entry("both", "on both", self._of("BothLogistic"), False)
            yield Entry("domain", "domain weights", self._of("DomainWeighted"), False)
        yield from self._researched(metric, decides)

    def _researched(self, metric: Metric, decides: bool) -> Iterator[Entry]:
        """Yield methods of the literature, for `compare` alone."""
        of = metric.of if isinstance(metric, MacroByGroup) else metric
        if isinstance(of, FBeta):
            yield Entry("relaxed", "relaxed F-measure", self._of("RelaxedFM"), False)
            yield Entry("rates", "ratios (GenRates)", self._of("GenRates"), False)
        if decides:
            yield Entry("fw-eg", "FW-EG", self._of("FWEG"), False)
        elif not metric.black_box:
            yield Entry("kar", "precision at k (Kar)", self._of("KarRanker"), False)
        if find_spec("cma") is not None:
            yield Entry("cma-es", "CMA-ES", self._of("CMAES"), False)

    def _numbers(self) -> Iterator[Entry]:
        of, clean = self._numbers_of, "on validation rows"
        yield Entry("constant", "constant", of("constant"))
        yield Entry("ridge", "ridge", of("ridge"))
        if level_of(self.metric) is not None:
            yield Entry("quantile", "quantile regression", of("quantile"))
        if self.positive:
            yield Entry("log-ridge", "ridge on logarithms", of("log ridge"))
        yield Entry("lightgbm", "LightGBM", of("lightgbm"))
        if self.valid:
            yield Entry("clean", f"ridge {clean}", of("ridge", rows="validation"))
            grown = of("lightgbm", rows="validation")
            yield Entry("clean-lightgbm", f"LightGBM {clean}", grown)

    def _many(self) -> Iterator[Entry]:
        def plain(calls: int | None) -> Any:
            return LogisticRegression(max_iter=2000)

        def weighted(calls: int | None) -> Any:
            return LogisticRegression(max_iter=2000, class_weight="balanced")

        yield Entry("logistic", "logistic regression", plain)
        yield Entry("balanced", "balanced", weighted)
        if isinstance(self.goal, ConfusionMetric):
            yield Entry("threshold", "tuned offsets", self._trained(Shifted()))
        yield Entry("lightgbm", "LightGBM", lambda calls: boosted(self.seed))
        if self.valid:
            yield Entry("clean", "on validation rows", self._trained(OnValidation()))
            yield Entry("both", "on both", self._trained(OnValidation(both=True)), False)

    def _trained(self, method: Any) -> Maker:
        return lambda calls: MetricClassifier(
            self.metric,
            method=method,
            subject_to=self.limits or None,
            max_metric_calls=calls,
            random_state=self.seed,
        )

    def _numbers_of(self, kind: str, rows: str = "train") -> Maker:
        def make(calls: int | None) -> Any:
            return baselines.RegressionBaseline(
                self.goal,
                kind=kind,
                rows=rows,
                max_metric_calls=calls,
                random_state=self.seed,
            )

        return make

    def _of(self, kind: str, **more: Any) -> Maker:
        made = getattr(baselines, kind)
        takes = signature(made).parameters

        def make(calls: int | None) -> Any:
            # Without a limit of ours each keeps the one that it has of its own.
            given = dict(more) if calls is None else {**more, "max_metric_calls": calls}
            if "n_splits" in takes:
                given["n_splits"] = 3 if self.rows > MANY_ROWS else 5
            few = calls is not None and calls < FEW_CALLS
            if "C" in takes and (few or self.rows > MANY_ROWS):
                given["C"] = 1.0
            return made(self.goal, random_state=self.seed, **given)

        return make


def boosted(seed: int) -> Any:
    """Return LightGBM's own classifier, on one thread: on a busy machine threads only wait."""
    return lightgbm().LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1)
