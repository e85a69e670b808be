"""Baselines of a fit: our method and the simple ones beside it, fitted on the same rows."""

from __future__ import annotations

import re
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.baselines import LambdaRank, RegressionBaseline
from anymetric.cli.budget import Plan
from anymetric.cli.catalogue import Entry, Task
from anymetric.cli.faults import UserError
from anymetric.cli.progress import Course, Observer
from anymetric.cli.targets import Target
from anymetric.cli.voice import Voice
from anymetric.errors import MetricWarning
from anymetric.estimators import MetricClassifier, MetricRegressor
from anymetric.estimators._shell import MetricEstimator
from anymetric.metrics import Constraint, Metric, MetricError

OURS = "anymetric"
# Ways to train that are no baselines.
METHODS = ("auto", "descent", "paper", "notebook")
# Where every evaluation counts, these baselines are the ones to beat.
FRUGAL = ("balanced", "threshold", "lightgbm", "constant", "ridge", "clean", "lambdarank")
# A baseline whose metric is a function may call it as often as we did, and at least this often.
FEWEST_CALLS = 200


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows as estimators take them.

    Examples
    --------
    >>> Rows(np.zeros((2, 1)), np.array([0, 1])).given("_val")
    {'X_val': array(...), 'y_val': array([0, 1]), 'groups_val': None, 'side_val': None}
    """

    X: Any
    y: NDArray[Any]
    groups: NDArray[Any] | None = None
    source: NDArray[Any] | None = None
    side: dict[str, NDArray[Any]] = field(default_factory=dict)

    def given(self, suffix: str = "") -> dict[str, Any]:
        """Return the arguments of `fit` that these rows make."""
        if hasattr(self.X, "parts"):  # files, which have all of it
            return {"X": self.X}
        named = {"X": self.X, "y": self.y, "groups": self.groups, "side": self.side or None}
        found = {f"{name}{suffix}": value for name, value in named.items()}
        return found if suffix else {**found, "source": self.source}

    def take(self, rows: NDArray[Any]) -> Rows:
        """Return these rows only."""
        return Rows(
            self.X[rows],
            self.y[rows],
            None if self.groups is None else self.groups[rows],
            None if self.source is None else self.source[rows],
            {name: column[rows] for name, column in self.side.items()},
        )


@dataclass(frozen=True)
class Setting:
    """What is asked of all methods.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> list(baselines_for(Setting(as_metric("f1"), Target((0, 1)), model="linear"), short=True))
    ['logistic regression', 'balanced', 'tuned threshold']
    """

    metric: Metric
    target: Target
    method: str = "auto"
    budget: int | None = None
    seed: int = 0
    model: str = "auto"
    group_thresholds: bool = False
    max_seconds: float | None = None
    subject_to: tuple[Constraint, ...] = ()
    plan: Plan | None = None

    @property
    def calls(self) -> int | None:
        """How many calls training may make."""
        return self.budget if self.plan is None else self.plan.training

    @property
    def called(self) -> bool:
        """Whether the metric is a function, asked one score vector at a time."""
        return self.metric.black_box


def fit_ours(setting: Setting, train: Rows, valid: Rows | None, course: Course, tell: Any) -> Any:
    """Return our own model, fitted."""
    kind = MetricRegressor if setting.target.labels is None else MetricClassifier
    model: Any = kind(
        setting.metric,
        model=setting.model,
        method=setting.method,
        max_metric_calls=setting.calls,
        max_seconds=setting.max_seconds,
        random_state=setting.seed,
        subject_to=setting.subject_to or None,
        **apart(setting),
    )
    check(model, setting)
    model._observer = Observer(course, tell)
    try:
        fitted(model, train, valid, setting.target)
    finally:  # cut short it may have a model too
        del model._observer
    return model


def check(model: Any, setting: Setting) -> None:
    """Refuse a method that does not train such a model, in the words of the command line."""
    if setting.target.many:
        model._classes = setting.target.known
    try:
        model._method()
    except TypeError as error:
        asked = f"--method {setting.method} with --model {setting.model}"
        told = str(error).replace("method='auto'", "--method auto")
        raise UserError(f"{asked}: {told}") from error
    except ValueError as error:
        message = f"--group-thresholds needs --method auto; got {setting.method}."
        raise UserError(message) from error


def apart(setting: Setting) -> dict[str, Any]:
    """Return the setting of classifiers whose groups have thresholds of their own."""
    return {"decision": "group"} if setting.group_thresholds else {}


def fitted(model: Any, train: Rows, valid: Rows | None, target: Target) -> float:
    """Fit a model and give it the user's own labels; return the seconds that it took."""
    if target.many:
        # A metric of the user's reads the labels as they are in the file.
        train = replace(train, y=target.words(train.y))
        valid = None if valid is None else replace(valid, y=target.words(valid.y))
    judges = {} if valid is None else valid.given("_val")
    began = time.perf_counter()
    try:
        if isinstance(model, MetricEstimator | RegressionBaseline | LambdaRank):
            model.fit(**train.given(), **judges)
        else:
            model.fit(train.X, train.y)
    except MetricError as error:
        raise UserError(str(error)) from error
    except ValueError as error:
        raise UserError(in_labels(str(error), target)) from error
    finally:
        if target.labels is not None and not target.many:
            model.classes_ = np.array(target.labels)
    return time.perf_counter() - began


