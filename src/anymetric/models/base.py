"""Model: the contract between parameters and scores. It knows nothing of losses."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Floats, Matrix, Sparse


class Model(Protocol):
    """What the method asks of a model family: scores, and their pullback.

    Examples
    --------
    >>> from anymetric.models import Linear
    >>> model: Model = Linear()
    """

    @property
    def linear_in_parameters(self) -> bool:
        """Whether the scores of a sum of parameters are the sum of their scores."""
        ...

    def size(self, X: Matrix) -> int:
        """Return the number of parameters for these features."""
        ...

    def scores(self, X: Matrix, theta: NDArray[Any]) -> Floats:
        """Return ``(n,)`` scores for one parameter vector, ``(n, m)`` for ``(m, p)`` of them."""
        ...

    def pullback(
        self, X: Matrix, theta: NDArray[Any], slopes: Floats | Sparse
    ) -> NDArray[np.float64]:
        """Turn ``(n,)`` or ``(K, n)`` gradients by scores into gradients by parameters."""
        ...
