"""The effect of each setting of the paper's method: one changed at a time, everything else kept.

    python benchmarks/paper_settings.py [--seeds 0-9] [--tasks NAME ...] [--table]

The base is Algorithm 1 as `method="paper"` runs it at a fixed step of 1.0: 250 iterations, 100
two-sided perturbations with sigma 1.0 on the notebook's task and 0.1 on Adult with noisy features,
100 iterations of Adagrad whose sum of squares begins at 0.1 and afresh in every projection,
features as they are, from zero. Values are of test rows: the cost 1 - sqrt(TPR x TNR) of the
notebook's task, macro F1 over the groups of Adult. A change is above zero where it helps.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

if __name__ == "__main__":
    # A script's own folder comes first on the path, where the packages beside it would hide.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.shared import Measured, carry_out, made_with, parser, spread

from anymetric import MetricClassifier
from anymetric.descent import Descent
from anymetric.gradients import LinearInterpolation
from anymetric.losses import Sigmoid
from anymetric.paper.samples import bind, groups_of
from anymetric.paper.store import Store, versions
from anymetric.paper.tables import markdown
from anymetric.paper.tasks import TASKS
from anymetric.projections import Adagrad


@dataclass(frozen=True)
class Settings:
    """The settings of one run of the paper's method."""

    sigma: float
    accumulator: float = 0.1
    persistent: bool = False
    sides: str = "two"
    standardize: bool = False
    moves_intercept: bool = True

    def method(self, parameters: int) -> Descent:
        """Return Algorithm 1 with these settings."""
        moved = None if self.moves_intercept else range(parameters - 1)
        gradient = LinearInterpolation(100, self.sigma, sides=self.sides, coordinates=moved)
        adagrad = Adagrad(1.0, 100, self.accumulator, self.persistent)
        return Descent(250, 1.0, gradient, adagrad)


Change = Callable[[Settings], Settings]
CHANGES: dict[str, Change] = {
    "base": lambda base: base,
    "accumulator 0 (PyTorch's)": lambda base: replace(base, accumulator=0.0),
    "standardised features": lambda base: replace(base, standardize=True),
    "accumulator 0, standardised": lambda base: replace(base, accumulator=0.0, standardize=True),
    "one Adagrad state for all projections": lambda base: replace(base, persistent=True),
    "one-sided, constant fitted": lambda base: replace(base, sides="one"),
    "intercept not perturbed": lambda base: replace(base, moves_intercept=False),
    "sigma x 0.1": lambda base: replace(base, sigma=0.1 * base.sigma),
    "sigma x 10": lambda base: replace(base, sigma=10.0 * base.sigma),
}
SIGMAS = {"adult_notebook": 1.0, "adult_noise20": 0.1, "adult_noise60": 0.1}
TITLES = {
    "adult_notebook": "notebook (cost)",
    "adult_noise20": "Adult, 20 % noisy (macro F1)",
    "adult_noise60": "Adult, 60 % noisy (macro F1)",
}


@dataclass(frozen=True)
class Row(Measured):
    """The test value of one setting on one draw."""

    task: str
    setting: str
    seed: int
    value: float
    seconds: float
    versions: str = ""


def fitted(task_name: str, settings: Settings, seed: int) -> float:
    """Return the test value: a cost for the notebook's task, macro F1 otherwise."""
    task = TASKS[task_name]
    parts = task.parts(seed)
    train, valid = (part.X.astype(np.float32) for part in (parts.train, parts.valid))
    loss: Any = Sigmoid(1.5) if task_name == "adult_notebook" else task.loss
    parameters = train.shape[1] + 1
    clf = MetricClassifier(
        task.metric,
        surrogates=task.surrogates(loss),
        model="linear",
        method=settings.method(parameters),
        standardize=settings.standardize,
        starts=np.zeros((1, parameters)),
        random_state=seed,
    )
    groups = {"groups": groups_of(parts.train), "groups_val": groups_of(parts.valid)}
    clf.fit(train, parts.train.y, X_val=valid, y_val=parts.valid.y, **groups)
    value = float(bind(task.metric, parts.test).values(clf.decision_function(parts.test.X)))
    return float(task.metric.cost(value)) if task_name == "adult_notebook" else value


def run(options: Any, store: Store[Row]) -> None:
    """Measure what is missing, seed by seed."""
    done = set(store.rows())
    for seed in options.seeds:
        for task in options.tasks:
            for name, change in CHANGES.items():
                if (task, name, seed) in done:
                    continue
                began = time.process_time()
                with threadpool_limits(1):
                    value = fitted(task, change(Settings(SIGMAS[task])), seed)
                seconds = round(time.process_time() - began, 1)
                store.append(Row(task, name, seed, value, seconds, versions()))


def report(rows: list[Row]) -> str:
    """Return the table: the base's values, and the paired change by each setting."""
    found = {(r.task, r.setting, r.seed): r.value for r in rows}
    lines = []
    for name in CHANGES:
        line = [name]
        for task in TITLES:
            own = {seed: v for (t, s, seed), v in found.items() if (t, s) == (task, name)}
            sign = -1.0 if task == "adult_notebook" else 1.0
            base = {seed: v for (t, s, seed), v in found.items() if (t, s) == (task, "base")}
            gains = [sign * (own[seed] - base[seed]) for seed in sorted(set(own) & set(base))]
            line += [spread(list(own.values())), "" if name == "base" else spread(gains, "+")]
        lines.append(line)
    header = ["setting"] + [text for title in TITLES.values() for text in (title, "change, paired")]
    about = (__doc__ or "").partition("--table]")[2].strip()
    counts = [len({r.seed for r in rows if r.task == task}) for task in TITLES]
    seeds = f"Seeds: {', '.join(map(str, counts))} for the three tasks, mean ± standard error."
    title = "# The effect of each setting of the paper's method"
    head = f"{title}\n\n{about}\n\n{seeds}\n"
    return "\n".join([head, markdown(header, lines), "", *made_with(rows)])


def main(argv: list[str]) -> int:
    """Run the benchmark."""
    line = parser(__doc__, "paper_settings")
    line.set_defaults(seeds=range(10))
    line.add_argument("--tasks", nargs="+", choices=tuple(TITLES), default=tuple(TITLES))
    options = line.parse_args(argv)
    return carry_out(options, Row, lambda store: run(options, store), report)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
