"""Direct: questions are answered by calling the metric, here or in threads or processes."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from joblib import Parallel, delayed, effective_n_jobs

from anymetric.errors import warn
from anymetric.metrics.faults import Answer, Conduct

if TYPE_CHECKING:
    from anymetric.metrics.evaluations import Question

# Seconds of one call from which other processes are worth their messages.
SLOW = 5e-3


@dataclass(eq=False)
class Direct:
    """Call the metric, here or in several threads or processes.

    The first call of several is made here and timed; if it is slow, the others are shared out.

    Parameters
    ----------
    conduct : Conduct
        By default every failure is raised.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.metrics.evaluations import Question
    >>> def share(y_true, y_pred):
    ...     return float(np.mean(y_pred))
    >>> bound = as_metric(share, greater_is_better=True).bind(np.array([1.0, -1.0]), labels=(0, 1))
    >>> list(Direct().answers([Question(bound, np.array([1.0, -1.0]))]))
    [(0, Answer(value=0.5, attempts=1, error=None))]
    """

    conduct: Conduct = field(default_factory=Conduct)

    def answers(
        self, questions: Sequence[Question], n_jobs: int | None = None
    ) -> Iterator[tuple[int, Answer]]:
        """Yield the answers: one by one in order, or as they are done."""
        slots = min((question.judge.slots for question in questions), default=1)
        if slots > 1 and len(questions) > 1:
            yield from _threaded(questions, slots)
            return
        began = time.perf_counter()
        for k, question in enumerate(questions[:1]):
            yield k, question.attempt()
        took = time.perf_counter() - began
        rest = list(enumerate(questions))[1:]
        if took > SLOW and len(rest) > 1 and effective_n_jobs(n_jobs) > 1:
            yield from _shared_out(rest, n_jobs)
            return
        for k, question in rest:
            yield k, question.attempt()


# Set where calls in threads may be told to stop: which of them belong together, and whether.
STOPPING: ContextVar[threading.Event | None] = ContextVar("stopping", default=None)


def _threaded(questions: Sequence[Question], slots: int) -> Iterator[tuple[int, Answer]]:
    """Let threads wait for programs that run outside this process."""
    stopping, context = threading.Event(), copy_context()
    context.run(STOPPING.set, stopping)
    with ThreadPoolExecutor(slots) as pool:
        waiting = {
            pool.submit(context.copy().run, question.attempt): k
            for k, question in enumerate(questions)
        }
        try:
            yield from _failures_last(
                (waiting[done], done.result()) for done in as_completed(waiting)
            )
        except BaseException:
            stopping.set()
            for future in waiting:
                future.cancel()
            context.run(questions[0].judge.stop)
            raise


def _shared_out(
    asked: list[tuple[int, Question]], n_jobs: int | None
) -> Iterator[tuple[int, Answer]]:
    jobs = (delayed(_placed)(k, question) for k, question in asked)
    try:
        found = Parallel(n_jobs, return_as="generator_unordered")(jobs)
        for k, answer in _failures_last(found):
            if answer.error is not None:
                answer.error.made = max(answer.error.made, asked[-1][0] + 1)
            yield k, answer
    except pickle.PicklingError as error:
        name = asked[0][1].judge.metric.name
        warn(
            f"Metric {name!r} cannot be sent to other processes ({error}): it is called in this "
            "one. Define it in a module, or leave n_jobs unset."
        )
        yield from ((k, question.attempt()) for k, question in asked)


def _failures_last(found: Iterable[tuple[int, Answer]]) -> Iterator[tuple[int, Answer]]:
    """Yield all answers first: who stops at a failure must not lose calls under way."""
    failures = []
    for k, answer in found:
        if answer.failed:
            failures.append((k, answer))
        else:
            yield k, answer
    yield from failures


def _placed(place: int, question: Question) -> tuple[int, Answer]:
    return place, question.attempt()
