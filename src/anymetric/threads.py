"""Threads: what a whole process shares, changed for a while and left as it was found.

Limits of BLAS threads and filters of warnings belong to the process. Two threads that each save and
restore them leave what one of them set: here the first that comes in saves, and the last restores.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController


class Shared:
    """A context that several threads may be in at once; it is entered once and left once.

    Examples
    --------
    >>> seen = []
    >>> @contextmanager
    ... def noted():
    ...     seen.append("in")
    ...     yield
    ...     seen.append("out")
    >>> shared = Shared(noted)
    >>> with shared(), shared():
    ...     pass
    >>> seen
    ['in', 'out']
    """

    def __init__(self, make: Callable[[], AbstractContextManager[Any]]) -> None:
        self.make = make
        self._lock = threading.Lock()
        self._inside = 0
        self._entered: AbstractContextManager[Any] | None = None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Be inside for a while."""
        with self._lock:
            if not self._inside:
                self._entered = self.make()
                self._entered.__enter__()
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if not self._inside and self._entered is not None:
                    self._entered.__exit__(None, None, None)


@contextmanager
def _unwarned() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", _convergence())
        yield


def _convergence() -> type[Warning]:
    from sklearn.exceptions import ConvergenceWarning

    kind: type[Warning] = ConvergenceWarning
    return kind


@lru_cache(maxsize=1)
def _pools(modules: int) -> ThreadpoolController:
    """Find the libraries with threads: slow, and only again once modules were imported."""
    return ThreadpoolController()


def _limited(api: str) -> AbstractContextManager[Any]:
    found: AbstractContextManager[Any] = _pools(len(sys.modules)).limit(limits=1, user_api=api)
    return found


# BLAS has one limit for the process, OpenMP one for each thread.
_one_blas = Shared(lambda: _limited("blas"))


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute with one thread for a while: two that wait for each other are slower than one.

    Examples
    --------
    >>> @one_thread()
    ... def product(A):
    ...     return A @ A
    >>> product.__name__
    'product'
    """
    with _one_blas(), _limited("openmp"):
        yield


#: No word of solvers that did not converge.
unwarned = Shared(_unwarned)
