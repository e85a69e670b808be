"""Diagnosis: how well the surrogates explain the metric, whether training paid, what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from anymetric.gradients import Estimate, Subspace
from anymetric.ledger import Ledger
from anymetric.metrics import Classes
from anymetric.models import Linear
from anymetric.problem import Problem
from anymetric.summary import Summary

# Below this share of explained variance the surrogates say little about the metric.
EXPLAINS = 0.3
# A condition number beyond which slopes of single surrogates mean nothing.
COLLINEAR = 1e4
# A gain of this part of the cost would be worth having: rows that cannot exclude it say too little.
WORTHWHILE = 0.05


class Verdict(Enum):
    """What to do with a fitted model: a name and a sentence.

    Examples
    --------
    >>> Verdict.TUNED_THRESHOLD.value
    'The plain model at a tuned threshold is as good: simply use that.'
    """

    GO = "Training for the metric paid beyond its noise: use this model."
    TUNED_THRESHOLD = "The plain model at a tuned threshold is as good: simply use that."
    OFFSETS = "The plain model with tuned offsets is as good: simply use that."
    PLAIN = "The plain model is as good: simply use that."
    WORSE = (
        "The plain model, tuned where there is something to tune, was better beyond the metric's "
        "noise: use that."
    )
    MORE_ROWS = "The gain is within the metric's noise: more judging rows would tell."
    COMPARE = (
        "This method does not measure its gain over the plain model: hold it against "
        "anymetric.baselines.TunedThreshold on rows of your own."
    )
    COMPARE_MANY = (
        "The gain over the plain model was not measured: hold it against logistic regression on "
        "rows of your own."
    )
    COMPARE_PLAIN = (
        "The gain over the plain model was not measured: hold it against a plain one on rows of "
        "your own."
    )
    SAME = (
        "No change of the model changes the metric: see that it reads the labels as they are in y, "
        "and that the judging rows have them all."
    )
    MORE_SURROGATES = (
        "The surrogates hardly explain the metric near this model: add surrogates, such as slices "
        "by a column that the metric reads."
    )
    FEWER_SURROGATES = (
        "Some surrogates say the same near this model, so that their slopes cannot be told apart: "
        "leave some out."
    )


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Numbers and a verdict; print it.

    Attributes
    ----------
    cost, error : float
        The cost of the model on the rows given, and the metric's own noise on the rows that
        judged (NaN if the method did not measure it).
    gain, gain_error : float
        By how much the model beat the plain one at its best threshold, on the rows that judged.
    optimism : float
        By how much the best of the candidates looks better than it is.
    slack : float
        What a linear function of the surrogates leaves unexplained near the model: the standard
        deviation of the residuals.
    r_squared, condition : float
        Of that local fit.
    lost : float
        The share of the probes that could not be used.
    slopes, errors : dict
        How the cost changes with each surrogate, with standard errors.
    verdict : Verdict
    families : dict
        Where several families of models competed: each one's share of the answer, and how far the
        best of it is behind the best of all, with its error.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from anymetric import MetricClassifier
    >>> X, y = make_classification(600, weights=[0.9], random_state=0)
    >>> found = MetricClassifier("f1", random_state=0).fit(X, y).diagnose(X, y)
    >>> found.verdict in Verdict
    True
    """

    cost: float
    error: float
    gain: float
    gain_error: float
    optimism: float
    slack: float
    r_squared: float
    condition: float
    lost: float
    slopes: Mapping[str, float]
    errors: Mapping[str, float]
    verdict: Verdict
    families: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [
            f"{self.verdict.name}: {self.verdict.value}",
            f"cost {self.cost:.4f}, noise of the metric {self.error:.4f}",
            f"gain over the plain model {self.gain:.4f} ± {self.gain_error:.4f}, "
            f"optimism of the choice {self.optimism:.4f}",
            f"near the model {explained(self.r_squared)} "
            f"(slack {self.slack:.4f}, condition number {self.condition:.1f}, "
            f"{100 * self.lost:.0f} % of the probes lost)",
        ]
        lines += [
            f"  {name}: slope {slope:+.4f} ± {self.errors[name]:.4f}"
            for name, slope in self.slopes.items()
        ]
        return "\n".join([*lines[:3], *told(self.families), *lines[3:]])


def explained(r_squared: float) -> str:
    """Say how much of the cost the surrogates explain.

    Examples
    --------
    >>> explained(0.731), explained(float("nan"))
    ('the surrogates explain 73 % of the cost', 'no probe tells how far the surrogates explain it')
    """
    if np.isnan(r_squared):
        return "no probe tells how far the surrogates explain it"
    return f"the surrogates explain {100 * r_squared:.0f} % of the cost"


