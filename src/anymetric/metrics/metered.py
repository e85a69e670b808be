"""Metered: evaluations counted against one budget."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from anymetric.metrics.base import MetricError
from anymetric.metrics.evaluations import Direct, Evaluations, Question
from anymetric.metrics.faults import Answer, Conduct


@dataclass(eq=False)
class Metered:
    """Count every new evaluation; beyond the budget it fails without a call.

    Repeated evaluations are free. Those that a ledger answers are counted too, so that a replayed
    run ends the same way.

    Parameters
    ----------
    inner : Evaluations
    most : int, optional
    record : callable, optional
        Called with each new question and its answer.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.metrics.evaluations import answered_by
    >>> def share(y_true, y_pred):
    ...     return float(np.mean(y_pred))
    >>> bound = as_metric(share, greater_is_better=True).bind(np.array([1.0, -1.0]), labels=(0, 1))
    >>> meter = Metered(most=1)
    >>> with answered_by(meter):
    ...     bound.values(np.array([1.0, -1.0])).tolist(), meter.left
    ...     bound.values(np.array([2.0, -2.0])).tolist(), meter.left
    ...     bound.values(np.array([1.0, 1.0]))
    Traceback (most recent call last):
    anymetric.metrics.base.MetricError: The budget of 1 call is spent.
    """

    inner: Evaluations = field(default_factory=Direct)
    most: int | None = None
    record: Callable[[Question, Answer], None] = lambda question, answer: None
    seen: dict[str, int] = field(default_factory=dict)  # attempts by key

    @property
    def conduct(self) -> Conduct:
        """How failures are handled, and how often an evaluation is repeated."""
        return self.inner.conduct

    @property
    def store(self) -> Any:
        """The ledger of the inner evaluator, if there is one."""
        return getattr(self.inner, "store", None)

    @property
    def calls(self) -> int:
        """How many calls the questions took, retries included."""
        return sum(self.seen.values())

    @property
    def left(self) -> float:
        """How many new evaluations are still allowed."""
        return math.inf if self.most is None else self.most - self.calls

    def answers(
        self, questions: Sequence[Question], n_jobs: int | None = None
    ) -> Iterator[tuple[int, Answer]]:
        """Yield the answers of those that the budget allows; the others fail."""
        fresh = [key for key in dict.fromkeys(q.key for q in questions) if key not in self.seen]
        allowed = set(fresh if math.isinf(self.left) else fresh[: max(int(self.left), 0)])
        granted = allowed | set(self.seen)
        places = [k for k, question in enumerate(questions) if question.key in granted]
        for place, answer in self.inner.answers([questions[k] for k in places], n_jobs):
            k = places[place]
            if questions[k].key not in self.seen:
                self.seen[questions[k].key] = answer.attempts
                self.record(questions[k], answer)
            yield k, answer
        for k in sorted(set(range(len(questions))) - set(places)):
            yield k, Answer(error=MetricError(self._spent(), probe=questions[k].probe))

    def _spent(self) -> str:
        return f"The budget of {self.most} call{'s' if self.most != 1 else ''} is spent."
