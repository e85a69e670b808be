"""Journal: answers of a function in this process, recorded without slowing it down."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from anymetric.metrics.evaluations import Direct, Evaluations, Question
from anymetric.metrics.faults import Answer, Conduct
from anymetric.recorded import entry, replayed
from anymetric.store import Evaluation, Store
from anymetric.store.owners import owner

# Seconds between writes; an answer that took as long itself is on the disk before it is used.
PAUSE, SLOW = 0.5, 0.05


@dataclass(eq=False)
class Journal:
    """Take known answers, call the metric for the others, and write those down by and by.

    A function that answers in a millisecond should not wait for the disk at each call: what is
    written late is half a second's work at most.

    Parameters
    ----------
    store : Store
    inner : Evaluations

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.metrics.evaluations import answered_by
    >>> from anymetric.store import open_store
    >>> def share(y_true, y_pred):
    ...     return float(np.mean(y_pred))
    >>> bound = as_metric(share, greater_is_better=True).bind(np.array([1.0, -1.0]), labels=(0, 1))
    >>> journal = Journal(open_store())
    >>> with answered_by(journal):
    ...     bound.values(np.array([[1.0, 1.0], [1.0, -1.0]])).tolist()
    [1.0, 0.5]
    >>> journal.flush()
    >>> len(journal.store.known())
    2
    """

    store: Store
    inner: Evaluations = field(default_factory=Direct)
    known: dict[str, Evaluation] = field(default_factory=dict)
    late: list[Evaluation] = field(default_factory=list)
    wrote: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        if not self.known:
            self.known.update(self.store.known())

    @property
    def conduct(self) -> Conduct:
        """What becomes of failures, and how often a question is asked."""
        return self.inner.conduct

    def answers(
        self, questions: Sequence[Question], n_jobs: int | None = None
    ) -> Iterator[tuple[int, Answer]]:
        """Yield the known answers first, then the others as they come in."""
        places: dict[str, list[int]] = {}
        for k, question in enumerate(questions):
            places.setdefault(question.key, []).append(k)
        fresh = [key for key in places if key not in self.known]
        for key in places.keys() - set(fresh):
            yield from ((k, replayed(self.known[key], questions[k])) for k in places[key])
        began = time.perf_counter()
        asked = [questions[places[key][0]] for key in fresh]
        for place, answer in self.inner.answers(asked, n_jobs):
            now = time.perf_counter()
            self._keep(entry(fresh[place], answer, now - began, owner()), now)
            began = time.perf_counter()
            yield from ((k, answer) for k in places[fresh[place]])

    def _keep(self, found: Evaluation, now: float) -> None:
        self.known[found.key] = found
        self.late.append(found)
        if now - self.wrote > PAUSE or (found.seconds or 0.0) > SLOW:
            self.flush()

    def flush(self) -> None:
        """Write what is not yet written."""
        self.wrote = time.perf_counter()
        if self.late:
            self.store.record_all(self.late)
            self.late.clear()  # one list for all who go by this journal
