"""Models: the contracts that give scores. They know nothing of losses and metrics."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Data, Floats, Matrix, Sparse


class Model(Protocol):
    """The interface of a model family: scores, and their pullback.

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


class Scorer(Protocol):
    """A trained model: rows to scores.

    Examples
    --------
    >>> import numpy as np
    >>> class Sums:
    ...     def scores(self, X):
    ...         return X.sum(axis=1)
    >>> one: Scorer = Sums()
    >>> one.scores(np.ones((2, 3))).tolist()
    [3.0, 3.0]
    """

    def scores(self, X: Matrix) -> NDArray[np.float64]:
        """Return ``(n,)`` scores for two classes or a real target, ``(n, C)`` for C > 2 classes."""
        ...


class Learner(Protocol):
    """The interface of a family without a parameter vector: fit with row weights.

    It must be picklable, and scikit-learn's `clone` must be able to copy it.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from anymetric.models import Reweighted
    >>> family: Learner = Reweighted(LogisticRegression())
    >>> family.family
    'LogisticRegression'
    """

    @property
    def family(self) -> str:
        """One word for reports."""
        ...

    def learn(
        self,
        data: Data,
        rows: NDArray[np.float64],
        rng: np.random.Generator,
        *,
        classes: int = 2,
        start: Scorer | None = None,
    ) -> Scorer:
        """Train with these weights.

        Parameters
        ----------
        data : Data
            ``y`` holds -1.0 and +1.0 with ``classes=2``, codes from 0 with more, and real numbers
            with ``classes=0``.
        rows : array of shape (n,)
            Weights of the rows, of any scale; `data.weights` are in them already.
        rng : numpy Generator
        classes : int
        start : Scorer, optional
            One of the same family to begin from; it may be ignored.
        """
        ...


@runtime_checkable
class Bounded(Protocol):
    """A family that is not for tables of every size.

    Examples
    --------
    >>> from anymetric.models.boosted import Boosted
    >>> from anymetric.models.forest import Forest
    >>> isinstance(Forest(), Bounded), isinstance(Boosted(), Bounded)
    (True, False)
    """

    def suits(self, data: Data) -> bool:
        """Return whether it should be tried beside other families."""
        ...


@runtime_checkable
class OutOfBag(Protocol):
    """A model that has a score of each training row by what the row did not train.

    Attributes
    ----------
    out_of_bag : array of shape (n,) or (n, C)
        Of the rows of positive weight, in their order.

    Examples
    --------
    >>> from anymetric.models.forest import Forest
    >>> data = Data(np.arange(40.0)[:, np.newaxis], np.repeat([-1.0, 1.0], 20))
    >>> isinstance(Forest(20).learn(data, np.ones(40), np.random.default_rng(0)), OutOfBag)
    True
    """

    out_of_bag: NDArray[np.float64]

    def scores(self, X: Matrix) -> NDArray[np.float64]:
        """Return the scores of rows."""
        ...
