"""Subjects: what questions are about, such as a family, a weighting, an iteration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

_subject: ContextVar[Mapping[str, Any]] = ContextVar("subject", default=MappingProxyType({}))


def subject() -> dict[str, Any]:
    """Return what the questions asked now are about.

    Examples
    --------
    >>> with about(family="linear"), about(iteration=3):
    ...     subject()
    {'family': 'linear', 'iteration': 3}
    """
    return dict(_subject.get())


@contextmanager
def about(**what: Any) -> Iterator[None]:
    """Say what all questions within are about, beside what was said already.

    Examples
    --------
    >>> with about(iteration=1):
    ...     with about(iteration=2):
    ...         print(subject())
    {'iteration': 2}
    >>> subject()
    {}
    """
    token = _subject.set({**_subject.get(), **what})
    try:
        yield
    finally:
        _subject.reset(token)
