"""Progress: turns told to scikit-learn's callbacks and, if asked, to the terminal."""

from __future__ import annotations

import sys
import time

from anymetric.tuning import most_turns


class Progress:
    """Watches a run; a callback that asks to stop stops it.

    Parameters
    ----------
    estimator : MetricEstimator
        Its callbacks are called once a turn; its `verbose` is how many lines a second are told.
    method : the part that runs
    starts : int
    """

    def __init__(self, estimator, method, starts, ledger):
        self.estimator = estimator
        self.observer = getattr(estimator, "_observer", None)
        if self.observer is not None:
            self.observer.begin(method, starts, ledger.problem)
        self.total = most_turns(method, starts)
        self.context = estimator._init_callback_context(max_subtasks=self.total)
        self.context.call_on_fit_task_begin(estimator=estimator)
        self.began = self.told = time.perf_counter()
        self.turns = self.calls = self.last = 0
        self.best = float("inf")
        self.say(f"Training for {estimator.metric_.name!r}. {estimator.validation_}")

    def watch(self, turn):
        """Note a turn; return whether to stop."""
        self.turns += 1
        # A run of a grid counts its own calls, from the start again.
        self.calls += turn.calls - (self.last if turn.calls > self.last else 0)
        self.last = turn.calls
        self.best = min(self.best, turn.cost)
        self._tell(turn)
        if self.observer is not None:
            self.observer.turn(turn)
        inner = self.context.subcontext(task_name="turn")
        inner.call_on_fit_task_begin(estimator=self.estimator)
        return inner.call_on_fit_task_end(estimator=self.estimator)

    def close(self, solution=None):
        """End the task."""
        self.context.call_on_fit_task_end(estimator=self.estimator)
        if solution is not None:
            value = self.estimator.metric_.value(solution.cost)
            self.say(
                f"{solution.status.name}: {self.estimator.metric_.name} {value:.4f} on the rows "
                f"that judge, {solution.calls} calls, {time.perf_counter() - self.began:.1f} s. "
                f"{solution.status.value}"
            )

    def say(self, line):
        """Print a line to standard error, if lines are wanted."""
        if self.estimator.verbose:
            print(f"[anymetric] {line}", file=sys.stderr)

    def _tell(self, turn):
        now = time.perf_counter()
        if not self.estimator.verbose or now - self.told < 1.0 / self.estimator.verbose:
            return
        self.told = now
        spent = now - self.began
        of = f" of at most {self.total}" if self.total else ""
        rest = ""
        # The first turns say little of the pace.
        if self.total and self.turns > 0.05 * self.total:
            rest = f", at most {spent * (self.total - self.turns) / self.turns:.0f} s left"
        self.say(
            f"turn {self.turns}{of}: cost {turn.cost:.4f}, best {self.best:.4f}, {self.calls} "
            f"calls, {spent:.0f} s{rest}"
        )
