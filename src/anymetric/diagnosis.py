"""Diagnosis: how well the surrogates explain the metric, whether training paid, what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from anymetric.gradients import Estimate, Subspace
from anymetric.ledger import Ledger
from anymetric.metrics import Classes
from anymetric.models import Linear
from anymetric.problem import Problem
from anymetric.recommendation import Choice, Comparison, Recommendation, recommend
from anymetric.summary import Summary

# Below this share of explained variance the surrogates say little about the metric.
EXPLAINS = 0.3
# A condition number beyond which slopes of single surrogates mean nothing.
COLLINEAR = 1e4


class Hint(Enum):
    """What to look at where there is no clear improvement: a name and a sentence.

    Examples
    --------
    >>> Hint.FLAT.value[:42]
    'No change of the model changes the metric:'
    """

    FLAT = (
        "No change of the model changes the metric: see that it reads the labels as they are in y, "
        "and that the validation rows have them all."
    )
    MORE_SURROGATES = (
        "The surrogates hardly explain the metric near this model: add surrogates, such as slices "
        "by a column that the metric reads."
    )
    FEWER_SURROGATES = (
        "Some surrogates say the same near this model, so that their slopes are not identified: "
        "leave some out."
    )


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Numbers and a recommendation; print it.

    Attributes
    ----------
    cost, error : float
        The cost of the model on the rows given, and the metric's own noise on the validation rows
        (NaN if the method did not measure it).
    gain, gain_error : float
        By how much the model costs less than the plain one at its best threshold, on the
        validation rows.
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
    recommendation : Recommendation
        By comparison with baselines, where there are any; otherwise with the plain model on the
        validation rows.
    hint : Hint or None
        What to look at where there is no clear improvement.
    families : dict
        Where several families of models competed: each one's share of the answer, and how far the
        best of it is behind the best of all, with its error.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from anymetric import MetricClassifier
    >>> X, y = make_classification(600, weights=[0.9], random_state=0)
    >>> found = MetricClassifier("f1", random_state=0).fit(X, y).diagnose(X, y)
    >>> found.recommendation.baseline
    'the plain model with a tuned threshold'
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
    recommendation: Recommendation
    hint: Hint | None = None
    families: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [
            str(self.recommendation),
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
        hints = [] if self.hint is None else [self.hint.value]
        return "\n".join([lines[0], *hints, *lines[1:3], *told(self.families), *lines[3:]])


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
    comparisons: Sequence[Comparison] = (),
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
    comparisons : sequence of Comparison
        With baselines, on rows that no method was trained on; they decide where they are given.
    """
    ledger = Ledger(problem)
    here = ledger.evaluate(theta)
    estimate = Subspace(m=pairs, nonnegative=False).estimate(ledger, here, rng)
    found = recommend(comparisons) if comparisons else out_of_fold(run, problem)
    return Diagnosis(
        cost=here.cost,
        slack=estimate.slack,
        r_squared=estimate.r_squared,
        condition=estimate.condition,
        lost=estimate.lost / max(pairs, 1),
        slopes=dict(zip(problem.names, estimate.gradient.tolist(), strict=True)),
        errors=dict(zip(problem.names, estimate.errors.tolist(), strict=True)),
        recommendation=found,
        hint=hint(found, estimate, measured=not np.isnan(run.gain)),
        families=run.family_table,
        error=run.error,
        gain=run.gain,
        gain_error=run.gain_error,
        optimism=run.optimism,
    )


def out_of_fold(run: Summary, problem: Problem) -> Recommendation:
    """Return the recommendation of what a run measured: beside the plain model, out of fold.

    The model is the best of several on those rows and looks better than it is by the optimism:
    a clear difference exceeds that too.

    Examples
    --------
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.zeros((2, 1)), np.array([1.0, -1.0]))
    >>> problem = Problem(data, "logistic", as_metric("f1"), labels=(0, 1))
    >>> out_of_fold(Summary(gain=0.05, gain_error=0.01, optimism=0.01), problem).choice.name
    'MODEL'
    """
    error = run.gain_error + 0.5 * max(float(np.nan_to_num(run.optimism)), 0.0)
    plain = plain_model(problem)
    absent = f"The improvement over {plain} was not measured: compare with anymetric.baselines."
    return recommend([Comparison(plain, run.gain, error)], absent=absent)


def plain_model(problem: Problem) -> str:
    """Return what the plain model of a problem is called."""
    if not problem.metric.decides or problem.labels is None:
        return "the plain model"
    tuned = "tuned offsets" if isinstance(problem.labels, Classes) else "a tuned threshold"
    return f"the plain model with {tuned}"


def hint(found: Recommendation, estimate: Estimate, *, measured: bool = True) -> Hint | None:
    """Return what to look at where there is no clear difference.

    Collinear surrogates matter only to a method that uses their slopes: where
    the gain was `measured`, it speaks for itself.

    Examples
    --------
    >>> level = recommend([Comparison("the plain model", 0.0, 0.1)])
    >>> hint(level, Estimate(np.ones(1), np.zeros(1), 1.0, 0.1)).name
    'MORE_SURROGATES'
    """
    if found.choice in (Choice.MODEL, Choice.BASELINE):
        return None
    if estimate.flat:
        return Hint.FLAT
    if estimate.r_squared < EXPLAINS:
        return Hint.MORE_SURROGATES
    if not measured and estimate.condition > COLLINEAR:
        return Hint.FEWER_SURROGATES
    return None
