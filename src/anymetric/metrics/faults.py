"""Faults: what a run does where an evaluation fails, hangs, or returns no number."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any, Literal

from anymetric.metrics.base import MetricError

# Failures of these kinds at the very first question are mistakes in the function, not bad luck.
MISTAKES = (TypeError, NameError, AttributeError, ImportError, SyntaxError, NotImplementedError)
# Questions that fail before any is answered, after which a run cannot begin; and the last questions
# among which failures are counted.
FIRST, WINDOW = 4, 20


@dataclass(frozen=True)
class FaultPolicy:
    """What to do where an evaluation fails, hangs, or returns something else than a number.

    A skipped evaluation is a missing value: candidates are compared by the answers that there are.
    Where too many of the last evaluations failed, the last one that was answered is asked again; if
    it fails too, the run ends with the best model so far and ``Status.FAULTS``.

    Parameters
    ----------
    retries : int
        How often a failing evaluation is tried again. Each attempt counts as a call.
    skip : bool
        Whether the run goes on without it then; otherwise the failure ends the run.
    max_share : float
        The share of the last twenty evaluations that may be skipped.
    timeout : float, optional
        Seconds that one call of a function may take. The call then runs in a thread of its own, and
        what still runs in it is left behind. A `CommandMetric` has its own, which ends the program.
    backoff : float
        Seconds to wait before the first retry; then twice as many.

    Examples
    --------
    >>> as_policy("raise").skip, as_policy(FaultPolicy(retries=5)).retries
    (False, 5)
    """

    retries: int = 2
    skip: bool = True
    max_share: float = 0.5
    timeout: float | None = None
    backoff: float = 0.0

    def __post_init__(self) -> None:
        timed = self.timeout is None or self.timeout > 0.0
        if not timed or self.retries < 0 or self.backoff < 0.0 or not 0.0 <= self.max_share <= 1.0:
            raise ValueError(
                "retries and backoff must not be negative, max_share between 0 and 1, timeout "
                f"positive; got {self!r}."
            )


SKIP, RAISE = FaultPolicy(), FaultPolicy(retries=0, skip=False)
OnError = Literal["skip", "raise"] | FaultPolicy


def as_policy(given: OnError) -> FaultPolicy:
    """Return the policy that a word means.

    Examples
    --------
    >>> as_policy("skip")
    FaultPolicy(retries=2, skip=True, max_share=0.5, timeout=None, backoff=0.0)
    """
    if isinstance(given, FaultPolicy):
        return given
    if given not in ("skip", "raise"):
        raise ValueError(f"on_error must be 'skip', 'raise' or a FaultPolicy; got {given!r}.")
    return SKIP if given == "skip" else RAISE


@dataclass(frozen=True)
class Answer:
    """What came of a question: a value, or NaN and the last failure; after how many attempts.

    Examples
    --------
    >>> Answer(0.5).failed, Answer(error=MetricError("out of order"), attempts=3).failed
    (False, True)
    """

    value: float = float("nan")
    attempts: int = 1
    error: MetricError | None = None

    @property
    def failed(self) -> bool:
        """Whether there is no value."""
        return self.error is not None


def attempted(call: Callable[[], float], policy: FaultPolicy) -> Answer:
    """Call, and after a failure again, as often as the policy says.

    Examples
    --------
    >>> state = iter([MetricError("down"), 0.5])
    >>> def flaky():
    ...     if isinstance(one := next(state), MetricError):
    ...         raise one
    ...     return one
    >>> attempted(flaky, FaultPolicy())
    Answer(value=0.5, attempts=2, error=None)
    """
    attempt = 0
    while True:
        attempt += 1
        try:
            return Answer(call(), attempt)
        except MetricError as error:
            if attempt > policy.retries:
                return Answer(attempts=attempt, error=error)
        time.sleep(policy.backoff * 2.0 ** (attempt - 1))


def within(seconds: float | None, call: Callable[[], Any]) -> Any:
    """Return what a call returns, in no more than so many seconds; otherwise a `TimeoutError`.

    Examples
    --------
    >>> within(0.01, lambda: time.sleep(0.5))
    Traceback (most recent call last):
    TimeoutError: no answer within 0.01 seconds
    """
    if seconds is None:
        return call()
    found: list[Any] = []
    raised: list[BaseException] = []
    context = copy_context()

    def run() -> None:
        try:
            found.append(context.run(call))
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if raised:
        raise raised[0]
    if not found:
        raise TimeoutError(f"no answer within {seconds:g} seconds")
    return found[0]


class TooManyFailures(MetricError):  # noqa: N818 - the end of a run, with a model
    """So many evaluations failed that a run ended; `best` is the best model before that.

    Examples
    --------
    >>> raise TooManyFailures("11 of the last 20 evaluations failed.")
    Traceback (most recent call last):
    anymetric.metrics.faults.TooManyFailures: 11 of the last 20 evaluations failed.
    """


@dataclass(eq=False)
class Conduct:
    """How a run asks, how its evaluations went, and whether it may go on.

    Attributes
    ----------
    policy : FaultPolicy
    repeats : int or "auto"
        How often each question is asked, its answers averaged; ``auto`` is once, and again where
        answers vary from call to call and that could change a choice.
    noise : float
        The standard deviation of one answer, as far as it is known.

    Examples
    --------
    >>> conduct = Conduct(SKIP)
    >>> conduct.count(0.5), conduct.count(MetricError("out of order")), conduct.skipped
    (None, None, 1)
    """

    policy: FaultPolicy = RAISE
    repeats: int | Literal["auto"] = 1
    noise: float = 0.0
    answered: int = 0
    skipped: int = 0
    recent: deque[bool] = field(default_factory=lambda: deque(maxlen=WINDOW))
    last: Any = None  # the last question that was answered
    failure: str = ""  # the last one

    def count(self, outcome: float | MetricError, attempts: int = 1) -> None:
        """Note an answer or a failure; raise a failure that the policy does not skip."""
        self.recent.append(isinstance(outcome, MetricError))
        if not isinstance(outcome, MetricError):
            self.answered += 1
            return
        self.skipped += 1
        self.failure = str(outcome)
        mistake = isinstance(outcome.__cause__, MISTAKES)
        outcome.attempts = attempts
        if not self.policy.skip or (self.answered == 0 and (mistake or self.skipped >= FIRST)):
            raise outcome

    @property
    def doubtful(self) -> bool:
        """Whether so many of the last evaluations failed that the run should not go on."""
        return self.policy.skip and sum(self.recent) > self.policy.max_share * WINDOW

    def ended(self, error: MetricError) -> TooManyFailures:
        """Return the end of the run, with the last failure."""
        said = f"{sum(self.recent)} of the last {len(self.recent)} evaluations failed, and one that"
        found = TooManyFailures(
            f"{said} had been answered fails now. The last failure: {error}", error.probe
        )
        found.attempts = error.attempts + 1
        return found
