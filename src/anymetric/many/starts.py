"""Starts: models of many classes to begin a descent from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anymetric.ledger import Ledger
from anymetric.losses import as_loss
from anymetric.many.jury import Counting
from anymetric.many.offsets import tuned
from anymetric.many.pool import Table
from anymetric.many.recipes import evened
from anymetric.many.room import lifted
from anymetric.many.solver import TableLoss, polished, solved
from anymetric.metrics import Classes, ConfusionMetric, LabelMetric
from anymetric.models import Outputs
from anymetric.problem import Problem

Floats64 = NDArray[np.float64]
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
    rows = evened(train, train.weights, classes, part)
    loss = None if classes.exclusive else as_loss("logistic")
    members = classes.members(train.y)
    objective = TableLoss(model, problem.tables[0], members, rows, RIDGE, loss)
    return polished(objective, solved(objective, iterations=1000, tolerance=1e-12))


def shifted(ledger: Ledger, theta: Floats64) -> Floats64:
    """Return the parameters at the offsets that are best for a ready-made metric: one look."""
    problem = ledger.problem
    model, classes, metric = problem.model, problem.labels, problem.metric
    assert isinstance(model, Outputs)
    assert isinstance(classes, Classes)
    if not isinstance(metric, ConfusionMetric | LabelMetric) or not model.intercept:
        return theta
    ledger.count(1)
    nothing = np.zeros((len(problem.valid), 0))
    tally = Counting.build(metric, problem.valid, classes, nothing).tally()
    table = Table(model, theta)
    return lifted(table, tuned(tally, table.scores(problem.tables[1])))
