"""Evaluations: the one place where a black box is asked, so that answers can be kept or shared.

A `Question` is what is evaluated; the evaluator in `current()` answers it. By default it is
`Direct`, which calls the metric. Another one may look the answer up, or hand the question out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Floats
from anymetric.metrics.base import MetricError
from anymetric.metrics.digests import digest
from anymetric.metrics.direct import STOPPING, Direct
from anymetric.metrics.faults import RAISE, Answer, Conduct, FaultPolicy, attempted
from anymetric.metrics.subjects import subject

if TYPE_CHECKING:
    from anymetric.metrics.calls import BoundCalls

__all__ = [
    "STOPPING",
    "Direct",
    "Evaluations",
    "Question",
    "answered",
    "answered_by",
    "asked",
    "carried",
    "current",
    "decided",
    "in_order",
]


@dataclass(frozen=True, eq=False)
class Question:
    """One evaluation that is wanted: a metric on its rows, and scores ``base + shift``.

    Attributes
    ----------
    judge : BoundCalls
    base : array of shape (n,) or (n, C)
    shift : float
    probe : int
        The place in its batch, which a failure tells.
    repeat : int
        The same scores may be asked about again, if the answers vary.
    policy : FaultPolicy
        How often a failing call is tried again, and how long one may take.
    about : mapping
        What the question is about: family, weighting, iteration. No part of the key.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> def share(y_true, y_pred):
    ...     return float(np.mean(y_pred))
    >>> bound = as_metric(share, greater_is_better=True).bind(np.array([1.0, -1.0]), labels=(0, 1))
    >>> question = Question(bound, np.array([0.3, -0.2]))
    >>> question.attempt().value
    0.5
    >>> question.key == Question(bound, np.array([9.0, -7.0])).key  # the decisions are the same
    True
    >>> question.key == Question(bound, np.array([0.3, 0.2])).key
    False
    """

    judge: BoundCalls
    base: Floats
    shift: float = 0.0
    probe: int = 0
    repeat: int = 0
    policy: FaultPolicy = RAISE
    about: Mapping[str, Any] = field(default_factory=subject)

    @property
    def scores(self) -> Floats:
        """What is evaluated."""
        return self.base + self.shift if self.shift else self.base

    @cached_property
    def key(self) -> str:
        """A hash of all that the answer may depend on: metric, rows, what is read, repeat."""
        judge = self.judge
        return digest(judge.identity, judge.rows.digest, judge.reads(self.scores), self.repeat)

    def attempt(self) -> Answer:
        """Call the metric; return its answer or, after all retries, its failure."""
        given = self.probe, self.scores, self.policy.timeout
        return attempted(lambda: self.judge.measure(*given), self.policy)


class Evaluations(Protocol):
    """The interface of evaluators."""

    @property
    def conduct(self) -> Conduct:
        """What becomes of failures, and how often a question is asked."""
        ...

    def answers(
        self, questions: Sequence[Question], n_jobs: int | None = None
    ) -> Iterator[tuple[int, Answer]]:
        """Yield places in `questions` with their answers, as they come in.

        If the caller stops reading, as at a failure, the others are not evaluated.
        """
        ...


def in_order(answers: Iterable[tuple[int, Answer]]) -> Iterator[Answer]:
    """Yield answers by their place: each as soon as those before it are there.

    Examples
    --------
    >>> found = in_order([(1, Answer(0.5)), (0, Answer(0.25)), (2, Answer(1.0))])
    >>> [answer.value for answer in found]
    [0.25, 0.5, 1.0]
    """
    waiting: dict[int, Answer] = {}
    place = 0
    for k, answer in answers:
        waiting[k] = answer
        while place in waiting:
            yield waiting.pop(place)
            place += 1


def answered(
    questions: Sequence[Question], n_jobs: int | None = None, calls: float = np.inf
) -> Iterator[Answer]:
    """Yield the answers in order, by the current evaluator; a failure is skipped or raised.

    Parameters
    ----------
    questions : sequence of Question
    n_jobs : int, optional
    calls : float
        No more calls than this are made, retries included: at least one a question.
    """
    if not questions:
        return
    who, conduct = current(), current().conduct
    retries = int(min(conduct.policy.retries, max(calls // len(questions) - 1, 0)))
    policy = replace(conduct.policy, retries=retries)
    spare = calls - len(questions) * (1 + retries)
    told = [replace(question, policy=policy) for question in questions]
    found = who.answers(told, n_jobs)
    try:
        for question, answer in zip(told, in_order(found), strict=True):
            # A ledger may know of more attempts than there are calls for now.
            answer = replace(answer, attempts=min(answer.attempts, 1 + retries))
            conduct.count(answer.error or answer.value, answer.attempts)
            if answer.error is None:
                conduct.last = question
            elif conduct.doubtful and spare >= 1:
                _alive(who, conduct, answer.error)
                answer, spare = replace(answer, attempts=answer.attempts + 1), spare - 1
            yield answer
    finally:  # now, not when the exception that knows this frame is forgotten
        getattr(found, "close", lambda: None)()


def _alive(who: Evaluations, conduct: Conduct, error: MetricError) -> None:
    """Ask once more what was answered last: where that fails now, the run is over."""
    again = replace(
        conduct.last, repeat=-conduct.skipped, policy=replace(conduct.policy, retries=0)
    )
    if any(answer.failed for _, answer in who.answers([again])):
        raise conduct.ended(error)
    conduct.recent.clear()


def asked(questions: Sequence[Question], n_jobs: int | None = None) -> NDArray[np.float64]:
    """Return the values of all questions, by the current evaluator.

    A failure is that of the first question that fails; its `answers` are the values before it.
    """
    values: list[float] = []
    policy = replace(current().conduct.policy, retries=0, skip=False)
    told = [replace(question, policy=policy) for question in questions]
    found = current().answers(told, n_jobs)
    try:
        for answer in in_order(found):
            if answer.error is not None:
                answer.error.answers = tuple(values)
                raise answer.error
            values.append(answer.value)
    finally:  # now, not when the exception that knows this frame is forgotten
        getattr(found, "close", lambda: None)()
    return np.array(values, dtype=float)


_current: ContextVar[Evaluations] = ContextVar("evaluations", default=Direct())  # noqa: B039


def current() -> Evaluations:
    """Return who answers questions now.

    Examples
    --------
    >>> type(current()).__name__
    'Direct'
    """
    return _current.get()


def decided(name: str, make: Callable[[], Any]) -> Any:
    """Return what chance or the clock decides; a run with a ledger decides it once for all.

    Examples
    --------
    >>> decided("which table is faster", lambda: "the sparse one")
    'the sparse one'
    """
    store = getattr(current(), "store", None)
    return make() if store is None else store.choose(name, make)


@contextmanager
def answered_by(evaluations: Evaluations) -> Iterator[None]:
    """Let another one answer every question within.

    Examples
    --------
    >>> class Half:
    ...     conduct = Conduct()
    ...
    ...     def answers(self, questions, n_jobs=None):
    ...         return iter([(k, Answer(0.5)) for k in range(len(questions))])
    >>> with answered_by(Half()):
    ...     current().__class__.__name__
    'Half'
    """
    token = _current.set(evaluations)
    try:
        yield
    finally:
        _current.reset(token)


def carried(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with the current evaluator, for other processes.

    Examples
    --------
    >>> carried(max)(1, 2)
    2
    """
    return partial(_with, current(), function)


def _with(evaluations: Evaluations, function: Callable[..., Any], *given: Any, **more: Any) -> Any:
    with answered_by(evaluations):
        return function(*given, **more)
