"""TradeOffDisplay: what a limit costs, the objective against what is limited."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.displays._canvas import BEST, CHOSEN, QUIET, canvas, plain
from anymetric.estimators._run import fitted


@dataclass(eq=False)
class TradeOffDisplay:
    """The objective against a limited metric, as the threshold moves; the limit, and the choice.

    Values are of validation rows by models that they did not train.

    Parameters
    ----------
    limited, objective : arrays of shape (t,)
    bound : float
    chosen : pair of float
        The limited metric and the objective of the model.
    names : pair of str

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    curve_, limit_, chosen_ : matplotlib Line2D

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from anymetric import MetricClassifier
    >>> X, y = make_classification(400, weights=[0.8], random_state=0)
    >>> clf = MetricClassifier("precision", subject_to="recall>=0.8", random_state=0).fit(X, y)
    >>> TradeOffDisplay.from_estimator(clf).names
    ('recall', 'precision')
    """

    limited: NDArray[np.float64]
    objective: NDArray[np.float64]
    bound: float
    chosen: tuple[float, float]
    names: tuple[str, str]
    ax_: Any = field(init=False, repr=False)
    figure_: Any = field(init=False, repr=False)
    curve_: Any = field(init=False, repr=False)
    limit_: Any = field(init=False, repr=False)
    chosen_: Any = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls, estimator: Any, limit: int = 0, *, ax: Any = None, **kwargs: Any
    ) -> TradeOffDisplay:
        """Draw the trade-off of an estimator that was fitted with `subject_to`.

        Parameters
        ----------
        estimator : fitted estimator
        limit : int
            Which of several limits.
        ax : matplotlib Axes, optional
        kwargs : dict
            For matplotlib's `plot` of the curve.
        """
        ours = fitted(estimator, cls.__name__, "surrogates_")
        table = getattr(ours, "trade_off_", None)
        if table is None:
            raise ValueError(
                "TradeOffDisplay needs a classifier of two classes fitted with subject_to=, of "
                "ready-made metrics; this one has no trade-off to show."
            )
        found = ours.constraints_[limit]
        name = found.limit.metric.name
        chosen = found.value, ours.validation_score_
        shown = name, ours.metric_.name
        values = table["limits"][limit], table["objective"]
        return cls(*values, found.limit.bound, chosen, shown).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> TradeOffDisplay:
        """Draw the curve, the limit and the choice.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            New ones by default.
        kwargs : dict
            For matplotlib's `plot` of the curve.

        Returns
        -------
        self
        """
        ax = canvas(self, ax)
        style = {"color": BEST, "marker": ".", "label": "thresholds of the answer"}
        (self.curve_,) = ax.plot(self.limited, self.objective, **{**style, **kwargs})
        self.limit_ = ax.axvline(self.bound, color=QUIET, linestyle="--", label="limit")
        (self.chosen_,) = ax.plot(*self.chosen, "D", color=CHOSEN, label="chosen")
        ax.set_xlabel(plain(self.names[0]))
        ax.set_ylabel(plain(self.names[1]))
        ax.legend()
        return self
