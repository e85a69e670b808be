"""Proxy: on which features Table 5's order for Adult is the paper's.

    python benchmarks/paper_orders.py --only proxy [--seeds 0-4] [--table]

Test error, lower is better, where training sees the label Wife in the place of female. The paper
prints LogReg 0.333, which is calling nobody female, PostShift 0.322, Hinge and Sigmoid 0.314, and
does not list its features. Of Table 5's features here the other relationships and the marital
status leave little doubt who is a wife, so that logistic regression learns the proxy itself. They
are left out one after the other. Both surrogates have the steps and sigmas 0.1, 0.5 and 1, chosen
on validation rows, with 60 iterations and 100 perturbations. Values of the surrogates are those of
the model that is kept, on training rows: of the proxy's positives, and of its negatives.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from benchmarks.shared import Measured, carry_out, made_with, parser, spread
from threadpoolctl import threadpool_limits

from anymetric import MetricClassifier, baselines
from anymetric.datasets import Dataset
from anymetric.descent import Descent
from anymetric.gradients import LinearInterpolation
from anymetric.paper.samples import Parts, bind
from anymetric.paper.store import Store, versions
from anymetric.paper.tables import markdown
from anymetric.paper.tasks import TASKS
from anymetric.tuning import Tuned

TASK = TASKS["adult_proxy"]
LEFT_OUT = {
    "none, as in Table 5": (),
    "relationship": ("relationship=",),
    "relationship, marital status": ("relationship=", "marital_status="),
}
BASELINES = {"LogReg": "LogisticBaseline", "PostShift": "TunedThreshold"}
LOSSES = {"Proposed, hinge": "hinge", "Proposed, sigmoid": "sigmoid"}
METHODS = (*BASELINES, *LOSSES)
PAPER = dict(zip(METHODS, ("0.333", "0.322", "0.314", "0.314"), strict=True))


@dataclass(frozen=True)
class Row(Measured):
    """The test error of one method on one split; the surrogates' values where it has some."""

    left_out: str
    method: str
    seed: int
    value: float
    surrogates: str
    seconds: float
    versions: str = ""


@lru_cache(maxsize=1)
def parts_of(seed: int, left_out: str) -> Parts:
    """Return the rows of a split without some features."""
    parts = TASK.parts(seed)
    names = parts.train.feature_names
    gone = LEFT_OUT[left_out]
    kept = [k for k, name in enumerate(names) if not name.startswith(gone or "no such feature")]

    def narrow(rows: Dataset) -> Dataset:
        return replace(rows, X=np.asarray(rows.X)[:, kept], feature_names=[names[k] for k in kept])

    return Parts(narrow(parts.train), narrow(parts.valid), narrow(parts.test))


def proposed(loss: str, parts: Parts, seed: int) -> Any:
    """Return the paper's method with this loss, unfitted."""
    descent = Descent(60, gradient=LinearInterpolation(100))
    return MetricClassifier(
        TASK.metric,
        surrogates=TASK.surrogates(loss),
        model="linear",
        method=Tuned(descent, (0.1, 0.5, 1.0), (0.1, 0.5, 1.0)),
        standardize=False,
        starts=np.zeros((1, parts.train.X.shape[1] + 1)),
        random_state=seed,
    )


def measured(left_out: str, method: str, seed: int) -> Row:
    """Return the row of a method on a split."""
    parts = parts_of(seed, left_out)
    began = time.process_time()
    if method in BASELINES:
        model = getattr(baselines, BASELINES[method])(TASK.metric, random_state=seed)
    else:
        model = proposed(LOSSES[method], parts, seed)
    train, valid = (np.asarray(part.X, dtype=np.float32) for part in (parts.train, parts.valid))
    model.fit(train, parts.train.y, X_val=valid, y_val=parts.valid.y)
    seconds = round(time.process_time() - began, 1)
    scores = model.decision_function(np.asarray(parts.test.X, dtype=np.float32))
    value = float(bind(TASK.metric, parts.test).values(scores))
    profile = json.dumps(profile_of(model)) if method in LOSSES else ""
    return Row(left_out, method, seed, value, profile, seconds, versions())


def profile_of(model: Any) -> list[float]:
    """Return the surrogates' values of the model that was kept."""
    history = model.history_.to_frame()
    best = history.loc[history["cost"].idxmin()]
    return [float(best[name]) for name in history.columns if name.startswith("profile ")]


def run(options: Any, store: Store[Row]) -> None:
    """Measure what is missing, seed by seed."""
    done = set(store.rows())
    for seed in options.seeds:
        for left_out in LEFT_OUT:
            for method in METHODS:
                if (left_out, method, seed) not in done:
                    with threadpool_limits(1):
                        store.append(measured(left_out, method, seed))


def report(rows: list[Row]) -> str:
    """Return the table."""
    lines = []
    for left_out in LEFT_OUT:
        found = {method: some(rows, left_out, method) for method in METHODS}
        for method, own in found.items():
            if not own:
                continue
            first = left_out if method == METHODS[0] else ""
            line = [first, method, PAPER[method], spread([row.value for row in own.values()])]
            for other in BASELINES:
                shared = sorted(set(own) & set(found[other]))
                less = [found[other][seed].value - own[seed].value for seed in shared]
                line.append("" if method in BASELINES else spread(less, "+"))
            lines.append([*line, values(own)])
    header = ["features left out", "method", "paper", "error", "below LogReg", "below PostShift"]
    about = (__doc__ or "").partition("--table]")[2].strip()
    head = f"# Table 5, Adult: features that tell the proxy\n\n{about}"
    seeds = f"Splits: {len({row.seed for row in rows})}."
    return "\n\n".join([head, seeds, markdown([*header, "surrogates"], lines), *made_with(rows)])


def some(rows: list[Row], left_out: str, method: str) -> dict[int, Row]:
    """Return the rows of a method by seed."""
    return {r.seed: r for r in rows if (r.left_out, r.method) == (left_out, method)}


def values(own: dict[int, Row]) -> str:
    """Say the surrogates' mean values."""
    known = [json.loads(row.surrogates) for row in own.values() if row.surrogates]
    return ", ".join(f"{value:.2g}" for value in np.mean(known, axis=0)) if known else ""


def main(argv: list[str]) -> int:
    """Run the section."""
    line = parser(__doc__, "paper_orders_proxy")
    options = line.parse_args(argv)
    return carry_out(options, Row, lambda store: run(options, store), report)
