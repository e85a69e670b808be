"""Starts of classes: models of many classes to begin a descent from, and to compare with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.decisions.offsets import tuned_offsets
from anymetric.auto.judges.classes import ClassesJudge
from anymetric.auto.task import Task
from anymetric.ledger import Ledger
from anymetric.losses import as_loss
from anymetric.metrics import Classes, ConfusionMetric, LabelMetric
from anymetric.models import Outputs
from anymetric.multinomial import TableLoss, polished, solved
from anymetric.problem import Problem
from anymetric.solution import Iteration, Solution, Status

Floats64 = NDArray[np.float64]
Watcher = Callable[[Iteration], bool | None]
RIDGE = 1e-4


def plain(problem: Problem, part: float = 0.0) -> Floats64:
    """Return the minimiser of the plain loss, or with part 1 of the balanced one.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import ClassAccuracy
    >>> from anymetric.models import Linear
    >>> data = Data(np.array([[1.0], [2.0], [3.0]]), np.array([0.0, 1.0, 2.0]))
    >>> three = Classes(("a", "b", "c"))
    >>> problem = Problem(data, [], ClassAccuracy(), model=Outputs(Linear(), 3), labels=three)
    >>> bool(plain(problem)[0] < plain(problem)[4])
    True
    """
    model, classes, train = problem.model, problem.labels, problem.train
    assert isinstance(model, Outputs)
    assert isinstance(classes, Classes)
    rows = Task(classes).balanced(train.y, train.weights, part)
    loss = None if classes.exclusive else as_loss("logistic")
    members = classes.members(train.y)
    objective = TableLoss(model, problem.tables[0], members, rows, RIDGE, loss)
    return polished(objective, solved(objective, iterations=1000, tolerance=1e-12))


def shifted(ledger: Ledger, theta: Floats64) -> Floats64:
    """Return the parameters at the offsets that are best for a ready-made metric: one call."""
    problem = ledger.problem
    model, classes, metric = problem.model, problem.labels, problem.metric
    assert isinstance(model, Outputs)
    assert isinstance(classes, Classes)
    if not isinstance(metric, ConfusionMetric | LabelMetric) or not model.intercept:
        return theta
    ledger.count(1)
    nothing = np.zeros((len(problem.valid), 0))
    judge = ClassesJudge.of(metric, problem.valid, classes, nothing)
    scores = np.asarray(model.table(problem.tables[1], theta), dtype=np.float64)
    moved = theta.reshape(len(classes), -1).copy()
    moved[:, -1] += tuned_offsets(judge, scores)
    return moved.reshape(-1)


@dataclass(frozen=True)
class Shifted:
    """Threshold tuning of many classes: the plain model at the best offsets for the metric.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from anymetric import MetricClassifier
    >>> clf = MetricClassifier("macro_f1", method=Shifted(), random_state=0)
    >>> clf.fit(*load_iris(return_X_y=True)).n_metric_calls_
    2
    """

    takes_starts: ClassVar[bool] = True
    cross_fits: ClassVar[bool] = False

    def run(
        self,
        ledger: Ledger,
        starts: Sequence[Floats64],
        rng: np.random.Generator,
        watch: Watcher | None = None,
    ) -> Solution:
        """Evaluate the first starting model, which is that one."""
        return only(ledger, starts[0])


@dataclass(frozen=True)
class OnValidation:
    """The plain model trained on the validation rows, alone or with the training rows.

    Parameters
    ----------
    both : bool
        Whether the training rows train too.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from anymetric import MetricClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = MetricClassifier("macro_f1", method=OnValidation(), random_state=0)
    >>> clf.fit(X, (y + 1) % 3, X_val=X, y_val=y).score(X, y) > 0.9
    True
    """

    takes_starts: ClassVar[bool] = False
    cross_fits: ClassVar[bool] = False

    both: bool = False

    def run(
        self,
        ledger: Ledger,
        starts: Sequence[Floats64],
        rng: np.random.Generator,
        watch: Watcher | None = None,
    ) -> Solution:
        """Train one model; `starts` are not needed and not read."""
        train, valid = ledger.problem.train, ledger.problem.valid
        rows = train.followed_by(valid) if self.both else valid
        return only(ledger, plain(replace(ledger.problem, train=rows)))


def only(ledger: Ledger, theta: Floats64) -> Solution:
    """Return the run of a single evaluation."""
    here = ledger.evaluate(theta)
    iteration = Iteration(0, 0, here, here.profile, calls=ledger.calls)
    return Solution(iteration, Status.SELECTED, (iteration,), ledger.calls)
