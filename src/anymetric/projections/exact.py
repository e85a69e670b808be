"""Exact: the projection onto the epigraph itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.problem import Problem
from anymetric.projections.base import Projection, Projector
from anymetric.projections.first_order import LBFGS


@dataclass(frozen=True)
class Exact:
    """The projection onto the epigraph itself: ``u_k = max(target_k, l_k(theta))`` (appendix).

    Parameters
    ----------
    inner : Projector
        What solves the over-constrained problem first.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]))
    >>> problem = Problem(data, "hinge", as_metric("error"))
    >>> Exact().project(problem, np.array([2.0]), np.zeros(2)).point.tolist()
    [2.0]
    """

    inner: Projector = field(default_factory=LBFGS)

    def project(
        self,
        problem: Problem,
        target: NDArray[np.float64],
        theta: NDArray[np.float64],
        *,
        accuracy: float | None = None,
        state: Any = None,
    ) -> Projection:
        """Solve, then take the larger of target and profile in each coordinate."""
        found = self.inner.project(problem, target, theta, accuracy=accuracy, state=state)
        point = np.maximum(target, found.profile)
        return Projection(**{**vars(found), "point": point})
