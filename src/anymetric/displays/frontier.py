"""FrontierDisplay: where a run has been in surrogate space, two surrogates at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.displays._canvas import CHOSEN, QUIET, canvas, plain
from anymetric.estimators._names import class_names
from anymetric.estimators._run import Run, cost_label, fitted


@dataclass(eq=False)
class FrontierDisplay:
    """Profiles of the candidates or iterations, coloured by cost; the path; the one chosen.

    The dashed staircase is the frontier of what was seen: no profile lies below and left of it.

    Parameters
    ----------
    run : Run
        The iterations: `profiles`, `costs`, `starts`, `chosen`.
    names : pair of str
        The two surrogates.
    pair : pair of int
        Their places in a profile.
    label : str
        What the cost is.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    points_ : matplotlib PathCollection
    paths_ : list of matplotlib Line2D
        One a start; none if the candidates stand for themselves.
    frontier_, chosen_ : matplotlib Line2D
    colorbar_ : matplotlib Colorbar

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from anymetric import MetricClassifier
    >>> X, y = make_classification(300, weights=[0.8], random_state=0)
    >>> clf = MetricClassifier("f1", method="descent", random_state=0).fit(X, y)
    >>> FrontierDisplay.from_estimator(clf).names
    ('logistic[class=0]', 'logistic[class=1]')
    """

    run: Run
    names: tuple[str, str]
    pair: tuple[int, int] = (0, 1)
    label: str = "cost"
    ax_: Any = field(init=False, repr=False)
    figure_: Any = field(init=False, repr=False)
    points_: Any = field(init=False, repr=False)
    paths_: list[Any] = field(init=False, repr=False)
    frontier_: Any = field(init=False, repr=False)
    chosen_: Any = field(init=False, repr=False)
    colorbar_: Any = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        surrogates: Sequence[int | str] | None = None,
        *,
        ax: Any = None,
        **kwargs: Any,
    ) -> FrontierDisplay:
        """Draw the run of a fitted estimator, or of one at the end of a pipeline or search.

        Parameters
        ----------
        estimator : fitted estimator
        surrogates : pair of names or places in `surrogates_`, optional
            By default the two that trade off most against each other.
        ax : matplotlib Axes, optional
        kwargs : dict
            For the points, as in `plot`.
        """
        ours = fitted(estimator, cls.__name__, "surrogates_")
        run, names = Run.of_estimator(ours), ours.surrogates_
        pair = most_opposed(profiles(run)) if surrogates is None else places(surrogates, names)
        called = class_names(names, getattr(ours, "classes_", None))
        shown = (called[names[pair[0]]], called[names[pair[1]]])
        return cls(run, shown, pair, cost_label(ours.metric_)).plot(ax, **kwargs)

    @property
    def points(self) -> NDArray[np.float64]:
        """The profiles in the two surrogates, of shape (T, 2)."""
        return profiles(self.run)[:, self.pair]

    def plot(self, ax: Any = None, **kwargs: Any) -> FrontierDisplay:
        """Draw the points, the path and the frontier of what was seen.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            New ones by default.
        kwargs : dict
            For matplotlib's `scatter` of the points.

        Returns
        -------
        self
        """
        ax, points, run = canvas(self, ax), self.points, self.run
        corners = staircase(points)
        (self.frontier_,) = ax.step(
            *corners.T, "--", where="post", color=QUIET, label="frontier of what was seen"
        )
        self.paths_ = self._paths(ax)
        style = {"c": run.costs, "cmap": "viridis_r", "s": 22, "zorder": 3}
        self.points_ = ax.scatter(*points.T, **{**style, **kwargs})
        name = "weighted average" if run.averaged else "chosen"
        (self.chosen_,) = ax.plot(
            *points[run.chosen],
            "*",
            markersize=15,
            color=CHOSEN,
            markeredgecolor="black",
            zorder=4,
            label=f"{name}: cost {run.costs[run.chosen]:.4g}",
        )
        self.colorbar_ = ax.figure.colorbar(self.points_, ax=ax, label=plain(self.label))
        ax.set(xlabel=plain(self.names[0]), ylabel=plain(self.names[1]))
        ax.legend()
        return self

    def _paths(self, ax: Any) -> list[Any]:
        """Join the iterations of each start."""
        if not self.run.sequential:
            return []
        lines: list[Any] = []
        for start in np.unique(self.run.starts):
            here = self.points[self.run.starts == start]
            label = None if lines else "path"
            lines += ax.plot(*here.T, color="black", linewidth=0.6, alpha=0.6, label=label)
        return lines


def profiles(run: Run) -> NDArray[np.float64]:
    """Return the profiles ``(T, K)``; a run without two surrogates is an error."""
    stacked = np.stack(run.profiles)
    if stacked.shape[1] < 2:
        raise ValueError(
            f"FrontierDisplay needs two surrogates; the run has {stacked.shape[1]}. Fit with "
            "surrogates such as per_class()."
        )
    return stacked


def most_opposed(profiles: NDArray[np.float64]) -> tuple[int, int]:
    """Return the places of the two surrogates whose covariance is lowest.

    One falls where the other rises: between these two the metric had to choose.

    Examples
    --------
    >>> import numpy as np
    >>> most_opposed(np.array([[0.0, 0.1, 5.0], [3.0, 1.5, 1.0]]))
    (0, 2)
    """
    K = profiles.shape[1]
    covariance = np.cov(profiles.T, ddof=0)
    first, second = np.triu_indices(K, 1)
    lowest = int(np.argmin(covariance[first, second]))
    return int(first[lowest]), int(second[lowest])


def places(asked: Sequence[int | str], names: Sequence[str]) -> tuple[int, int]:
    """Return the places of two surrogates given by name or place.

    Examples
    --------
    >>> places(["b", 0], ["a", "b", "c"])
    (1, 0)
    >>> places(["b", "d"], ["a", "b", "c"])
    Traceback (most recent call last):
    ...
    ValueError: surrogates must be two of ['a', 'b', 'c'], or their places; got ['b', 'd'].
    """
    known = {name: place for place, name in enumerate(names)}
    found = [known.get(x, x) if isinstance(x, str) else x for x in asked]
    right = [x for x in found if isinstance(x, int) and -len(names) <= x < len(names)]
    if len(found) != 2 or len(right) != 2 or right[0] % len(names) == right[1] % len(names):
        raise ValueError(
            f"surrogates must be two of {list(names)}, or their places; got {list(asked)}."
        )
    return right[0] % len(names), right[1] % len(names)


def staircase(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the points that no other beats in both coordinates, from left to right.

    Examples
    --------
    >>> import numpy as np
    >>> staircase(np.array([[2.0, 1.0], [1.0, 3.0], [2.0, 2.0], [3.0, 3.0]])).tolist()
    [[1.0, 3.0], [2.0, 1.0]]
    """
    ordered = points[np.lexsort((points[:, 1], points[:, 0]))]
    lower = np.minimum.accumulate(np.append(np.inf, ordered[:-1, 1]))
    return ordered[ordered[:, 1] < lower]
