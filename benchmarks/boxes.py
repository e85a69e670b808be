"""Boxes: black boxes that fail, hang and vary, and searches straight on the weights of a line."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from benchmarks.quality.samples import Parts, groups_of
from numpy.typing import NDArray

from anymetric import FaultPolicy, MetricClassifier
from anymetric.baselines import CMAES, TunedThreshold
from anymetric.metrics import FunctionMetric

Floats64 = NDArray[np.float64]
# Seconds that a call may take, and that one which hangs takes.
PATIENCE, HANGS = 0.5, 1.0
# Threshold tuning would ask about every threshold of every C.
SWEPT = 1000


@dataclass
class Box:
    """A hidden function: counts its calls, and may be disturbed.

    Parameters
    ----------
    inner : FunctionMetric
        Of decisions.
    disturb : callable
        Takes the number of the call and the value, and returns what the caller gets.
    """

    inner: FunctionMetric
    disturb: Callable[[int, float], float] = lambda call, value: value
    calls: int = field(default=0, init=False)

    def __call__(self, y_true: Any, y_pred: Any, **columns: Any) -> float:
        self.calls += 1
        call = self.calls
        return self.disturb(call, float(self.inner.function(y_true, y_pred, **columns)))

    @property
    def function(self) -> FunctionMetric:
        """The box as a metric of which nothing is known but its direction."""
        inner = self.inner
        name = f"hidden {inner.name}"
        return FunctionMetric(self, inner.greater_is_better, "decisions", inner.needs, name=name)


def failing(rng: np.random.Generator) -> Callable[[int, float], float]:
    """Fail a fifth of the calls at random, and let a twentieth hang."""

    def disturb(call: int, value: float) -> float:
        drawn = rng.random()
        if drawn < 0.2:
            raise OSError("no answer")
        if drawn < 0.25:
            time.sleep(HANGS)
        return value

    return disturb


def noisy(rng: np.random.Generator, sd: float = 0.02) -> Callable[[int, float], float]:
    """Add Gaussian noise to every reading."""
    return lambda call, value: value + sd * float(rng.normal())


def once(at: int) -> Callable[[int, float], float]:
    """Fail at one call."""
    return lambda call, value: float("nan") if call == at else value


def fitted(model: Any, parts: Parts) -> Any:
    """Fit on the training rows and the validation rows."""
    train, valid = parts.train, parts.valid
    given = {"X_val": valid.X, "y_val": valid.y, "groups_val": groups_of(valid)}
    return model.fit(train.X, train.y, groups=groups_of(train), **given)


def ours(limit: int | None = None, **settings: Any) -> Callable[..., Any]:
    """Return a maker of our lines."""
    return lambda metric, seed: MetricClassifier(
        metric, model="linear", max_metric_calls=limit, random_state=seed, **settings
    )


class WeightsByGP:
    """Optuna's Gaussian-process sampler on the weights of a line, from logistic regression.

    Parameters
    ----------
    metric : FunctionMetric
    calls : int
    seed : int
    """

    def __init__(self, metric: FunctionMetric, calls: int, seed: int) -> None:
        self.metric, self.calls, self.seed = metric, calls, seed

    def fit(self, X: Any, y: Any, **given: Any) -> WeightsByGP:
        """Search within two spreads of the first weights."""
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        start = TunedThreshold(
            self.metric, max_metric_calls=self.calls // 4, random_state=self.seed
        )
        start.fit(X, y, **given)
        first = np.append(start.coef_.ravel(), start.intercept_)
        valid = dense(given["X_val"])
        side = {} if given["groups_val"] is None else {"groups": given["groups_val"]}
        reach = 2.0 * np.abs(first).mean()

        def cost(trial: Any) -> float:
            moves = [trial.suggest_float(f"w{k}", -reach, reach) for k in range(len(first))]
            self.weights = first + np.array(moves)
            decided = (valid @ self.weights[:-1] + self.weights[-1] > 0.0).astype(int)
            columns = {name: side[name] for name in self.metric.needs}
            value = self.metric.function(given["y_val"], decided, **columns)
            return float(self.metric.cost(value))

        study = optuna.create_study(sampler=optuna.samplers.GPSampler(seed=self.seed))
        study.enqueue_trial({f"w{k}": 0.0 for k in range(len(first))})
        study.optimize(cost, n_trials=self.calls - start.n_metric_calls_)
        moved = [study.best_params[f"w{k}"] for k in range(len(first))]
        self.weights = first + np.array(moved)
        return self

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return 0 or 1."""
        return (dense(X) @ self.weights[:-1] + self.weights[-1] > 0.0).astype(np.int64)


def dense(X: Any) -> Floats64:
    """Return a table as an array."""
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


PATIENT = FaultPolicy(timeout=PATIENCE)
# A maker of every method, and how its box is disturbed.
METHODS: dict[str, tuple[Callable[..., Any], Callable[..., Any] | None]] = {
    "threshold tuning": (
        lambda m, seed: TunedThreshold(m, max_metric_calls=SWEPT, random_state=seed),
        None,
    ),
    "anymetric": (ours(), None),
    "anymetric, 20 calls": (ours(20), None),
    "anymetric, faults": (ours(on_error=PATIENT), failing),
    "anymetric, noise": (ours(), noisy),
    "anymetric, noise, 200 calls": (ours(200), noisy),
    "CMA-ES, 20 calls": (lambda m, seed: CMAES(m, max_metric_calls=20, random_state=seed), None),
    "CMA-ES, 200 calls": (lambda m, seed: CMAES(m, max_metric_calls=200, random_state=seed), None),
    "Optuna GP, 20 calls": (lambda m, seed: WeightsByGP(m, 20, seed), None),
    "Optuna GP, 200 calls": (lambda m, seed: WeightsByGP(m, 200, seed), None),
}
