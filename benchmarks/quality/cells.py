"""Cells: one method fitted on one task with one seed, measured on rows it has never seen."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module

from threadpoolctl import threadpool_limits

from .methods import METHODS, Method
from .samples import bind
from .store import Cell, Row, Store, versions
from .tasks import TASKS


def work(
    cell: Cell, store: Store, again: bool = False, methods: Mapping[str, Method] = METHODS
) -> Row:
    """Compute a cell and store its row, unless another run has stored one meanwhile."""
    stored = store.rows().get(cell)
    if stored is not None and stored.good and not again:
        return stored
    row = measure(cell, methods)
    store.append(row)
    return row


def measure(cell: Cell, methods: Mapping[str, Method] = METHODS) -> Row:
    """Return the row of a cell; a method that fails gives a row that says why."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    row = Row(*cell, versions=versions(), when=now)
    try:
        return fitted(row, methods[row.method])
    except Exception as error:  # one failure must not end the other cells
        return replace(row, error=f"{type(error).__name__}: {error}")


def fitted(row: Row, method: Method) -> Row:
    """Fill a row: fit on train and validation, then evaluate once on the test rows."""
    task = TASKS[row.task]
    parts = task.parts(row.seed)
    if method.needs:
        import_module(method.needs)  # not on the method's clock
    # One thread: seconds compare methods, not machines.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.process_time()
        answer = method.fit(task, parts, row.seed)
        seconds = time.process_time() - began
        tested = bind(task.metric, parts.test).values(answer.scores(parts.test))
        judged = bind(task.metric, parts.valid).values(answer.scores(parts.valid))
    return replace(
        row,
        value=float(tested),
        cost=float(task.metric.cost(tested)),
        validation_value=float(judged),
        seconds=seconds,
        calls=answer.calls,
    )
