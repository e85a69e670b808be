"""Table: every method's value on the same rows, its error, and its distance from ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.report.sample import Sample

Floats = NDArray[np.float64]
# Values that are nearer to each other than this part of them are the same.
ROUNDING = 1e-12


def methods_of(
    sample: Sample,
    models: Mapping[str, Any],
    resamples: Floats,
    seconds: Mapping[str, float],
) -> list[dict[str, Any]]:
    """Return one row a method: value and error, the improvement over it with its error, its price.

    Parameters
    ----------
    sample : Sample
    models : dict from name to fitted estimator
        Ours first.
    resamples : array of shape (B, m)
        The metric on bootstrap resamples of the rows; B may be zero.
    seconds : dict from name to float

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.zeros((2, 1)), np.array([1.0, -1.0]))
    >>> scores = {"ours": np.array([1.0, -1.0]), "theirs": np.ones(2)}
    >>> sample = Sample(as_metric("accuracy"), data, (0, 1), scores)
    >>> rows = methods_of(sample, {"ours": None, "theirs": None}, np.zeros((0, 2)), {})
    >>> [(row["name"], row["value"], row["improvement"]) for row in rows]
    [('ours', 1.0, 0.0), ('theirs', 0.5, 0.5)]
    """
    values = sample.values()
    sign = 1.0 if sample.metric.greater_is_better else -1.0
    found = differences(sign, values[0], values)
    # A sum over many rows promises nothing of a sum over few.
    comparable = not sample.grows()
    paired = differences(sign, resamples[:, :1], resamples)
    rows = []
    for k, (name, model) in enumerate(models.items()):
        own = getattr(model, "validation_score_", None)
        rows.append(
            {
                "name": name,
                "ours": k == 0,
                "value": float(values[k]),
                "error": spread(resamples[:, k]),
                "improvement": float(found[k]),
                "improvement_error": spread(paired[:, k]) if k else 0.0,
                "validation": own,
                "evidence": getattr(model, "validation_", None),
                "sign": sign,
                "optimism": sign * (own - values[k]) if own is not None and comparable else None,
                "calls": getattr(model, "n_metric_calls_", None),
                "seconds": seconds.get(name),
            }
        )
    return rows


def differences(sign: float, ours: Any, theirs: Floats) -> Floats:
    """Return by how much ours is better; what is but rounding is none.

    Examples
    --------
    >>> import numpy as np
    >>> differences(-1.0, 0.3, np.array([0.3, 0.1 + 0.2, 0.4])).round(3).tolist()
    [0.0, 0.0, 0.1]
    """
    found = sign * (ours - theirs)
    return np.where(np.abs(found) <= ROUNDING * np.abs(theirs), 0.0, found)


def spread(values: Floats) -> float:
    """Return the standard deviation of the resamples that have an answer; NaN if too few.

    Examples
    --------
    >>> import numpy as np
    >>> (
    ...     spread(np.array([1.0, 3.0, np.nan])),
    ...     spread(np.array([])),
    ...     spread(np.array([0.3, 0.1 + 0.2])),
    ... )
    (1.0, nan, 0.0)
    """
    values = values[np.isfinite(values)]
    if len(values) < 2:
        return float("nan")
    error, size = float(values.std()), float(np.abs(values).max())
    return error if error > ROUNDING * size else 0.0
