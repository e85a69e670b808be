"""DescentDisplay: the cost of every evaluation of a run, and the best so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anymetric.displays._canvas import BEST, CHOSEN, QUIET, canvas, plain
from anymetric.estimators._run import History, Run, cost_label, fitted


@dataclass(eq=False)
class DescentDisplay:
    """The cost by iteration, and the best so far.

    The iterations of a descent are joined, one line per start. The candidates of ``method="auto"``
    are single points; the last one is the average that became the model.

    Parameters
    ----------
    run : Run
        The iterations: `costs`, `starts`, `chosen`.
    label : str
        What the cost is.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    best_, chosen_ : matplotlib Line2D
        The best so far, and the mark of the iteration that became the model.
    lines_ : list of matplotlib Line2D
        The iterations: one line a start, or the candidates.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from anymetric import MetricClassifier
    >>> X, y = make_classification(300, weights=[0.8], random_state=0)
    >>> clf = MetricClassifier("f1", random_state=0).fit(X, y)
    >>> DescentDisplay.from_estimator(clf).ax_.get_ylabel()
    'cost (1 - f1)'
    """

    run: Run
    label: str = "cost"
    ax_: Any = field(init=False, repr=False)
    figure_: Any = field(init=False, repr=False)
    best_: Any = field(init=False, repr=False)
    chosen_: Any = field(init=False, repr=False)
    lines_: list[Any] = field(init=False, repr=False)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **kwargs: Any) -> DescentDisplay:
        """Draw the run of a fitted estimator, or of one at the end of a pipeline or search.

        Parameters
        ----------
        estimator : fitted estimator
        ax : matplotlib Axes, optional
        kwargs : dict
            For the iterations, as in `plot`.
        """
        ours = fitted(estimator, cls.__name__)
        return cls(Run.of_estimator(ours), cost_label(ours.metric_)).plot(ax, **kwargs)

    @classmethod
    def from_history(
        cls, history: History, *, label: str = "cost", ax: Any = None, **kwargs: Any
    ) -> DescentDisplay:
        """Draw iterations that were kept elsewhere: `Solution.history`, or a `history_`."""
        return cls(Run.of_history(history), label).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> DescentDisplay:
        """Draw the iterations.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            New ones by default.
        kwargs : dict
            For matplotlib's `plot` of the iterations: colour, markers.

        Returns
        -------
        self
        """
        ax, run = canvas(self, ax), self.run
        self.lines_ = self._turns(ax, kwargs)
        (self.best_,) = ax.plot(
            run.best_so_far, drawstyle="steps-post", color=BEST, label="best so far"
        )
        name = "weighted average" if run.averaged else "chosen"
        (self.chosen_,) = ax.plot(
            run.chosen,
            run.costs[run.chosen],
            "*",
            markersize=13,
            color=CHOSEN,
            label=f"{name}: {run.costs[run.chosen]:.4g}",
        )
        thing = "iteration" if run.sequential else "candidate"
        ax.set(xlabel=f"{thing}, in order of evaluation", ylabel=plain(self.label))
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend()
        return self

    def _turns(self, ax: Any, kwargs: dict[str, Any]) -> list[Any]:
        """Draw the iterations, joined within a start if they follow from each other."""
        run = self.run
        style = {"color": QUIET, "marker": "o", "markersize": 3.0, "linewidth": 0.8}
        if not run.sequential:
            style |= {"linestyle": "none", "markersize": 5.0}
        lines = []
        places = np.arange(len(run.tried))
        starts = np.unique(run.starts) if run.sequential else [None]
        for number, start in enumerate(starts):
            here = places if start is None else places[run.starts == start]
            label = None if number else ("iteration" if run.sequential else "candidate")
            lines += ax.plot(here, run.costs[here], **{**style, "label": label, **kwargs})
        return lines
