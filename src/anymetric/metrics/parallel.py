"""Parallel: a slow metric of the user's, asked about several probes at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Floats
from anymetric.metrics.calls import BoundCalls
from anymetric.metrics.evaluations import Question, asked


def answers(
    pairs: Sequence[tuple[BoundCalls, Floats]], n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Return the metrics' values of these scores, in this order.

    A failure is that of the first probe that fails, as if they had gone one by one; its `made`
    counts the calls that went with it.

    Parameters
    ----------
    pairs : pairs of a bound metric and scores ``(n,)``
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
    return asked([Question(judge, s, 0.0, k) for k, (judge, s) in enumerate(pairs)], n_jobs)
