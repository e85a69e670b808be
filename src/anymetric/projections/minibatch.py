"""Minibatch: projection by steps on some rows at a time, the surrogates' sums tracked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from anymetric.engines import Engine
from anymetric.problem import Problem
from anymetric.projections.base import Projection, certify
from anymetric.surrogates.sums import BoundSlices

Floats64 = NDArray[np.float64]


@dataclass(frozen=True)
class Minibatch:
    """Adam or Adagrad on batches of rows, for many rows and models that are expensive to evaluate.

    The gradient of ``||(l - target)_+||^2`` weighs each surrogate by its excess over the target,
    which a batch alone cannot estimate: running sums hold the last known loss of every row, and
    each batch updates its rows. It stops once the target is reached.

    Parameters
    ----------
    step : float
    epochs : int
        Passes over the rows, at most.
    batch_size : int
    optimiser : {"adam", "adagrad"}
    seed : int
        Of the order of the rows; every epoch of a run has its own.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]))
    >>> problem = Problem(data, "hinge", as_metric("error"))
    >>> reached = Minibatch(0.1, epochs=20).project(problem, np.array([0.5]), np.zeros(2))
    >>> reached.objective < 1e-3
    True
    """

    step: float = 1e-3
    epochs: int = 5
    batch_size: int = 256
    optimiser: Literal["adam", "adagrad"] = "adam"
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("step", "epochs", "batch_size"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive; got {getattr(self, name)!r}.")
        if self.optimiser not in ("adam", "adagrad"):
            raise ValueError(f"optimiser must be 'adam' or 'adagrad'; got {self.optimiser!r}.")

    def project(
        self,
        problem: Problem,
        target: Floats64,
        theta: Floats64,
        *,
        accuracy: float | None = None,
        state: Any = None,
    ) -> Projection:
        """Step until the tracked sums are near enough to the target, or the epochs are used up."""
        begun, past, taken = theta, state or 0, 0
        enough = accuracy or 0.0
        moments = Moments(self.optimiser, self.step, len(theta))
        sums = Tracked.at(problem.engine, theta)
        for epoch in range(past, past + self.epochs):
            for rows in self._dealt(problem.engine, epoch):
                gradient = sums.renewed(rows, theta, target)
                if sums.objective(target) <= enough:
                    # The sums may be stale: all rows are evaluated again.
                    sums = Tracked.at(problem.engine, theta)
                    if sums.objective(target) <= enough:
                        break
                    gradient = sums.renewed(rows, theta, target)
                theta = moments.stepped(theta, gradient)
                taken += 1
            if sums.objective(target) <= enough:
                break
        return certify(problem, target, theta, begun, accuracy, taken, past + self.epochs)

    def _dealt(self, engine: Engine, epoch: int) -> Iterator[NDArray[np.intp]]:
        """Yield the rows in random batches; all at once where a surrogate must see them all."""
        n = engine.X.shape[0]
        if not engine.by_rows:
            yield np.arange(n)
            return
        order = np.random.default_rng([self.seed, epoch]).permutation(n)
        yield from np.array_split(order, max(n // self.batch_size, 1))


class Tracked:
    """The K surrogates as sums of the last known loss of every row.

    Parameters
    ----------
    engine : Engine
    parts : list of BoundSlices
    losses : list of arrays of shape (n,)
        The last known losses, one array for each part.
    """

    def __init__(self, engine: Engine, parts: list[BoundSlices], losses: list[Floats64]) -> None:
        self.engine, self.parts, self.losses = engine, parts, losses
        self.sums = [part.rows.T @ lost for part, lost in zip(parts, losses, strict=True)]
        self.profile = self._profile()

    @classmethod
    def at(cls, engine: Engine, theta: Floats64) -> Tracked:
        """Begin with the losses of one parameter vector."""
        if not engine.by_rows:
            return Whole(engine, theta)
        scores = np.asarray(engine.model.scores(engine.X, theta), dtype=np.float64)
        parts = [part for part in engine.profiler.parts if isinstance(part, BoundSlices)]
        losses = [part.loss.of_scores(scores, part.y).astype(np.float64) for part in parts]
        return cls(engine, parts, losses)

    def objective(self, target: Floats64) -> float:
        """Return ``||(l - target)_+||^2`` of the tracked sums."""
        over = np.maximum(self.profile - target, 0.0)
        return float(over @ over)

    def renewed(self, rows: NDArray[np.intp], theta: Floats64, target: Floats64) -> Floats64:
        """Renew the losses of some rows; return the gradient that they estimate."""
        engine = self.engine
        X = engine.X[rows]
        scores = np.asarray(engine.model.scores(X, theta), dtype=np.float64)
        slopes = []
        for k, part in enumerate(self.parts):
            losses, slope = part.loss.with_slopes(scores, part.y[rows])
            self.sums[k] = self.sums[k] + part.rows[rows].T @ (losses - self.losses[k][rows])
            self.losses[k][rows] = losses
            slopes.append(slope)
        self.profile = self._profile()
        over = self._weights(2.0 * np.maximum(self.profile - target, 0.0))
        mixed = np.zeros(len(rows))
        for part, weights, slope in zip(self.parts, over, slopes, strict=True):
            mixed += (part.rows[rows] @ weights) * slope
        gradient = engine.model.pullback(X, theta, mixed)
        return np.asarray(engine.X.shape[0] / len(rows) * gradient)

    def _profile(self) -> Floats64:
        """Return the sums in the order of the profile."""
        return np.asarray(np.concatenate(self.sums)[self.engine.profiler.order])

    def _weights(self, weights: Floats64) -> list[Floats64]:
        """Return the weights of the profile's entries by part."""
        placed = np.empty_like(weights)
        placed[self.engine.profiler.order] = weights
        return np.split(placed, np.cumsum([len(s) for s in self.sums])[:-1])


class Whole(Tracked):
    """Surrogates that are no sums over rows: all rows are renewed each time."""

    def __init__(self, engine: Engine, theta: Floats64) -> None:
        self.engine = engine
        self.profile = engine.profile(theta)

    def renewed(self, rows: NDArray[np.intp], theta: Floats64, target: Floats64) -> Floats64:
        """Return the gradient itself."""
        here = self.engine.at(theta)
        self.profile = here.profile
        return here.gradient(2.0 * np.maximum(here.profile - target, 0.0))


class Moments:
    """The running moments of Adam, or the summed squares of Adagrad."""

    def __init__(self, optimiser: str, step: float, size: int) -> None:
        self.adam, self.step = optimiser == "adam", step
        self.first, self.second, self.taken = np.zeros(size), np.zeros(size), 0

    def stepped(self, theta: Floats64, gradient: Floats64) -> Floats64:
        """Return the parameters after one step."""
        self.taken += 1
        if not self.adam:
            self.second += gradient**2
            return theta - self.step * gradient / (np.sqrt(self.second) + 1e-10)
        self.first += 0.1 * (gradient - self.first)
        self.second += 0.001 * (gradient**2 - self.second)
        first = self.first / (1.0 - 0.9**self.taken)
        second = self.second / (1.0 - 0.999**self.taken)
        return np.asarray(theta - self.step * first / (np.sqrt(second) + 1e-10))
