"""Parallel: a slow metric of the user's, asked about several probes at once."""

from __future__ import annotations

import pickle
import time
import warnings
from collections.abc import Sequence

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray

from anymetric.data import Floats
from anymetric.errors import MetricWarning
from anymetric.metrics.base import MetricError
from anymetric.metrics.calls import BoundCalls

# Seconds of one call from which other processes are worth their messages.
SLOW = 5e-3


def answers(
    asked: Sequence[tuple[BoundCalls, Floats]], n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Return the metrics' values of these scores, in this order.

    The first call is made here and timed; if it is slow, the others are shared out over
    processes. A failure is that of the first probe that fails, as if they had gone one by one;
    its `made` counts the calls that went with it.

    Parameters
    ----------
    asked : pairs of a bound metric and scores ``(n,)``
    n_jobs : int or None
        As in joblib; None is one process, unless a joblib context says otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> def share(y_true, y_pred):
    ...     return float(np.mean(y_pred))
    >>> bound = as_metric(share, greater_is_better=True).bind(np.array([1.0, -1.0]), labels=(0, 1))
    >>> answers([(bound, np.array([1.0, 1.0])), (bound, np.array([1.0, -1.0]))], n_jobs=2).tolist()
    [1.0, 0.5]
    """
    began = time.perf_counter()
    values = [judge.answer(i, scores) for i, (judge, scores) in enumerate(asked[:1])]
    took = time.perf_counter() - began
    rest = list(enumerate(asked))[1:]
    if took > SLOW and len(rest) > 1 and effective_n_jobs(n_jobs) > 1:
        return np.array(values + _shared_out(rest, n_jobs), dtype=float)
    return np.array(values + [judge.answer(i, s) for i, (judge, s) in rest], dtype=float)


def attempt(judge: BoundCalls, probe: int, scores: Floats) -> float | MetricError:
    """Return the answer, or the failure: raised here it would stop the probes before it too."""
    try:
        return judge.answer(probe, scores)
    except MetricError as error:
        return error


def _shared_out(
    asked: list[tuple[int, tuple[BoundCalls, Floats]]], n_jobs: int | None
) -> list[float]:
    try:
        found = Parallel(n_jobs)(delayed(attempt)(judge, i, s) for i, (judge, s) in asked)
        made = asked[-1][0] + 1
    except pickle.PicklingError as error:
        name = asked[0][1][0].metric.name
        warnings.warn(
            f"Metric {name!r} cannot be sent to other processes ({error}): it is called in this "
            "one. Define it in a module, or leave n_jobs unset.",
            MetricWarning,
            stacklevel=2,
        )
        found = (attempt(judge, i, s) for i, (judge, s) in asked)
        made = 0
    values = []
    for answer in found:
        if isinstance(answer, MetricError):
            answer.made = max(answer.made, made)
            raise answer
        values.append(answer)
    return values
