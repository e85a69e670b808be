"""Rivals: what else many classes could be trained with today, at the same door as our method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from anymetric.ledger import Ledger
from anymetric.many.starts import plain
from anymetric.solution import Solution, Status, Turn

Floats64 = NDArray[np.float64]
Watcher = Callable[[Turn], bool | None]


@dataclass(frozen=True)
class Shifted:
    """Post-shift of many classes: the plain model at the offsets that are best for the metric.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from anymetric import MetricClassifier
    >>> clf = MetricClassifier("macro_f1", method=Shifted(), random_state=0)
    >>> clf.fit(*load_iris(return_X_y=True)).n_metric_calls_
    2
    """

    def run(
        self,
        ledger: Ledger,
        starts: Sequence[Floats64],
        rng: np.random.Generator,
        watch: Watcher | None = None,
    ) -> Solution:
        """Look at the first starting model, which is that one."""
        return only(ledger, starts[0])


@dataclass(frozen=True)
class OnJudges:
    """The plain model trained on the rows that judge, alone or with the training rows.

    Parameters
    ----------
    both : bool
        Whether the training rows train too.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from anymetric import MetricClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = MetricClassifier("macro_f1", method=OnJudges(), random_state=0)
    >>> clf.fit(X, (y + 1) % 3, X_val=X, y_val=y).score(X, y) > 0.9
    True
    """

    takes_starts: ClassVar[bool] = False

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
    """Return the run of a single look."""
    here = ledger.look(theta)
    turn = Turn(0, 0, here, here.profile, calls=ledger.calls)
    return Solution(turn, Status.JUDGED, (turn,), ledger.calls)
