"""Recorded: answers are looked up in a ledger, and written there before they are used.

A run is a pure function of data, settings, seed and answers: run again with the same ledger it ends
with the same model, and several processes that do so share the work.
"""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from anymetric.errors import LedgerError
from anymetric.metrics import MetricError
from anymetric.metrics.evaluations import Direct, Evaluations, Question
from anymetric.metrics.exchange import plain
from anymetric.metrics.faults import Answer, Conduct
from anymetric.store import Evaluation, Posed, Store
from anymetric.store.owners import worker
from anymetric.store.records import DONE, FAILED
from anymetric.store.writers import Leased, Writer

# Seconds between polls of the store.
POLL = 0.05


@dataclass(eq=False)
class Recorded:
    """Take known answers, evaluate the others, record each as soon as it is known.

    Evaluations under way in another process are waited for; if that process is gone, or its lease
    runs out, they are made here.

    Parameters
    ----------
    store : Store
    inner : Evaluations
        Evaluates what is not recorded.
    writer : Writer, optional
        `Leased` by default; `Buffered` where a single process calls a fast function.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.metrics.evaluations import answered_by
    >>> from anymetric.store import open_store
    >>> asked = []
    >>> def share(y_true, y_pred):
    ...     asked.append(len(y_pred))
    ...     return float(np.mean(y_pred))
    >>> bound = as_metric(share, greater_is_better=True).bind(np.array([1.0, -1.0]), labels=(0, 1))
    >>> store = open_store()
    >>> for _ in range(2):
    ...     with answered_by(Recorded(store)):
    ...         print(bound.values(np.array([[1.0, 1.0], [1.0, -1.0]])))
    [1.  0.5]
    [1.  0.5]
    >>> len(asked)
    2
    """

    store: Store
    inner: Evaluations = field(default_factory=Direct)
    writer: Writer | None = None

    def __post_init__(self) -> None:
        if self.writer is None:
            self.writer = Leased(self.store)

    @property
    def conduct(self) -> Conduct:
        """What becomes of failures."""
        return self.inner.conduct

    def answers(
        self, questions: Sequence[Question], n_jobs: int | None = None
    ) -> Iterator[tuple[int, Answer]]:
        """Yield the known answers first, then the others as they come in."""
        places: dict[str, list[int]] = {}
        for k, question in enumerate(questions):
            places.setdefault(question.key, []).append(k)
        first = {key: questions[own[0]] for key, own in places.items()}
        missing = list(places)
        while missing:
            for key, found in self._writer.known(missing).items():
                yield from ((k, replayed(found, questions[k])) for k in places[key])
                missing.remove(key)
            for key, answer in self._evaluated({key: first[key] for key in missing}, n_jobs):
                yield from ((k, answer) for k in places[key])
                missing.remove(key)

    def flush(self) -> None:
        """Write what is not yet written."""
        self._writer.flush()

    @property
    def _writer(self) -> Writer:
        assert self.writer is not None
        return self.writer

    def _evaluated(
        self, left: dict[str, Question], n_jobs: int | None
    ) -> Iterator[tuple[str, Answer]]:
        """Evaluate what no other process has leased; where all is leased, wait a little."""
        me = worker()
        try:
            while left:
                taken = self._writer.take(list(left), me, self._at_once(left.values(), n_jobs))
                if not taken:
                    time.sleep(POLL)
                    return
                with self._writer.holding(me):
                    for key, answer in self._recorded([left[key] for key in taken], me, n_jobs):
                        yield key, answer
                        del left[key]
        finally:
            if left:
                self._writer.release(me)

    def _recorded(
        self, questions: Sequence[Question], me: str, n_jobs: int | None
    ) -> Iterator[tuple[str, Answer]]:
        together = self._at_once(questions, n_jobs) > 1
        began = time.perf_counter()
        for k, answer in self.inner.answers(questions, n_jobs):
            key, seconds = questions[k].key, time.perf_counter() - began
            if self._kept(entry(key, answer, seconds, me, described(questions[k]))):
                yield key, answer
            else:  # another process was first: its answer is used
                yield key, replayed(self.store.known([key])[key], questions[k])
            began = began if together else time.perf_counter()

    def _kept(self, found: Evaluation) -> bool:
        try:
            return self._writer.write(found)
        except OSError as error:
            what = found.error if found.failed else f"{found.value!r}"
            said = f"{error.strerror}; what came before is kept, the answer {what} of {found.key}"
            raise OSError(error.errno, f"{said} is not", str(self.store.base)) from error

    def _at_once(self, questions: Iterable[Question], n_jobs: int | None) -> int:
        slots = min(question.judge.slots for question in questions)
        return max(slots, int(effective_n_jobs(n_jobs)))


