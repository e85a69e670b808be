"""Notebook: the authors' loop on their own draw and others, with and without the ages they lose.

    python benchmarks/paper_orders.py --only notebook [--seeds 0-9] [--table]

Test cost 1 - sqrt(TPR x TNR) of the authors' loop, of which the notebook prints 0.1777 for its one
run. Seed 0 draws the notebook's very rows and flips. The notebook cuts ages without the lowest
edge, so that rows of age 17 are in no bucket; the table of the page keeps their age. Both are run
here on the same draws; in the last line the draw is always the notebook's, and the seed is of the
loop's perturbations alone.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace
from statistics import stdev
from typing import Any

import numpy as np
from benchmarks.shared import Measured, carry_out, made_with, parser, spread
from threadpoolctl import threadpool_limits

from anymetric.datasets import Dataset
from anymetric.paper.methods import METHODS, Job
from anymetric.paper.samples import Parts, bind
from anymetric.paper.scales import SCALES
from anymetric.paper.store import Store, versions
from anymetric.paper.tables import markdown
from anymetric.paper.tasks import TASKS

TASK = TASKS["adult_notebook"]
PRINTED = 0.1777
YOUNGEST = 17
KEPT, LOST = "every age in a bucket", "age 17 in none, as in the notebook"
SAME = f"{LOST}, and its draw"


@dataclass(frozen=True)
class Row(Measured):
    """The test cost of one variant on one draw."""

    ages: str
    seed: int
    value: float
    seconds: float
    versions: str = ""


def without_youngest(rows: Dataset) -> Dataset:
    """Return the rows with no bucket of age for the youngest."""
    X = np.array(rows.X)
    names = enumerate(rows.feature_names)
    buckets = [k for k, name in names if re.match(r"(\d+<)?age[<>]", name)]
    X[np.ix_(rows.side["age"] == YOUNGEST, buckets)] = 0.0
    return replace(rows, X=X)


def measured(ages: str, seed: int) -> Row:
    """Return the row of a variant on a draw."""
    parts = TASK.parts(0 if ages == SAME else seed)
    if ages != KEPT:
        three = (without_youngest(rows) for rows in (parts.train, parts.valid, parts.test))
        parts = Parts(*three, parts.clean)
    began = time.process_time()
    answer = METHODS["notebook"].fit(Job(TASK, parts, SCALES["screened"], seed))
    seconds = round(time.process_time() - began, 1)
    value = float(bind(TASK.metric, parts.test).values(answer.scores(parts.test)))
    return Row(ages, seed, float(TASK.metric.cost(value)), seconds, versions())


def run(options: Any, store: Store[Row]) -> None:
    """Measure what is missing, seed by seed."""
    done = set(store.rows())
    for seed in options.seeds:
        for ages in (KEPT, LOST, SAME):
            if (ages, seed) not in done:
                with threadpool_limits(1):
                    store.append(measured(ages, seed))


def report(rows: list[Row]) -> str:
    """Return the table."""
    lines = []
    for ages in (KEPT, LOST, SAME):
        own = {row.seed: row.value for row in rows if row.ages == ages}
        if len(own) > 1:
            values = list(own.values())
            first = f"{own[0]:.4f}" if 0 in own else "–"
            less = f"{np.mean(values) - PRINTED:+.4f}"
            lines.append([ages, spread(values), f"{stdev(values):.4f}", less, first])
    about = (__doc__ or "").partition("--table]")[2].strip()
    head = f"# The authors' notebook: its draw, and its ages\n\n{about}"
    seeds = f"Seeds: {len({row.seed for row in rows})}."
    header = ["the loop", "cost", "s.d. of a run", "less 0.1777", "the notebook's draw"]
    return "\n\n".join([head, seeds, markdown(header, lines), *made_with(rows)])


def main(argv: list[str]) -> int:
    """Run the section."""
    line = parser(__doc__, "paper_orders_notebook")
    line.set_defaults(seeds=range(10))
    options = line.parse_args(argv)
    return carry_out(options, Row, lambda store: run(options, store), report)
