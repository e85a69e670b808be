"""ThresholdDisplay: the metric at every threshold, and where the model's own one stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import numpy as np

from anymetric.displays._canvas import CHOSEN, GROUPS, canvas, plain, pyplot
from anymetric.displays._scored import Curve, Scored, as_columns, own_scores, transformed
from anymetric.estimators._rows import as_matrix
from anymetric.estimators._run import fitted
from anymetric.metrics import as_metric


@dataclass(eq=False)
class ThresholdDisplay:
    """The metric over all thresholds on the score, over all rows and in each group.

    Parameters
    ----------
    curves : mapping from name to Curve
        The first is the metric on all rows.
    label : str
        The metric's name.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    lines_ : list of matplotlib Line2D
        One a curve.
    chosen_, best_ : matplotlib Line2D
        The model's own threshold, and the best on these rows: in hindsight.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from anymetric import MetricClassifier
    >>> X, y = make_classification(300, weights=[0.8], random_state=0)
    >>> clf = MetricClassifier("f1", random_state=0).fit(X, y)
    >>> display = ThresholdDisplay.from_estimator(clf, X, y)
    >>> display.curves["all rows"].chosen == clf.score(X, y)
    True
    """

    curves: Mapping[str, Curve]
    label: str = "metric"
    ax_: Any = field(init=False, repr=False)
    figure_: Any = field(init=False, repr=False)
    lines_: list[Any] = field(init=False, repr=False)
    chosen_: Any = field(init=False, repr=False)
    best_: Any = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        groups: Any = None,
        side: Any = None,
        sample_weight: Any = None,
        per_group: bool = False,
        limit: int | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> ThresholdDisplay:
        """Draw the metric that a classifier was trained for, on rows that it has not seen.

        Parameters
        ----------
        estimator : fitted classifier, or one at the end of a pipeline or search
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        groups, side, sample_weight : optional
            As in `MetricClassifier.score`.
        per_group : bool
            Draw a curve for each of the groups too.
        limit : int, optional
            Maximum number of thresholds. All of them by default, or 200 if the metric is
            a function, which is called for each.
        ax : matplotlib Axes, optional
        kwargs : dict
            For the lines, as in `plot`.
        """
        pyplot(f"{cls.__name__}.from_estimator")
        ours = fitted(estimator, cls.__name__, "metric_")
        X = transformed(estimator, X)
        rows = Scored(
            ours.metric_,
            own_scores(ours, X, groups, side),
            ours._encode_valid(np.asarray(y)),
            as_columns(X, side, groups),
            None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64),
            ours._labels(),
            as_matrix(ours._checked(X)),  # type: ignore[no-untyped-call]
        )
        return cls(dict(rows.curves(per_group, limit)), rows.metric.name).plot(ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        metric: Any,
        groups: Any = None,
        side: Any = None,
        sample_weight: Any = None,
        per_group: bool = False,
        limit: int | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> ThresholdDisplay:
        """Draw a metric for any scores: rows above zero are those that the model flags.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Two classes; the one that sorts last is positive.
        y_score : array-like of shape (n,)
        metric : str, function, scikit-learn scorer or Metric
        groups, side, sample_weight, per_group, limit, ax, kwargs
            As in `from_estimator`.
        """
        pyplot(f"{cls.__name__}.from_predictions")
        labels, coded = np.unique(np.asarray(y_true), return_inverse=True)
        if len(labels) != 2:
            raise ValueError(f"y_true must have two classes; got {labels.tolist()[:5]}.")
        scores = np.asarray(y_score, dtype=np.float64)
        rows = Scored(
            as_metric(metric),
            scores,
            np.where(coded == 1, 1.0, -1.0),
            as_columns(scores[:, np.newaxis], side, groups),
            None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64),
            labels.tolist(),
        )
        return cls(dict(rows.curves(per_group, limit)), rows.metric.name).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> ThresholdDisplay:
        """Draw the curves; the model's own threshold is zero.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            New ones by default.
        kwargs : dict
            For matplotlib's `plot` of the curves.

        Returns
        -------
        self
        """
        ax = canvas(self, ax)
        whole, *others = self.curves.items()
        self.lines_ = [self._line(ax, *whole, {"color": "black", "zorder": 3, **kwargs})]
        for colour, other in zip(cycle(GROUPS), others, strict=False):
            self.lines_.append(
                self._line(ax, *other, {"color": colour, "linewidth": 1.0, **kwargs})
            )
        ax.axvline(0.0, color=CHOSEN, linewidth=1.0)
        curve = whole[1]
        (self.chosen_,) = ax.plot(
            0.0,
            curve.chosen,
            "*",
            markersize=13,
            color=CHOSEN,
            zorder=4,
            label="the model's own threshold",
        )
        place = curve.thresholds[curve.best], curve.values[curve.best]
        label = f"best in hindsight: {place[1]:.4g}"
        (self.best_,) = ax.plot(
            *place, "o", markerfacecolor="none", color="black", zorder=5, label=label
        )
        ax.set(
            xlabel="threshold on the score", ylabel=plain(self.label), xlim=window(curve, place[0])
        )
        ax.legend()
        return self

    @staticmethod
    def _line(ax: Any, name: str, curve: Curve, style: dict[str, Any]) -> Any:
        label = f"{plain(name)}: {curve.chosen:.4g}"
        steps = {"label": label, "drawstyle": "steps-post", **style}
        (line,) = ax.plot(*curve.steps, **steps)
        return line


def window(curve: Curve, best: float) -> tuple[float, float]:
    """Return the thresholds to show: all but the outermost, which a few odd rows stretch.

    Examples
    --------
    >>> thresholds = np.append(np.arange(-100.0, 101.0), 5000.0)
    >>> left, right = window(Curve(thresholds, thresholds, 0.0, 0), 3.0)
    >>> left < -95 and 95 < right < 200
    True
    """
    inner = np.append(np.quantile(curve.thresholds, (0.005, 0.995)), (0.0, best))
    edge = 0.05 * float(np.ptp(inner)) or 1.0
    return float(inner.min()) - edge, float(inner.max()) + edge
