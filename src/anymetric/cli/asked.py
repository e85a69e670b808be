"""Asked: from the words after `--metric` to a metric, checked against what else was given."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Collection
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from anymetric.cli.faults import UserError, first_line, hint
from anymetric.cli.targets import Target, Task
from anymetric.metrics import (
    Classes,
    FunctionMetric,
    LabelMetric,
    Metric,
    MetricError,
    ScorerMetric,
    as_metric,
    by_query,
    meant,
)
from anymetric.metrics.base import BoundMetric
from anymetric.metrics.ranked import QUERY
from anymetric.metrics.regression import RegressionMetric
from anymetric.metrics.rows import Rows

# What a sentence offers where a metric means nothing for many classes.
OF_CLASSES = (
    "accuracy, balanced_accuracy, macro_f1, weighted_f1, worst_class_recall, cohen_kappa, a scorer "
    "such as roc_auc_ovr, or module:function"
)


@dataclass(frozen=True)
class FunctionInWords(FunctionMetric):
    """A function of the user's own, called with the labels of the file.

    Examples
    --------
    >>> import numpy as np
    >>> def hits_score(y_true, y_pred):
    ...     return np.mean((y_true == "yes") & (y_pred == "yes"))
    >>> spoken = in_words(as_metric(hits_score), Target(("no", "yes")))
    >>> float(spoken.bind(np.array([1.0, -1.0]), labels=(0, 1)).values(np.ones(2)))
    0.5
    """

    labels: tuple[Any, Any] = (0, 1)

    def _bind(self, rows: Rows) -> BoundMetric:
        return super()._bind(_spoken(rows, self.labels))


@dataclass(frozen=True)
class ScorerInWords(ScorerMetric):
    """A scikit-learn scorer, called with the labels of the file, or with 0 and 1.

    Examples
    --------
    >>> ScorerInWords(as_metric("jaccard").scorer, "jaccard").labels
    (0, 1)
    """

    labels: tuple[Any, Any] = (0, 1)

    def _bind(self, rows: Rows) -> BoundMetric:
        return super()._bind(_spoken(rows, self.labels))


def _spoken(rows: Rows, labels: tuple[Any, Any]) -> Rows:
    return rows if rows.labels is None else replace(rows, labels=labels)


def in_words(metric: Metric, target: Target, named: bool = False) -> Metric:
    """Return the metric, if it reads labels, as one that reads those of the file.

    Parameters
    ----------
    metric : Metric
    target : Target
    named : bool
        A scorer of scikit-learn's own takes 1 for positive, and no words.
    """
    kinds: dict[type, type] = {FunctionMetric: FunctionInWords, ScorerMetric: ScorerInWords}
    if target.labels is None or type(metric) not in kinds:
        return metric
    settings = {part.name: getattr(metric, part.name) for part in fields(metric)}  # type: ignore[arg-type]
    labels = (0, 1) if named else target.labels
    return kinds[type(metric)](**settings, labels=labels)  # type: ignore[no-any-return]


def for_target(metric: Metric, target: Target, named: bool, column: str) -> Metric:
    """Return what a metric means for the target; one that means nothing there is refused.

    Parameters
    ----------
    metric : Metric
    target : Target
    named : bool
        As for `in_words`; with many classes all metrics read the labels of the file.
    column : str
        The target column as a sentence names it.

    Examples
    --------
    >>> three = Target(("ant", "bee", "cat"))
    >>> for_target(as_metric("macro_f1"), three, True, "Column 'kind'")
    ClassF(average='macro', beta=1.0)
    >>> for_target(as_metric("f1"), three, True, "Column 'kind'")
    Traceback (most recent call last):
    anymetric.cli.faults.UserError: Column 'kind' has 3 values; two classes are needed for ...
    """
    if not isinstance(target.known, Classes):
        return in_words(metric, target, named)
    if isinstance(metric, LabelMetric):
        raise UserError(
            f"{column} has one value a row, and the metric {metric.name!r} is of sets of labels, "
            f"which are trained in Python. Here, give one of classes: {OF_CLASSES}."
        )
    try:
        if binary(metric):
            raise ValueError(f"{metric.name!r} speaks of one positive class.")
        return meant(metric, target.known)
    except ValueError as error:
        raise UserError(
            f"{column} has {len(target.known)} values; two classes are needed for the metric "
            f"{metric.name!r}. Train with --positive VALUE (all others are then negative), or "
            f"give a metric of many classes: {OF_CLASSES}."
        ) from error


def binary(metric: Metric) -> bool:
    """Whether a scorer of scikit-learn's averages over the positive class alone.

    Examples
    --------
    >>> binary(as_metric("jaccard")), binary(as_metric("jaccard_macro"))
    (True, False)
    """
    settings = getattr(getattr(metric, "scorer", None), "_kwargs", {})
    return bool(settings.get("average") == "binary")


def find_metric(spec: str, greater: bool | None = None, side: Collection[str] = ()) -> Metric:
    """Return the metric of a name, or of a function's address ``module:function``.

    Where the metadata hold queries, a name means the mean over queries, as for `MetricRanker`.

    Examples
    --------
    >>> find_metric("precision@5").name, find_metric("precision@5", side=["query"]).name
    ('precision@5', 'query_precision@5')
    >>> find_metric("sklearn.metrics:f1_score").name
    'f1_score'
    >>> find_metric("f1_socre")
    Traceback (most recent call last):
    anymetric.cli.faults.UserError: No metric is called 'f1_socre'. Did you mean ...?
    """
    found = imported(spec) if ":" in spec else spec
    try:
        metric = as_metric(found, greater_is_better=greater)
        return by_query(metric) if QUERY in side and ":" not in spec else metric
    except ValueError as error:
        message = str(error)
        if message.startswith("Is a greater"):
            message = message.partition(":")[0].partition("(")[0].strip()
            message += ": say --greater-is-better or --lower-is-better."
        message = message.replace("metric_names() lists them", "`anymetric metrics` lists them")
        raise UserError(message) from error


def imported(spec: str) -> Any:
    """Return the object at ``module:name``, from the current folder or the environment.

    Examples
    --------
    >>> imported("math:sqrt")(4.0)
    2.0
    >>> imported("math:sqr")
    Traceback (most recent call last):
    anymetric.cli.faults.UserError: Module 'math' has no 'sqr'. Did you mean 'sqrt' ...
    """
    module, _, path = spec.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        home = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise UserError(
            f"The module of {spec!r} cannot be imported: {first_line(error)}."
        ) from error
    except (Exception, SystemExit) as error:  # the user's module may fail in any way
        kind = type(error).__name__
        raise UserError(f"Importing {module!r} failed: {kind}: {first_line(error)}.") from error
    try:
        return attrgetter(path)(home)
    except AttributeError as error:
        raise UserError(f"Module {module!r} has no {path!r}.{hint(path, dir(home))}") from error


def task_of(metric: Metric, asked: Task) -> Task:
    """Return the task that a metric leaves open or decides.

    Examples
    --------
    >>> task_of(as_metric("r2"), Task.AUTO).value, task_of(as_metric("f1"), Task.AUTO).value
    ('regression', 'classification')
    """
    if asked is Task.AUTO and isinstance(metric, ScorerMetric) and classifies(metric):
        return Task.CLASSES
    if isinstance(metric, FunctionMetric | ScorerMetric):
        return asked
    own = Task.NUMBERS if isinstance(metric, RegressionMetric) else Task.CLASSES
    if asked not in (own, Task.AUTO):
        raise UserError(f"{metric.name!r} is a metric of {own.value}; got --task {asked.value}.")
    return own


def classifies(metric: ScorerMetric) -> bool:
    """Whether a scorer of scikit-learn's reads classes: it takes no predictions between them.

    Examples
    --------
    >>> [classifies(as_metric(name)) for name in ("f1_macro", "neg_log_loss", "neg_max_error")]
    [True, True, False]
    """
    function = getattr(metric.scorer, "_score_func", None)
    if not getattr(function, "__module__", "").startswith("sklearn."):
        return False
    try:
        metric.bind(np.array([1.0, 2.0, 3.0])).values(np.array([1.5, 2.5, 3.5]))
    except MetricError:
        return True
    return False


def ranks(metric: Metric) -> bool:
    """Whether a metric reads an order of relevant and other rows.

    Examples
    --------
    >>> ranks(as_metric("average_precision")), ranks(as_metric("f1"))
    (True, False)
    """
    called = isinstance(metric, FunctionMetric | ScorerMetric | RegressionMetric)
    return not called and not metric.decides


def check_thresholds(metric: Metric, target: Target, groups: bool) -> None:
    """Refuse a threshold for each group where there are no groups, or no thresholds.

    Examples
    --------
    >>> check_thresholds(as_metric("f1"), Target(("no", "yes")), False)
    Traceback (most recent call last):
    anymetric.cli.faults.UserError: --group-thresholds needs groups: say --group COLUMN.
    """
    if not groups:
        raise UserError("--group-thresholds needs groups: say --group COLUMN.")
    if target.labels is None or target.many or not metric.decides:
        raise UserError(
            "--group-thresholds is for metrics of decisions between two labels; "
            f"{metric.name!r} with this target has no threshold."
        )


def check_columns(metric: Metric, groups: bool, side: Collection[str]) -> None:
    """Refuse a metric that needs a column which was not named.

    Examples
    --------
    >>> check_columns(as_metric("group_mean_f1"), False, ())
    Traceback (most recent call last):
    anymetric.cli.faults.UserError: The metric 'group_mean_f1' is taken by group: say --group ...
    """
    for name in metric.needs:
        if name == "groups" and not groups:
            raise UserError(f"The metric {metric.name!r} is taken by group: say --group COLUMN.")
        if name not in side and name not in ("groups", "source"):
            raise UserError(
                f"The metric {metric.name!r} asks for the column {name!r}: say --side {name}."
            )
