"""Progress: the iterations of a run, live on a terminal and as plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rich.console import Console
from rich.live import Live
from rich.text import Text

from anymetric.cli.voice import Voice
from anymetric.method import Method
from anymetric.problem import Problem
from anymetric.solution import Iteration
from anymetric.tuning import max_iterations

# Seconds between plain lines.
PAUSE = 5.0


@dataclass
class Course:
    """What is known of a run so far.

    Examples
    --------
    >>> from anymetric.ledger import Probe
    >>> iteration = Iteration(0, 0, Probe(np.zeros(1), np.ones(1), 0.25), np.ones(1), calls=7)
    >>> course = Course("anymetric", most=10, began=0.0)
    >>> course.note(iteration, now=2.0)
    >>> course.line(now=2.0)
    'anymetric: iteration 1/10, cost 0.2500, best 0.2500, 7 calls, at most 18 s left'
    >>> course.line(now=3.0)
    'anymetric: iteration 1/10, cost 0.2500, best 0.2500, 7 calls, at most 17 s left'

    Of a black box the calls are counted one by one:

    >>> course = Course("anymetric", began=0.0, allowed=20, value=lambda cost: 1.0 - cost)
    >>> for _ in range(4):
    ...     course.call()
    >>> course.note(iteration)
    >>> course.line(now=2.0)
    'anymetric: call 4 of 20, 16 left, best 0.7500, 2 s, at most 8 s left'
    """

    name: str
    most: int | None = None
    rough: bool = False
    began: float = field(default_factory=time.perf_counter)
    iterations: int = 0
    cost: float = float("nan")
    best: float = float("inf")
    calls: int = 0
    last: int = 0
    reached: float = 0.0
    allowed: int | None = None
    seconds: float | None = None
    value: Callable[[float], float] = lambda cost: cost
    as_cost: Callable[[float], float] = lambda value: value
    answered: int = 0
    answer: float = float("inf")

    @classmethod
    def of(cls, name: str, setting: Any) -> Course:
        """Return the course of a method that has not begun."""
        allowed = setting.calls if setting.called else None
        turned = {"value": setting.metric.value, "as_cost": setting.metric.cost}
        return cls(name, allowed=allowed, seconds=setting.max_seconds, **turned)

    def call(self, about: Mapping[str, Any] | None = None, value: float = float("nan")) -> None:
        """Take in one answer of a black box; what it is about says whether it is of a model."""
        self.answered += 1
        stage, resample = (about or {}).get("stage"), "resample" in (about or {})
        if stage in ("candidate", "answer") and not resample and np.isfinite(value):
            self.answer = min(self.answer, self.as_cost(value))

    @property
    def lowest(self) -> float:
        """The lowest cost of an iteration; before the first, of an answer about a model."""
        return self.best if np.isfinite(self.best) else self.answer

    @property
    def best_value(self) -> float:
        """The best value so far."""
        return float(self.value(self.lowest))

    def note(self, iteration: Iteration, now: float | None = None) -> None:
        """Take in one iteration."""
        self.iterations += 1
        self.reached = time.perf_counter() if now is None else now
        # A run of a grid counts its own calls, from the start again.
        self.calls += iteration.calls - (self.last if iteration.calls > self.last else 0)
        self.last, self.cost = iteration.calls, iteration.cost
        self.best = min(self.best, iteration.cost)

    def line(self, now: float | None = None) -> str:
        """Return the state as one line."""
        now = time.perf_counter() if now is None else now
        spent = now - self.began
        if self.answered:
            return self._calls(spent)
        if not self.iterations:
            return f"{self.name}: {spent:.0f} s"
        of, left = "", f"{spent:.0f} s"
        if self.most and self.iterations <= self.most:
            of = f"/{'~' if self.rough else ''}{self.most}"
            # By the iterations that are over: the present one only shortens what is left.
            each = (self.reached - self.began) / self.iterations
            rest = max(each * (self.most - self.iterations) - (now - self.reached), 0.0)
            left = f"{'about' if self.rough else 'at most'} {rest:.0f} s left"
        return (
            f"{self.name}: iteration {self.iterations}{of}, cost {self.cost:.4f}, "
            f"best {self.best:.4f}, {self.calls} call{'s' if self.calls != 1 else ''}, {left}"
        )

    def _calls(self, spent: float) -> str:
        """Return the state of a run whose metric is a black box."""
        best = f"best {self.best_value:.4f}, " if np.isfinite(self.lowest) else ""
        of, rest = "", np.inf
        if self.allowed is not None:
            of = f" of {self.allowed}, {max(self.allowed - self.answered, 0)} left"
            rest = spent / self.answered * max(self.allowed - self.answered, 0)
        if self.seconds is not None:
            rest = min(rest, max(self.seconds - spent, 0.0))
        left = f", at most {rest:.0f} s left" if np.isfinite(rest) else ""
        return f"{self.name}: call {self.answered}{of}, {best}{spent:.0f} s{left}"


@dataclass(frozen=True, eq=False)
class Observer:
    """Follows a fit iteration by iteration, for the line that shows its progress.

    Examples
    --------
    >>> from anymetric import Descent
    >>> observer = Observer(Course("anymetric"), print)
    >>> observer.begin(Descent(iterations=9), 2, None)
    >>> observer.course.most
    20
    """

    course: Course
    tell: Callable[[], None]

    def begin(self, method: Method, starts: int, problem: Problem) -> None:
        """Say how many iterations there will be, or about how many."""
        self.course.most = max_iterations(method, starts)
        self.course.rough = self.course.most is None
        if self.course.rough:
            self.course.most = likely_turns(problem)

    def iteration(self, iteration: Iteration) -> None:
        """Note an iteration."""
        self.course.note(iteration)
        self.tell()


def likely_turns(problem: Problem) -> int:
    """Return about how many candidates the default method tries on a problem.

    Examples
    --------
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.zeros((2, 1)), np.array([1.0, -1.0]))
    >>> likely_turns(Problem(data, "logistic", as_metric("f1"), labels=(0, 1)))
    12
    """
    alone = problem.valid is problem.train
    if problem.labels is None:
        return 6 if alone else 16
    sources = problem.train.side.get("source")
    return (12 if alone else 28) + (0 if sources is None else 2 * len(np.unique(sources)))


@contextmanager
def told(voice: Voice, course: Course) -> Iterator[Callable[[], None]]:
    """Show a course while it runs; give what is to be called at each iteration."""
    console = voice.notes
    if voice.quiet:
        yield lambda: None
    elif console.is_terminal:
        # Unlike a note, a line that is drawn again must not run over the edge.
        console = Console(stderr=True, highlight=False)
        with Live(console=console, transient=True, refresh_per_second=8) as live:

            class Now:
                def __rich__(self) -> Text:
                    return Text(course.line())

            live.update(Now())
            yield lambda: None
    else:
        yield Plain(voice, course).tell


@dataclass
class Plain:
    """Plain lines, one in some seconds.

    Examples
    --------
    >>> Plain(Voice(quiet=True), Course("anymetric")).tell()
    """

    voice: Voice
    course: Course
    last: float = field(default_factory=time.perf_counter)

    def tell(self) -> None:
        """Print a line if the last one is long ago."""
        now = time.perf_counter()
        if now - self.last >= PAUSE:
            self.last = now
            self.voice.note(self.course.line(now))
