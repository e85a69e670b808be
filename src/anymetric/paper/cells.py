"""Cells: one method on one task with one seed, measured on rows that it has never seen."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from anymetric.paper.known import error_at_k, estimation_error
from anymetric.paper.methods import METHODS, Job
from anymetric.paper.resumed import forget, points_of
from anymetric.paper.samples import bind
from anymetric.paper.scales import SCALES, Scale
from anymetric.paper.store import Cell, Row, Store, versions
from anymetric.paper.tasks import TASKS


def store_of(folder: Path, experiment: str) -> Store[Row]:
    """Return the file of an experiment's cells.

    Examples
    --------
    >>> store_of(Path("results"), "table2").path.name
    'table2.csv'
    """
    return Store(folder / f"{experiment}.csv", Row)


def work(cell: Cell, folder: Path, scale: Scale, renew: bool = False) -> Row:
    """Compute a cell and store its row, unless another run has stored one meanwhile.

    With `renew`, a row counts only if this version of the code made it.
    """
    store = store_of(folder, cell.experiment)
    stored = store.rows().get(cell)
    if stored is not None and stored.good and (stored.current or not renew):
        return stored
    points = points_of(folder, cell)
    row = measure(cell, scale, points)
    store.append(row)
    if row.good:
        forget(points)
    return row


def measure(cell: Cell, scale: Scale, points: Path | None = None) -> Row:
    """Return the row of a cell; a method that fails gives a row that says why.

    Unfinished work is kept in the folder `points`, if one is given.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    row = Row(*cell, versions=versions(), when=now)
    try:
        # One thread, and its own time: seconds compare methods, not machines or their load.
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fill = FILLED.get(cell.experiment)
            return fitted(row, scale, points) if fill is None else fill(row)
    except Exception as error:  # one failure must not end the other cells
        return replace(row, error=f"{type(error).__name__}: {error}")


def fitted(row: Row, scale: Scale, points: Path | None) -> Row:
    """Fill a row: fit on train and validation, then evaluate once on the test rows."""
    task = TASKS[row.task]
    parts = task.parts(row.seed)
    began = time.process_time()
    answer = METHODS[row.method].fit(Job(task, parts, scale, row.seed, points))
    seconds = time.process_time() - began
    train, valid, test = (
        float(bind(task.metric, sample).values(answer.scores(sample)))
        for sample in (parts.train, parts.valid, parts.test)
    )
    return replace(
        row,
        value=test,
        cost=float(task.metric.cost(test)),
        train_value=train,
        validation_value=valid,
        seconds=seconds + answer.earlier,
        calls=answer.calls,
        detail=answer.detail,
    )


def interpolated(row: Row) -> Row:
    """Fill a row of appendix D.3."""
    K, sigma = int(row.task.removeprefix("K=")), float(row.method.removeprefix("sigma="))
    began = time.process_time()
    error = error_at_k(K, sigma, np.random.default_rng([row.seed, K]))
    seconds = time.process_time() - began
    return replace(row, value=error, cost=error, seconds=seconds, calls=200.0)


def estimated(row: Row) -> Row:
    """Fill a row of the estimators' comparison; all of them see the same points."""
    kind, _, calls = row.task.partition("/")
    began = time.process_time()
    error = estimation_error(kind, row.method, int(calls), np.random.default_rng(row.seed))
    seconds = time.process_time() - began
    return replace(row, value=error, cost=error, seconds=seconds, calls=float(calls))


def counted(row: Row) -> Row:
    """Fill a row of Table 1."""
    began = time.process_time()
    parts = TASKS[row.task].parts(row.seed)
    rows = sum(len(sample) for sample in (parts.train, parts.valid, parts.test))
    value = float(rows if row.method == "rows" else parts.train.X.shape[1])
    return replace(row, value=value, cost=value, seconds=time.process_time() - began, calls=0.0)


# Experiments without a method that is fitted.
FILLED = {"table1": counted, "k": interpolated, "estimators": estimated}


def expected(cell: Cell) -> float:
    """Return about how many seconds a cell takes, on a machine like that of the first run.

    Examples
    --------
    >>> expected(Cell("table3", "adult_noise0", "proposed", 0, "full")) > 1000
    True
    """
    if cell.experiment in FILLED:
        return 1.0
    task, method = TASKS[cell.task], METHODS[cell.method]
    if not method.scaled:
        return method.iterations * task.pace
    scale = SCALES.get(cell.scale, SCALES["full"])
    steps, sigmas = scale.grid(task.steps, task.sigmas)
    points = len(steps) * len(sigmas)
    probes = 10 if cell.method == "proposed_10" else scale.probes
    iterations = points * scale.outer_iterations if not scale.screen else scale.outer_iterations
    short = 0.35 * points * scale.screen
    # A third of the time of an iteration goes into the projection, whatever the number of probes.
    return task.pace * ((0.3 * scale.iterations / 100 + 0.7 * probes / 1000) * iterations + short)
