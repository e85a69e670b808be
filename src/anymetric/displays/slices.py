"""SliceWeightsDisplay: the learned weight of each slice, beside its share of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from anymetric.displays._canvas import BEST, canvas, plain
from anymetric.estimators._names import short_names
from anymetric.estimators._run import fitted

# A row that counts for less than this part of the average row hardly trained at all.
NOTHING = 0.05


@dataclass(eq=False)
class SliceWeightsDisplay:
    """The learned weight of every slice, source or surrogate.

    A plain loss gives a slice the share of the rows that it has. More than that share, and the
    metric weighs its rows more than others; far less, and they count little.

    Parameters
    ----------
    weights : mapping from name to weight
        They sum to one.
    shares : mapping from name to share of the rows, optional
        For the names whose rows are known.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    bars_ : matplotlib BarContainer
    marks_ : matplotlib Line2D or None
        The shares of the rows.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from anymetric import MetricClassifier
    >>> X, y = make_classification(300, weights=[0.8], random_state=0)
    >>> clf = MetricClassifier("gmean", random_state=0).fit(X, y)
    >>> list(SliceWeightsDisplay.from_estimator(clf).weights)
    ['class=0', 'class=1']
    >>> print(SliceWeightsDisplay({"vendor B": 0.01}, {"vendor B": 0.5}).meanings["vendor B"])
    1 % of the loss from 50 % of the rows: they count for almost nothing.
    """

    weights: Mapping[str, float]
    shares: Mapping[str, float] = field(default_factory=dict)
    ax_: Any = field(init=False, repr=False)
    figure_: Any = field(init=False, repr=False)
    bars_: Any = field(init=False, repr=False)
    marks_: Any = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, ax: Any = None, **kwargs: Any
    ) -> SliceWeightsDisplay:
        """Draw `weights_` of a fitted estimator, or of one at the end of a pipeline or search.

        Parameters
        ----------
        estimator : fitted estimator
        ax : matplotlib Axes, optional
        kwargs : dict
            For the bars, as in `plot`.
        """
        ours = fitted(estimator, cls.__name__, "weights_")
        names = short_names(list(ours.weights_), getattr(ours, "classes_", None))
        shares = {names[name]: share for name, share in ours.row_shares_.items()}
        weights = {names[name]: weight for name, weight in ours.weights_.items()}
        return cls(weights, shares).plot(ax, **kwargs)

    @property
    def meanings(self) -> dict[str, str]:
        """What each weight means, in words."""
        return {name: self._meaning(name) for name in self.weights}

    def plot(self, ax: Any = None, **kwargs: Any) -> SliceWeightsDisplay:
        """Draw a bar for each weight, and a mark where a plain loss would put it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            New ones by default.
        kwargs : dict
            For matplotlib's `barh`.

        Returns
        -------
        self
        """
        ax = canvas(self, ax)
        places, names = range(len(self.weights)), list(self.weights)
        self.bars_ = ax.barh(places, list(self.weights.values()), **{"color": BEST, **kwargs})
        ax.set_yticks(places, [plain(name) for name in names])
        ax.invert_yaxis()
        self.marks_ = self._marks(ax, names)
        for place, name in enumerate(names):
            end = max(self.weights[name], self.shares.get(name, 0.0))
            style = {"textcoords": "offset points", "va": "center"}
            ax.annotate(self._short(name), (end, place), (6, 0), **style)
        ax.margins(x=0.2)
        ax.set_xlim(left=0.0)
        ax.set_xlabel("share of the learned loss")
        return self

    def _marks(self, ax: Any, names: list[str]) -> Any:
        """Mark the shares of the rows that are known."""
        known = {place: self.shares[x] for place, x in enumerate(names) if x in self.shares}
        if not known:
            return None
        style = {"linestyle": "none", "marker": "|", "markersize": 16, "markeredgewidth": 2}
        label = "share of the rows (×: what a row counts for)"
        (marks,) = ax.plot(list(known.values()), list(known), color="black", label=label, **style)
        ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), frameon=False, fontsize="small")
        return marks

    def _ratio(self, name: str) -> float | None:
        """Return what a row of the slice counts for, the average row counting for one."""
        share = self.shares.get(name, 0.0)
        return self.weights[name] / share if share > 0.0 else None

    def _short(self, name: str) -> str:
        ratio = self._ratio(name)
        return f"{self.weights[name]:.2f}" if ratio is None else f"× {times(ratio)}"

    def _meaning(self, name: str) -> str:
        whole = f"{100 * self.weights[name]:.0f} % of the loss"
        ratio = self._ratio(name)
        if ratio is None:
            return f"{whole}."
        rows = f"{whole} from {100 * self.shares[name]:.0f} % of the rows"
        if ratio < NOTHING:
            return f"{rows}: they count for almost nothing."
        return f"{rows}: each counts {times(ratio)} times as much as the average row."


def times(ratio: float) -> str:
    """Return a ratio as people say it.

    Examples
    --------
    >>> times(39.4), times(3.91), times(0.996), times(0.25), times(0.001)
    ('39', '3.9', '1', '0.25', '0')
    """
    return f"{round(ratio, 0 if ratio >= 10 else 1 if ratio >= 1 else 2):g}"
