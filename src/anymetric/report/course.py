"""Course: the run, iteration by iteration, and the candidates in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from anymetric.report.worth import JUDGES
from anymetric.summary import CandidateSummary

# More iterations than this are thinned out evenly; the chosen one stays.
MOST_ITERATIONS = 1500


def course_of(
    model: Any, names: Sequence[str], label: Callable[[Sequence[str]], Sequence[str]] = list
) -> dict[str, Any]:
    """Return the run of a fitted estimator as plain values.

    Parameters
    ----------
    model : fitted estimator
    names : sequence of str
        The surrogates, where they are known; they are numbered if not.
    label : function
        From the surrogates' names to what the user would call them.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from anymetric import MetricClassifier
    >>> X, y = make_classification(200, random_state=0)
    >>> course = course_of(MetricClassifier("f1", random_state=0).fit(X, y), [])
    >>> course["kind"], course["surrogates"]
    ('candidates', ['logistic[class=-1]', 'logistic[class=+1]'])
    """
    history = getattr(model, "history_", None)
    if not history:
        return {}
    candidates = model.summary_.candidates
    chosen = chosen_iteration([one["cost"] for one in history], model.cost_, candidates)
    kept = thinned(len(history), chosen)
    return {
        "kind": "candidates" if candidates else "iterations",
        "surrogates": label(surrogate_names(len(history[0]["profile"]), names, model)),
        "iterations": [iteration_of(model, history[k], k, candidates) for k in kept],
        "chosen": kept.index(chosen),
        "status": model.status_.name,
        "says": model.status_.value,
        "calls": model.n_metric_calls_,
        "validation": model.validation_,
        "value": model.validation_score_,
        "training_weight": model.summary_.training_weight,
    }


def iteration_of(
    model: Any, one: dict[str, Any], place: int, candidates: Sequence[CandidateSummary]
) -> dict[str, Any]:
    """Return an iteration with the metric in its own direction, its candidate's name and share."""
    names = ("start", "iteration", "profile", "weights", "calls", "seconds")
    row = {name: one[name] for name in names}
    row["place"], row["value"] = place, model.metric_.value(one["cost"])
    if candidates:
        own = place < len(candidates)
        row["name"] = candidates[place].name if own else "weighted average"
        row["share"] = candidates[place].share if own else None
    return row


def chosen_iteration(
    costs: Sequence[float], cost: float, candidates: Sequence[CandidateSummary] = ()
) -> int:
    """Return the iteration that the model comes from.

    Of candidates it is their average, which comes after them all, or else the one with the largest
    share; of iterations the first that costs as much as the model.

    Examples
    --------
    >>> three = [CandidateSummary("one", 0.3, share) for share in (0.0, 1.0, 0.0)]
    >>> chosen_iteration([0.3, 0.2, 0.2], 0.2), chosen_iteration([0.3, 0.2, 0.2], 0.2, three)
    (1, 1)
    >>> chosen_iteration([0.3, 0.2, 0.2], 0.2, three[:2])
    2
    """
    if len(costs) == len(candidates) + 1 > 1:
        return len(candidates)
    if candidates:
        return int(np.argmax([one.share for one in candidates]))
    same = [k for k, other in enumerate(costs) if other == cost]
    return same[0] if same else int(np.argmin(costs))


def thinned(count: int, kept: int) -> list[int]:
    """Return the iterations to show: all, or evenly spread ones with the chosen one among them.

    Examples
    --------
    >>> thinned(3, 1), len(thinned(10_000, 77)) <= MOST_ITERATIONS + 1, 77 in thinned(10_000, 77)
    ([0, 1, 2], True, True)
    """
    if count <= MOST_ITERATIONS:
        return list(range(count))
    spread = np.linspace(0, count - 1, MOST_ITERATIONS).round().astype(int)
    return sorted({*spread.tolist(), kept})


def surrogate_names(K: int, names: Sequence[str], model: Any) -> list[str]:
    """Return K names: the model's own, those given, those of the learned weights, or numbers."""
    weighed = [name for name in getattr(model, "weights_", {}) if name != JUDGES]
    for known in (getattr(model, "surrogates_", ()), names, weighed):
        if len(known) == K:
            return [str(name) for name in known]
    return [f"surrogate {k + 1}" for k in range(K)]