def in_labels(message: str, target: Target) -> str:
    """Return what an estimator says with the labels of the file: it is given 0 and 1 for two.

    Examples
    --------
    >>> in_labels("All are of the class '0'.", Target(("no", "yes")))
    "All are of the class 'no'."
    """
    labels = target.labels
    if labels is None or target.many:
        return message
    return re.sub(r"class '([01])'", lambda m: f"class {str(labels[int(m[1])])!r}", message)


def baselines_for(
    setting: Setting,
    rows: Rows | None = None,
    *,
    groups: bool = False,
    valid: bool = False,
    short: bool = False,
    frugal: bool = False,
) -> dict[str, Entry]:
    """Return the baselines of a setting by the names that tables have for them.

    Where `short`, those that `fit` compares with: without trees where lines are asked for. Where
    evaluations are few, `frugal` leaves the strongest.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> list(baselines_for(Setting(as_metric("r2"), Target())))
    ['constant', 'ridge', 'LightGBM']
    """
    found = task(setting, rows, groups=groups, valid=valid).entries()
    if short:
        found = [one for one in found if one.short]
        found = [one for one in found if setting.model != "linear" or not one.trees]
    if frugal:
        found = [one for one in found if one.method in FRUGAL]
    return {one.name: one for one in found if one.method != setting.method}


def task(
    setting: Setting, rows: Rows | None = None, *, groups: bool = False, valid: bool = False
) -> Task:
    """Return what baselines are asked for."""
    numbers = setting.target.labels is None
    known = 0 if rows is None else len(rows.y)
    return Task(
        setting.metric,
        setting.subject_to,
        "numbers" if numbers else "many" if setting.target.many else "two",
        setting.seed,
        groups,
        valid,
        positive=numbers and rows is not None and float(rows.y.min()) > 0.0,
        group_thresholds=setting.group_thresholds,
        rows=known,
    )


def own_entry(setting: Setting, train: Rows, valid: Rows | None) -> Entry | None:
    """Return the baseline that `--method` names; None where it names a method of ours."""
    if setting.method in METHODS:
        return None
    given = {"groups": train.groups is not None, "valid": valid is not None}
    known = {one.method: one for one in task(setting, train, **given).entries()}
    if setting.method not in known:
        raise UserError(
            f"--method {setting.method} is not for this task; there are: auto, {', '.join(known)}."
        )
    return known[setting.method]


def allowance(setting: Setting, ours: Any) -> int | None:
    """Return how many metric calls a baseline may make; None where all thresholds cost one sort."""
    if not setting.called:
        return None
    if setting.plan is not None:
        return setting.plan.each
    return max(FEWEST_CALLS, int(ours.n_metric_calls_))


@contextmanager
def notes_of_warnings(voice: Voice) -> Iterator[None]:
    """Turn our own warnings into notes, each once; those of other packages are not the user's.

    What a metric prints is no part of the answer: it goes where notes go.
    """
    with redirect_stdout(sys.stderr), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    told = {str(entry.message) for entry in caught if issubclass(entry.category, MetricWarning)}
    for message in sorted(told):
        voice.note(f"Note: {message}")