def told(families: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Say which family won, and by how much.

    Examples
    --------
    >>> linear = {"share": 0.25, "behind": 0.012, "error": 0.004}
    >>> told({"boosted": {"share": 0.75, "behind": 0.0, "error": 0.0}, "linear": linear})
    ['of 2 families boosted won (75 % of the weight); linear is 0.0120 ± 0.0040 behind (25 %)']
    """
    if len(families) < 2:
        return []
    first, *others = sorted(families, key=lambda name: families[name]["behind"])
    behind = [
        f"{name} is {families[name]['behind']:.4f} ± {families[name]['error']:.4f} behind "
        f"({100 * families[name]['share']:.0f} %)"
        for name in others
    ]
    won = f"{first} won ({100 * families[first]['share']:.0f} % of the weight)"
    return [f"of {len(families)} families {'; '.join([won, *behind])}"]


def around_scores(
    problem: Problem, scores: NDArray[np.float64]
) -> tuple[Problem, NDArray[np.float64]]:
    """Return a linear problem around the scores of a model without parameters, and where it is.

    Its features are the scores and the surrogates' gradients by them (Algorithm 2): what a probe
    in the subspace of the surrogates moves along.

    Examples
    --------
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.zeros((2, 1)), np.array([1.0, -1.0]))
    >>> scores = np.array([0.5, 2.0])
    >>> near, theta = around_scores(Problem(data, "logistic", as_metric("error")), scores)
    >>> near.scores(theta).tolist()
    [0.5, 2.0]
    """
    slopes = problem.profiler.slopes(scores).toarray()
    sizes = np.maximum(np.linalg.norm(slopes, axis=1), np.finfo(float).tiny)
    X = np.column_stack([scores, (slopes / sizes[:, np.newaxis]).T])
    rows = replace(problem.train, X=X)
    theta = np.zeros(X.shape[1])
    theta[0] = 1.0
    return replace(problem, train=rows, valid=rows, model=Linear(intercept=False)), theta


def diagnose(
    problem: Problem,
    theta: NDArray[np.float64],
    run: Summary,
    rng: np.random.Generator,
    pairs: int = 64,
) -> Diagnosis:
    """Probe the metric around a model and weigh what the run measured.

    Parameters
    ----------
    problem : Problem
        The rows to probe on, with the surrogates.
    theta : array of shape (p,)
    run : Summary
        What the method measured.
    rng : numpy Generator
    pairs : int
        Pairs of probes: twice as many metric calls.
    """
    ledger = Ledger(problem)
    here = ledger.evaluate(theta)
    estimate = Subspace(m=pairs, nonnegative=False).estimate(ledger, here, rng)
    return Diagnosis(
        cost=here.cost,
        slack=estimate.slack,
        r_squared=estimate.r_squared,
        condition=estimate.condition,
        lost=estimate.lost / max(pairs, 1),
        slopes=dict(zip(problem.names, estimate.gradient.tolist(), strict=True)),
        errors=dict(zip(problem.names, estimate.errors.tolist(), strict=True)),
        verdict=decide(
            run.gain,
            run.gain_error,
            estimate,
            here.cost,
            optimism=run.optimism,
            thresholds=problem.metric.decides and problem.labels is not None,
            many=isinstance(problem.labels, Classes),
        ),
        families=run.family_table,
        error=run.error,
        gain=run.gain,
        gain_error=run.gain_error,
        optimism=run.optimism,
    )


def decide(
    gain: float,
    gain_error: float,
    estimate: Estimate,
    cost: float,
    *,
    optimism: float = 0.0,
    thresholds: bool = True,
    many: bool = False,
) -> Verdict:
    """Return the verdict: a clear gain or loss first, then why there is none.

    Surrogates that cannot be told apart matter only to a method that goes by their slopes: where
    the gain was measured, it speaks for itself.

    Parameters
    ----------
    gain, gain_error : float
        Over the plain model, at its best threshold where the metric knows `thresholds`; NaN if
        the method did not measure it.
    estimate : Estimate
        How the surrogates explain the metric near the model.
    cost : float
        Of the model: a gain is measured against it.
    optimism : float
        How much better the best of several looks than it is: a clear gain or loss exceeds that too,
        for the plain model's threshold was chosen on the same rows.
    thresholds : bool
    many : bool
        Whether there are more than two classes, each with an offset instead of a threshold.

    Examples
    --------
    >>> import numpy as np
    >>> clear = Estimate(np.ones(1), np.zeros(1), 1.0, 0.9)
    >>> [decide(gain, 0.01, clear, cost=0.5).name for gain in (0.05, 0.015, 0.0, -0.05)]
    ['GO', 'MORE_ROWS', 'TUNED_THRESHOLD', 'WORSE']
    """
    if abs(gain) > 2.0 * gain_error + np.nan_to_num(optimism):
        return Verdict.GO if gain > 0.0 else Verdict.WORSE
    if estimate.flat:
        return Verdict.SAME
    if estimate.r_squared < EXPLAINS:
        return Verdict.MORE_SURROGATES
    if np.isnan(gain):
        return uncompared(estimate.condition, thresholds=thresholds, many=many)
    if gain + 2.0 * gain_error > WORTHWHILE * abs(cost):
        return Verdict.MORE_ROWS
    if not thresholds:
        return Verdict.PLAIN
    return Verdict.OFFSETS if many else Verdict.TUNED_THRESHOLD


def uncompared(condition: float, *, thresholds: bool, many: bool) -> Verdict:
    """Return the verdict where the method did not measure its gain.

    Examples
    --------
    >>> uncompared(2.0, thresholds=False, many=False).name
    'COMPARE_PLAIN'
    """
    if condition > COLLINEAR:
        return Verdict.FEWER_SURROGATES
    if many:
        return Verdict.COMPARE_MANY
    return Verdict.COMPARE if thresholds else Verdict.COMPARE_PLAIN
