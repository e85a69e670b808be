"""Method: the interface of training methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from anymetric.ledger import Ledger
from anymetric.solution import Iteration, Solution

Watcher = Callable[[Iteration], bool | None]


@runtime_checkable
class Method(Protocol):
    """A training method: from a problem whose evaluations are counted to a solution.

    Attributes
    ----------
    takes_starts : bool
        Whether it uses starting models.
    cross_fits : bool
        Whether it scores rows out-of-fold and needs no validation rows; otherwise some rows are
        held out.

    Examples
    --------
    >>> from anymetric import Auto, Descent
    >>> isinstance(Auto(), Method), Descent().takes_starts, Auto().cross_fits
    (True, True, True)
    """

    takes_starts: ClassVar[bool]

    @property
    def cross_fits(self) -> bool:
        """Whether rows are scored out-of-fold."""
        ...

    def run(
        self,
        ledger: Ledger,
        starts: Sequence[NDArray[np.float64]],
        rng: np.random.Generator,
        watch: Watcher | None = None,
    ) -> Solution:
        """Train.

        Parameters
        ----------
        ledger : Ledger
            The problem; every evaluation of the metric goes through it.
        starts : sequence of arrays
            Parameters to begin from; none if `takes_starts` is False.
        rng : numpy Generator
        watch : callable, optional
            Called with every iteration; the run ends if it returns True.
        """
        ...


def check_method(method: object) -> Method:
    """Return the method; refuse objects that do not implement `Method`.

    Examples
    --------
    >>> check_method(3)
    Traceback (most recent call last):
    TypeError: method must be a name or a Method, with takes_starts, cross_fits and run; got 3, \
which has no takes_starts.
    """
    names = ("takes_starts", "cross_fits", "run")
    missing = [name for name in names if not hasattr(method, name)]
    if missing or isinstance(method, type):
        lacks = f"has no {missing[0]}" if missing else "is a class: give an instance"
        raise TypeError(
            "method must be a name or a Method, with takes_starts, cross_fits and run; got "
            f"{method!r}, which {lacks}."
        )
    assert isinstance(method, Method)
    return method
