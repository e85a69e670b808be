"""Baselines: what users would pick otherwise, on the same rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer, recall_score
from sklearn.model_selection import TunedThresholdClassifierCV

from anymetric import as_metric

from .notebook import METRIC, Work
from .table import Table
from .timing import timed


def gmean_score(y_true: Any, y_pred: Any) -> float:
    """Return the geometric mean of both classes' recalls."""
    both = recall_score(y_true, y_pred, labels=[-1.0, 1.0], average=None, zero_division=0.0)
    return float(np.sqrt(both[0] * both[1]))


@dataclass(frozen=True)
class Answer:
    """The test rows' scores, and what there is to say about the way to them."""

    scores: Any
    said: str = ""


def tuned_by_folds(work: Work) -> Answer:
    """Tune the threshold by cross-validation of the training rows: scikit-learn's own way."""
    model = TunedThresholdClassifierCV(
        LogisticRegression(max_iter=1000), scoring=make_scorer(gmean_score), cv=5
    )
    model.fit(work.train.X, work.train.y)
    return Answer(np.where(model.predict(work.test.X) > 0, 1.0, -1.0))


def tuned_on_validation(work: Work) -> Answer:
    """Tune the threshold of a fitted model on the validation rows."""
    fitted = LogisticRegression(max_iter=1000).fit(work.train.X, work.train.y)
    model = TunedThresholdClassifierCV(
        fitted, scoring=make_scorer(gmean_score), cv="prefit", refit=False
    )
    model.fit(work.valid.X, work.valid.y)
    return Answer(np.where(model.predict(work.test.X) > 0, 1.0, -1.0))


def evolved(most: int) -> Callable[[Work], Answer]:
    """Return CMA-ES straight on the weights, from a logistic regression, until it stops."""

    def run(work: Work) -> Answer:
        import cma

        fitted = LogisticRegression(max_iter=1000).fit(work.train.X, work.train.y)
        start = np.append(fitted.coef_, fitted.intercept_)
        settings = {"seed": 1, "verbose": -9, "maxfevals": most}
        search = cma.CMAEvolutionStrategy(start, 0.5, settings)
        while not search.stop():
            asked = search.ask()
            W = np.stack(asked).T
            search.tell(asked, work.judge.costs(work.valid.X @ W[:-1] + W[-1]).tolist())
        best = search.result.xbest
        why = ", ".join(search.stop())
        said = f", {search.result.evaluations:,} evaluations ({why})"
        return Answer(work.test.X @ best[:-1] + best[-1], said)

    return run


BASELINES: dict[str, Callable[[Work], Answer]] = {
    "LogisticRegression + TunedThresholdClassifierCV, 5 folds": tuned_by_folds,
    "the same, threshold tuned on the validation rows": tuned_on_validation,
}


def difference(work: Work, scores: Any, others: Any, replicates: int = 200) -> tuple[float, float]:
    """Return how far the first test cost is above the second, and its error over test rows."""
    y, metric = work.test.y, as_metric(METRIC)
    both = np.column_stack([scores, others])
    rng = np.random.default_rng(0)
    drawn = [
        np.diff(metric.bind(y, weights=rng.standard_exponential(len(y))).costs(both)[::-1])[0]
        for _ in range(replicates)
    ]
    found = metric.bind(y).costs(both)
    return float(found[0] - found[1]), float(np.std(drawn))


def measure(work: Work, known: dict[str, Any], evaluations: int) -> Table:
    """Return the table of baselines beside the default."""
    rows = [["anymetric's default", known["default"], f"{known['cost']:.4f}", ""]]
    for name, baseline in {**BASELINES, "cma on the weights": evolved(evaluations)}.items():
        try:
            answer, seconds = timed(lambda r=baseline: r(work))
        except ImportError as error:
            rows.append([name, "", f"{error.name} is not here", ""])
            continue
        gap, error = difference(work, answer.scores, known["scores"])
        cost = f"{work.test_cost(answer.scores):.4f}"
        rows.append([name + answer.said, seconds, cost, f"{gap:+.4f} ± {error:.4f}"])
    return Table(
        "What users would pick",
        ["", "seconds", "test cost", "above the default's"],
        rows,
        [
            "The same rows as above: training labels mislead, 326 clean validation rows. One "
            "split: the error is that of the difference over bootstrap resamples of the test "
            "rows, and leaves out the luck of the 326. Over tasks and seeds see the quality "
            "table."
        ],
    )