def entry(key: str, answer: Answer, seconds: float | None, who: str, about: str = "") -> Evaluation:
    """Return an answer or a failure as a line of the ledger.

    Examples
    --------
    >>> entry("3f", Answer(error=MetricError("Metric 'profit' is nan.")), 0.1, "me").error
    "Metric 'profit' is nan."
    """
    if answer.error is not None:
        error = str(answer.error)
        return Evaluation(key, None, FAILED, answer.attempts, seconds, error, who, about=about)
    value = float(answer.value)
    return Evaluation(key, value, DONE, answer.attempts, seconds, None, who, about=about)


def described(question: Question) -> str:
    """Return what a question is about as JSON: the share of rows flagged, and what its asker says.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.metrics.subjects import about
    >>> def share(y_true, y_pred):
    ...     return float(np.mean(y_pred))
    >>> bound = as_metric(share, greater_is_better=True).bind(np.array([1.0, -1.0]), labels=(0, 1))
    >>> with about(iteration=3):
    ...     described(Question(bound, np.array([0.3, -0.2])))
    '{"iteration": 3, "flagged": 0.5}'
    """
    found, seen = dict(question.about), question.judge.reads(question.scores)
    if seen.dtype == bool:
        found["flagged"] = round(float(np.mean(seen)), 6)
    if question.repeat:
        found["repeat"] = question.repeat
    return json.dumps(found, default=str)


def replayed(found: Evaluation, question: Question) -> Answer:
    """Return a line of the ledger as the answer that it was.

    Examples
    --------
    >>> replayed(Evaluation("3f", 0.5), None).value
    0.5
    """
    if found.failed or found.value is None:
        error = MetricError(found.error or "The evaluation failed.", probe=question.probe)
        return Answer(attempts=found.attempt, error=error)
    return Answer(found.value, found.attempt)


class Waiting(KeyboardInterrupt):
    """A run cannot continue without further answers; this is no error.

    It is raised like an interruption, so that the best model so far comes with it.

    Examples
    --------
    >>> waiting(Waiting(3)), waiting(KeyboardInterrupt())
    (True, False)
    """

    def __init__(self, missing: int = 0) -> None:
        super().__init__(f"{missing} answers are missing")
        self.missing = missing


def waiting(stop: BaseException | None) -> bool:
    """Return whether a run ended because answers are missing."""
    while stop is not None and not isinstance(stop, Waiting):
        stop = stop.__cause__
    return stop is not None


@dataclass(eq=False)
class Asking:
    """Use recorded answers, and store the open questions of the batch (ask and tell).

    Parameters
    ----------
    store : Store
    poses : bool
        Whether open questions are stored; otherwise the run just ends there.
    conduct : Conduct
        How failures are handled.
    """

    store: Store
    poses: bool = True
    conduct: Conduct = field(default_factory=Conduct)

    def answers(
        self, questions: Sequence[Question], n_jobs: int | None = None
    ) -> Iterator[tuple[int, Answer]]:
        """Yield recorded answers; where one is missing, store the question and stop."""
        first = {question.key: question for question in reversed(questions)}
        known = self.store.known(list(first))
        missing = [q for q in questions if q.key not in known and first[q.key] is q]
        failed = (k for k, q in enumerate(questions) if _failed(known, q) and not q.policy.skip)
        failure = next(failed, None)
        before = [q for k, q in enumerate(questions) if failure is None or k < failure]
        if any(q.key not in known for q in before):  # after a failure nothing else is read
            if self.poses:
                self.store.pose(Posed(q.key, payload(q), described(q)) for q in missing)
            raise Waiting(len(missing))
        stop = len(questions) if failure is None else failure + 1
        for k, question in enumerate(questions[:stop]):
            yield k, replayed(known[question.key], question)


def _failed(known: dict[str, Evaluation], question: Question) -> bool:
    found = known.get(question.key)
    return found is not None and found.failed


def payload(question: Question) -> bytes:
    """Return a question's table as bytes: columns by name, as compressed JSON."""
    table = question.judge.table(question.scores)
    columns = {name: plain(column) for name, column in table.items()}
    return zlib.compress(json.dumps(columns, default=str).encode())


def table_of(posed: Posed) -> dict[str, NDArray[Any]]:
    """Return the table of a question that was posed."""
    try:
        columns = json.loads(zlib.decompress(posed.payload))
        return {name: np.array(column) for name, column in columns.items()}
    except (zlib.error, ValueError, AttributeError) as error:
        raise LedgerError(f"The question {posed.key} is damaged: {error}.") from error
