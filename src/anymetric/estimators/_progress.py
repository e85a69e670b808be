"""Progress: turns told to scikit-learn's callbacks and, if asked, to the terminal."""

from __future__ import annotations

import sys
import time

from anymetric.descent import Descent
from anymetric.tuning import Tuned


class Progress:
    """Watches a run; a callback that asks to stop stops it.

    Parameters
    ----------
    estimator : MetricEstimator
        Its callbacks are called once a turn; its `verbose` is the seconds' pace of the lines.
    method : the part that runs
    starts : int
    """

    def __init__(self, estimator, method, starts):
        self.estimator = estimator
        self.total = total_turns(method, starts)
        self.context = estimator._init_callback_context(max_subtasks=self.total)
        self.context.call_on_fit_task_begin(estimator=estimator)
        self.began = self.told = time.perf_counter()
        self.turns = 0
        self.best = float("inf")

    def watch(self, turn):
        """Note a turn; return whether to stop."""
        self.turns += 1
        self.best = min(self.best, turn.cost)
        self._tell(turn)
        inner = self.context.subcontext(task_name="turn")
        inner.call_on_fit_task_begin(estimator=self.estimator)
        return inner.call_on_fit_task_end(estimator=self.estimator)

    def close(self):
        """End the task."""
        self.context.call_on_fit_task_end(estimator=self.estimator)
        if self.estimator.verbose:
            print(f"[anymetric] {self.estimator.validation_}", file=sys.stderr)

    def _tell(self, turn):
        now = time.perf_counter()
        if not self.estimator.verbose or now - self.told < 1.0 / self.estimator.verbose:
            return
        self.told = now
        spent = now - self.began
        of, left = "", ""
        if self.total:
            of = f" of {self.total}"
            left = f", about {spent * (self.total - self.turns) / self.turns:.0f} s left"
        print(
            f"[anymetric] turn {self.turns}{of}: cost {turn.cost:.4f}, best {self.best:.4f}, "
            f"{turn.calls} calls, {spent:.0f} s{left}",
            file=sys.stderr,
        )


def total_turns(method, starts):
    """Return the most turns that a run can take, or None if the part does not say."""
    if isinstance(method, Descent):
        return starts * (method.turns + 1)
    if isinstance(method, Tuned):
        return len(method.steps) * len(method.sigmas) * total_turns(method.descent, starts)
    return None
