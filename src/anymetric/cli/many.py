"""Many: what else could be done today with more than two classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from anymetric.estimators import MetricClassifier
from anymetric.ledger import Ledger
from anymetric.metrics import ConfusionMetric, Metric
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
        here = ledger.look(starts[0])
        turn = Turn(0, 0, here, here.profile, calls=ledger.calls)
        return Solution(turn, Status.JUDGED, (turn,), ledger.calls)


def rivals_of_many(metric: Metric, seed: int) -> dict[str, Maker]:
    """Return by name how each rival is made, given how often it may call the metric.

    Examples
    --------
    >>> from anymetric.metrics import ClassF
    >>> list(rivals_of_many(ClassF(), 0))[:3]
    ['logistic regression', 'balanced', 'post-shift']
    """
    found: dict[str, Maker] = {
        "logistic regression": lambda calls: LogisticRegression(max_iter=2000),
        "balanced": lambda calls: LogisticRegression(max_iter=2000, class_weight="balanced"),
    }
    if isinstance(metric, ConfusionMetric):
        found["post-shift"] = lambda calls: MetricClassifier(
            metric, method=Shifted(), max_metric_calls=calls, random_state=seed
        )
    if find_spec("lightgbm") is not None:
        found["LightGBM"] = lambda calls: boosted(seed)
    return found


def boosted(seed: int) -> Any:
    """Return LightGBM's own classifier, on one thread: on a busy machine threads only wait."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1)
