"""Results: rows by task and method, their costs, ranks and ratios."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import mean, median

import numpy as np
from scipy.stats import rankdata

from .methods import METHODS
from .store import Row
from .tasks import TASKS

REFERENCE = "tuned_threshold"


class Results:
    """Rows by task and method, in the order in which both are listed."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows: dict[tuple[str, str], dict[int, Row]] = {}
        for row in rows:
            self.rows.setdefault((row.task, row.method), {})[row.seed] = row
        self.tasks = [name for name in TASKS if any(task == name for task, _ in self.rows)]
        self.methods = [name for name in METHODS if any(own == name for _, own in self.rows)]

    def costs(self, task: str, method: str) -> list[float]:
        """Return the test costs of all seeds."""
        return [row.cost for row in self.rows.get((task, method), {}).values()]

    def of(self, method: str) -> list[Row]:
        """Return all rows of a method."""
        return [
            row for (_, own), rows in self.rows.items() if own == method for row in rows.values()
        ]

    def linear(self, task: str) -> list[str]:
        """Return the linear methods with results on a task: those that are ranked."""
        return [name for name in self.methods if METHODS[name].ranked and (task, name) in self.rows]

    def ranks(self, method: str) -> dict[str, float]:
        """Return the rank on each task, by mean cost over the seeds that all linear ones have."""
        found = {}
        for task in self.tasks:
            baselines = self.linear(task)
            if method in baselines and len(baselines) > 1:
                found[task] = float(rankdata(self._means(task, baselines))[baselines.index(method)])
        return found

    def ratios(self, method: str) -> list[float]:
        """Return seconds over those of the reference: of each task the median over its seeds.

        A task counts once, however many seeds it has.
        """
        found = []
        for task in self.tasks:
            own, reference = (self.rows.get((task, name), {}) for name in (method, REFERENCE))
            if both := own.keys() & reference.keys():
                found.append(median(own[seed].seconds / reference[seed].seconds for seed in both))
        return found

    def calls(self, method: str) -> list[float]:
        """Return how often the metric was called: of each task the median over its seeds."""
        every = [self.rows.get((task, method), {}).values() for task in self.tasks]
        counted = [[row.calls for row in rows if row.calls == row.calls] for rows in every]
        return [median(calls) for calls in counted if calls]

    def gaps(self, task: str, baseline: str, method: str) -> list[float]:
        """Return how much more a baseline costs, on each seed that both have."""
        theirs, ours = (self.rows.get((task, name), {}) for name in (baseline, method))
        return [theirs[seed].cost - ours[seed].cost for seed in theirs if seed in ours]

    def _means(self, task: str, methods: Sequence[str]) -> np.ndarray:
        common = set.intersection(*(set(self.rows[task, name]) for name in methods))
        seeds = [common or set(self.rows[task, name]) for name in methods]
        pairs = zip(methods, seeds, strict=True)
        return np.array([mean(self.rows[task, name][s].cost for s in own) for name, own in pairs])
