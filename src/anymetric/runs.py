"""Runs: ask and tell. The caller owns the loop, and may be a person, a laboratory or a queue."""

from __future__ import annotations

import math
import numbers
import re
import secrets
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from sklearn.base import clone

from anymetric.errors import LedgerError
from anymetric.estimators._ledger import begin, fingerprint
from anymetric.metrics import MetricError
from anymetric.metrics.evaluations import answered_by
from anymetric.metrics.exchange import number
from anymetric.metrics.faults import Answer
from anymetric.recorded import Asking, entry, table_of, waiting
from anymetric.store import Evaluation, Store, open_store

# Seconds that a question is reserved for the caller who got it.
LEASE = 3600.0
KEY = re.compile(r"[0-9a-f]{40}", re.ASCII)


@dataclass(frozen=True, eq=False)
class Question:
    """An evaluation to be made by the caller.

    Attributes
    ----------
    key : str
        The key to `tell` the answer with.
    predictions : dict of arrays
        A table by columns: ``row``, ``y_true``, ``prediction`` (or ``score``, ``probability``) and
        the metadata.

    Examples
    --------
    >>> import numpy as np
    >>> Question("3f", {"row": np.arange(2)}).key
    '3f'
    """

    key: str
    predictions: dict[str, NDArray[Any]] = field(repr=False)


class Run:
    """A fit whose metric is evaluated by the caller.

    The fit is replayed from its ledger up to the first missing answer. Answers may come in any
    order, several at a time and from several processes; late ones count, a second one for the
    same question does not.

    Parameters
    ----------
    estimator : MetricClassifier, MetricRegressor or MetricRanker
        Its metric is never called: `ToldMetric`, a `CommandMetric`, a function.
    X, y : as `fit` takes them
    ledger : path, address or Store, optional
        Where answers are kept; in memory by default.
    lease : float
        Seconds that a question is reserved for one caller.
    **given
        Further arguments of `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from anymetric import MetricClassifier, ToldMetric
    >>> X, y = make_classification(200, 4, random_state=0)
    >>> rating = ToldMetric("rating", greater_is_better=True)
    >>> run = Run(MetricClassifier(rating, max_metric_calls=20, random_state=0), X, y)
    >>> while questions := run.ask(4):
    ...     for question in questions:
    ...         table = question.predictions
    ...         _ = run.tell(question.key, float(np.mean(table["y_true"] == table["prediction"])))
    >>> run.done, run.best().score is not None
    (True, True)
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        ledger: str | Path | Store | None = None,
        lease: float = LEASE,
        **given: Any,
    ) -> None:
        self.estimator = clone(estimator)
        if "ledger" in self.estimator.get_params(deep=False):
            self.estimator.set_params(ledger=None)
        self.given = {"X": X, "y": y, **given}
        self.lease = lease
        self.store = ledger if isinstance(ledger, Store) else open_store(ledger)
        settings = fingerprint(self.estimator, self.given)  # type: ignore[no-untyped-call]
        begin(self.store, settings)  # type: ignore[no-untyped-call]

    @property
    def done(self) -> bool:
        """Whether the run has all the answers that it needs."""
        return self.store.status == "done"

    def ask(self, n: int = 1) -> list[Question]:
        """Return up to n questions that are not reserved; none if all are, or if the run is done.

        Parameters
        ----------
        n : int
        """
        if n < 1:
            raise ValueError(f"n must be at least 1; got {n}.")
        if self.done:
            return []
        who = f"asked-{secrets.token_hex(8)}"
        taken = self.store.lease(self.store.open_keys(), who, self.lease, n)
        if not taken and not self.store.open_keys():
            self._replay()
            taken = self.store.lease(self.store.open_keys(), who, self.lease, n)
        return [self.question(key) for key in taken]

    def question(self, key: str) -> Question:
        """Return a question by its key."""
        posed = self.store.posed(self._checked(key))
        assert posed is not None
        return Question(key, table_of(posed))

    def tell(self, key: str, value: float, *, seconds: float | None = None) -> bool:
        """Record an answer; return False, with a note in the ledger, if there was one before.

        Parameters
        ----------
        key : str
        value : float
        seconds : float, optional
            How long the evaluation took.
        """
        key, took = self._checked(key), None if seconds is None else finite(seconds)
        return self.store.record(entry(key, Answer(finite(value)), took, "told"))

    def fail(self, key: str, reason: str) -> bool:
        """Record that an evaluation failed, and why."""
        key, name = self._checked(key), getattr(self.estimator.metric, "name", "metric")
        error = MetricError(f"Metric {name!r} has no answer: {reason}.")
        return self.store.record(entry(key, Answer(error=error), None, "told"))

    def best(self) -> Any:
        """Return the best model by the answers so far: a fitted estimator."""
        if not any(not one.failed for one in self.answers()):
            raise LedgerError("There is no model before the first answer: ask, then tell.")
        return self._replay()

    def answers(self) -> list[Evaluation]:
        """Return what has been answered, the oldest first."""
        return list(self.store.known().values())

    def _checked(self, key: str) -> str:
        named = isinstance(key, str) and KEY.fullmatch(key)
        if not named or self.store.posed(key) is None:
            raise LedgerError(f"No question has the key {str(key)[:60]!r}: `ask` gives keys.")
        return key

    def _replay(self) -> Any:
        """Fit with the recorded answers; return the best model so far if some are missing."""
        model = clone(self.estimator)
        if self.store.alone:  # other processes could not see its answers
            model.set_params(n_jobs=None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                with answered_by(Asking(self.store)):
                    model.fit(**self.given)
            except KeyboardInterrupt as stop:
                if not waiting(stop):
                    raise
                self.store.end("begun")
                return model
        self.store.end("done")
        return model


def finite(value: Any) -> float:
    """Return an answer if it is one finite real number; else raise an error.

    Examples
    --------
    >>> finite("0.5")
    0.5
    >>> finite("good")
    Traceback (most recent call last):
    anymetric.errors.LedgerError: An answer is one finite number; got 'good'.
    """
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    try:
        found = number(value) if isinstance(value, str) else float(value) if real else math.nan
    except (ValueError, OverflowError):
        found = math.nan
    if not math.isfinite(found):
        raise LedgerError(f"An answer is one finite number; got {str(value)[:60]!r}.")
    return found
