"""Progress: iterations are passed to scikit-learn's callbacks and, if verbose, printed."""

from __future__ import annotations

import sys
import time

from anymetric.tuning import max_iterations


class Progress:
    """Watches a run; a callback can stop it.

    Parameters
    ----------
    estimator : MetricEstimator
        Its callbacks are called once per iteration; `verbose` is the number of lines per second.
    method : Method
    starts : int
    """

    def __init__(self, estimator, method, starts, ledger):
        self.estimator = estimator
        self.observer = getattr(estimator, "_observer", None)
        if self.observer is not None:
            self.observer.begin(method, starts, ledger.problem)
        self.total = max_iterations(method, starts)
        self.context = estimator._init_callback_context(max_subtasks=self.total)
        self.context.call_on_fit_task_begin(estimator=estimator)
        self.began = self.printed = time.perf_counter()
        self.iterations = self.calls = self.last = 0
        self.best = float("inf")
        self.say(f"Training for {estimator.metric_.name!r}. {estimator.validation_}")

    def watch(self, iteration):
        """Note an iteration; return whether to stop."""
        self.iterations += 1
        # A run of a grid counts its own calls, from the start again.
        self.calls += iteration.calls - (self.last if iteration.calls > self.last else 0)
        self.last = iteration.calls
        self.best = min(self.best, iteration.cost)
        self._print(iteration)
        if self.observer is not None:
            self.observer.iteration(iteration)
        inner = self.context.subcontext(task_name="iteration")
        inner.call_on_fit_task_begin(estimator=self.estimator)
        return inner.call_on_fit_task_end(estimator=self.estimator)

    def close(self, solution=None):
        """End the task."""
        self.context.call_on_fit_task_end(estimator=self.estimator)
        if solution is not None:
            value = self.estimator.metric_.value(solution.cost)
            self.say(
                f"{solution.status.name}: {self.estimator.metric_.name} {value:.4f} on the "
                f"validation rows, {solution.calls} calls, {time.perf_counter() - self.began:.1f} "
                f"s. {solution.status.value}"
            )

    def say(self, line):
        """Print a line to standard error, if lines are wanted."""
        if self.estimator.verbose:
            print(f"[anymetric] {line}", file=sys.stderr)

    def _print(self, iteration):
        now = time.perf_counter()
        if not self.estimator.verbose or now - self.printed < 1.0 / self.estimator.verbose:
            return
        self.printed = now
        spent = now - self.began
        of = f" of at most {self.total}" if self.total else ""
        rest = ""
        # Too early to estimate the pace before this.
        if self.total and self.iterations > 0.05 * self.total:
            rest = (
                f", at most {spent * (self.total - self.iterations) / self.iterations:.0f} s left"
            )
        self.say(
            f"iteration {self.iterations}{of}: cost {iteration.cost:.4f}, best {self.best:.4f}, "
            f"{self.calls} calls, {spent:.0f} s{rest}"
        )
