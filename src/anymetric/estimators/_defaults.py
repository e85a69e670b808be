"""Defaults: the surrogates used where the user names none."""

from __future__ import annotations

import numpy as np

from anymetric.blocks import Queries
from anymetric.metrics import relevance
from anymetric.surrogates import (
    AveragePrecisionAtK,
    ByQuery,
    Pairwise,
    PrecisionAtRecall,
    Slices,
    Softmax,
)

# A column by which rows are sliced has no more values than this.
MOST_VALUES = 20


def default_slices(train, loss="logistic", by=()):
    """Return the loss per class, by group and source where those columns are there.

    Combinations without rows are left out. `by` names further columns, or one.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> data = Data(np.zeros((2, 1)), np.array([1.0, -1.0]))
    >>> [s.name for s in default_slices(data)]
    ['logistic[class=-1]', 'logistic[class=+1]']
    """
    further = (by,) if isinstance(by, str) else tuple(by)
    for name in further:
        values = len(np.unique(train.column(name)))
        if values > MOST_VALUES:
            raise ValueError(
                f"slices= names the column {name!r}, which has {values} values: a slice for each "
                f"would be too small. Cut it into {MOST_VALUES} ranges or fewer first, with "
                "numpy.digitize or pandas.qcut."
            )
    usual = [name for name in ("groups", "source") if name in train.side and name not in further]
    every = Slices(loss, ("class", *usual, *further)).expand(train)
    return [slice_ for slice_ in every if slice_.chosen(train).any()]


def default_ranking():
    """Return the paper's three quantile surrogates and the logistic loss per class.

    Examples
    --------
    >>> len(default_ranking())
    4
    """
    return [
        *(PrecisionAtRecall(recall) for recall in (0.25, 0.5, 0.75)),
        Slices("logistic", ("class",)),
    ]


def default_by_query(metric, train):
    """Return losses of the order within each query (Example 4 of the paper).

    Pairs, plain and by gains; lists; and the top at several depths, about the metric's own.
    Surrogates that coincide on these rows are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> side = {"query": np.zeros(4), "relevance": np.array([0.0, 0.0, 1.0, 2.0])}
    >>> data = Data(np.zeros((4, 1)), np.array([-1.0, -1.0, 1.0, 1.0]), side=side)
    >>> [s.name for s in default_by_query(as_metric("ndcg@5"), data)][3:]
    ['softmax', 'average_precision@1 by query, relevance>=1', ...]
    """
    grades = relevance(train)
    pairs = [Pairwise("logistic"), Pairwise("logistic", gains=True), Pairwise("hinge")]
    if len(np.unique(grades)) <= 2:
        del pairs[1]
    level = middle_grade(grades)
    queries = Queries.of(train.side["query"])
    most = int(np.bincount(queries.member, grades >= level).max())
    depth = getattr(metric, "k", None) or 5
    depths = sorted({min(k, most) for k in (1, depth, 2 * depth)})
    tops = [*map(AveragePrecisionAtK, depths), PrecisionAtRecall(0.5)]
    return [*pairs, Softmax(), *(ByQuery(top, relevant=level) for top in tops)]


def middle_grade(grades):
    """Return the lowest grade that at most half of the rows reach, if there is one.

    Examples
    --------
    >>> import numpy as np
    >>> middle_grade(np.array([0.0, 1.0, 1.0, 2.0, 3.0])), middle_grade(np.array([0.0, 1.0, 1.0]))
    (2.0, 1.0)
    """
    levels = np.unique(grades)
    rare = [level for level in levels if np.mean(grades >= level) <= 0.5]
    return float(rare[0] if rare else levels[-1])
