"""Many: what else could be done today with more than two classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from anymetric.data import Data
from anymetric.estimators import MetricClassifier
from anymetric.ledger import Ledger
from anymetric.many.starts import plain
from anymetric.metrics import ConfusionMetric, Metric
from anymetric.models.trees import lightgbm
from anymetric.solution import Solution, Status, Turn

Maker = Callable[[int | None], Any]


@dataclass(frozen=True)
class Shifted:
    """Post-shift of many classes: the plain model at the offsets that are best for the metric.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> clf = MetricClassifier("macro_f1", method=Shifted(), random_state=0)
    >>> clf.fit(*load_iris(return_X_y=True)).n_metric_calls_
    2
    """

    def run(
        self,
        ledger: Ledger,
        starts: Sequence[NDArray[np.float64]],
        rng: np.random.Generator,
        watch: Callable[[Turn], bool | None] | None = None,
    ) -> Solution:
        """Look at the first starting model, which is that one."""
        return only(ledger, starts[0])


@dataclass(frozen=True)
class OnJudges:
    """The plain model trained on the rows that judge, alone or with the training rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
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
        starts: Sequence[NDArray[np.float64]],
        rng: np.random.Generator,
        watch: Callable[[Turn], bool | None] | None = None,
    ) -> Solution:
        """Train one model; `starts` are not needed and not read."""
        problem = ledger.problem
        parts = [problem.train, problem.valid] if self.both else [problem.valid]
        X, y = (np.concatenate([getattr(part, of) for part in parts]) for of in ("X", "y"))
        return only(ledger, plain(replace(problem, train=Data(X, y))))


def only(ledger: Ledger, theta: NDArray[np.float64]) -> Solution:
    """Return the run of a single look."""
    here = ledger.look(theta)
    turn = Turn(0, 0, here, here.profile, calls=ledger.calls)
    return Solution(turn, Status.JUDGED, (turn,), ledger.calls)


def rivals_of_many(metric: Metric, seed: int, valid: bool = False) -> dict[str, Maker]:
    """Return by name how each rival is made, given how often it may call the metric.

    Examples
    --------
    >>> from anymetric.metrics import ClassF
    >>> list(rivals_of_many(ClassF(), 0))[:3]
    ['logistic regression', 'balanced', 'post-shift']
    """

    def trained(method: Any) -> Maker:
        return lambda calls: MetricClassifier(
            metric, method=method, max_metric_calls=calls, random_state=seed
        )

    found: dict[str, Maker] = {
        "logistic regression": lambda calls: LogisticRegression(max_iter=2000),
        "balanced": lambda calls: LogisticRegression(max_iter=2000, class_weight="balanced"),
    }
    if isinstance(metric, ConfusionMetric):
        found["post-shift"] = trained(Shifted())
    if valid:
        found["on validation rows"] = trained(OnJudges())
        found["on both"] = trained(OnJudges(both=True))
    if find_spec("lightgbm") is not None:
        found["LightGBM"] = lambda calls: boosted(seed)
    return found


def boosted(seed: int) -> Any:
    """Return LightGBM's own classifier, on one thread: on a busy machine threads only wait."""
    return lightgbm().LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1)
