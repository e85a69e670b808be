"""Learned weights: the weight of each surrogate in the loss of a model (Appendix C)."""

from __future__ import annotations

import numpy as np

from anymetric.auto import Auto
from anymetric.auto.weights import VALIDATION, shared_out
from anymetric.errors import warn
from anymetric.metrics import Classes
from anymetric.metrics.regression import LossMetric
from anymetric.projections.base import stationary_weights
from anymetric.solution import Status
from anymetric.surrogates import ClassLoss

# Features beyond this size are too large for steps that were set for zeros and ones.
LARGE = 100.0
# Beyond this condition number the surrogates are nearly collinear.
COLLINEAR = 1e4
# A mean of losses is decided by few rows where so small a share of them makes so much of it.
FEW, ALL = 0.05, 0.99
# A smaller share of what the median costs is nearly an exact fit: there is nothing to mend.
EXACT = 1e-3


def learned_weights(problem, iteration):
    """Return the weight of every surrogate by name, summing to one.

    Those of the projection that led to the model. A starting model gets the weights of the loss
    ``sum_k w_k l_k`` that it is nearest to minimising.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.ledger import Ledger
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.problem import Problem
    >>> from anymetric.solution import Iteration
    >>> from anymetric.surrogates import per_class
    >>> data = Data(np.zeros((4, 1)), np.array([1.0, -1.0, -1.0, -1.0]))
    >>> problem = Problem(data, per_class("logistic"), as_metric("error"))
    >>> start = Ledger(problem).evaluate(np.array([0.0, np.log(1 / 3)]))
    >>> weights = learned_weights(problem, Iteration(0, 0, start, start.profile))
    >>> {name: round(weight, 6) for name, weight in weights.items()}
    {'logistic[class=-1]': 0.75, 'logistic[class=+1]': 0.25}
    """
    weights = iteration.weights
    if weights is None:
        weights = stationary_weights(problem.linearise(iteration.theta)[1])
    return dict(zip(problem.names, weights.tolist(), strict=True))


def row_shares(problem, weights):
    """Return the share of the rows in each slice of `weights`: its weight in a plain loss.

    Empty where the slices are no partition of the rows, and for regressions.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.problem import Problem
    >>> from anymetric.surrogates import per_class
    >>> data = Data(np.zeros((4, 1)), np.array([1.0, -1.0, -1.0, -1.0]))
    >>> problem = Problem(data, per_class("hinge"), as_metric("error"))
    >>> row_shares(problem, {"hinge[class=-1]": 0.5, "hinge[class=+1]": 0.5})
    {'hinge[class=-1]': 0.75, 'hinge[class=+1]': 0.25}
    """
    if problem.labels is None and not np.all(np.abs(problem.train.y) == 1.0):
        return {}
    train = problem.train
    if isinstance(problem.labels, Classes):
        return shares_of_classes(problem, weights)
    held = {slice_.name: slice_.mask(train) for slice_ in shared_out(problem)}
    if set(weights) - {VALIDATION} != set(held):
        return {}
    sizes = {name: float(train.weights[mask].sum()) for name, mask in held.items()}
    if VALIDATION in weights:
        sizes[VALIDATION] = float(problem.valid.weights.sum())
    return {name: size / sum(sizes.values()) for name, size in sizes.items()}


def shares_of_classes(problem, weights):
    """Return the share of the rows, or of the entries of labels, that each slice has."""
    train = problem.train
    losses = [s for s in problem.profiler.surrogates if isinstance(s, ClassLoss)]
    sizes = {loss.name: float(train.weights[loss.chosen(train)].sum()) for loss in losses}
    if set(weights) - {VALIDATION} != set(sizes):
        return {}
    outputs = 1 if problem.labels.exclusive else len(problem.labels)
    if not np.isclose(sum(sizes.values()), outputs * train.weights.sum()):
        return {}
    if VALIDATION in weights:
        sizes[VALIDATION] = outputs * float(problem.valid.weights.sum())
    return {name: size / sum(sizes.values()) for name, size in sizes.items()}


def warn_if_collinear(problem, theta):
    """Warn where the gradients of the surrogates are nearly collinear."""
    condition = slope_condition(problem.profiler.slopes(problem.scores(theta)))
    if condition > COLLINEAR:
        warn(
            f"The surrogates are nearly collinear: the condition number of their slopes is "
            f"{condition:.1e}. Their weights are not identified; drop or merge some "
            f"of {', '.join(problem.names)}."
        )


def warn_if_large(X, method):
    """Warn where features are not scaled and are large."""
    largest = float(abs(X).max()) if min(X.shape) else 0.0
    if largest > LARGE:
        warn(
            f"method={method!r} does not scale the features, as its authors did not, and its step "
            f"sizes suit values about one; yours reach {largest:.3g}. Scale them, or set "
            "standardize=True."
        )


def warn_if_unread(problem, method):
    """Warn where surrogates of a regression were given to the default, which has its own losses."""
    if problem.labels is None and isinstance(method, Auto):
        warn(
            "method='auto' trains a regression with losses of its own (`weights_` names them), not "
            "with the surrogates that were given: these are read by method='descent' and 'paper'."
        )


def warn_if_flat(fitted, solution):
    """Warn where a user's metric had the same value for all that was tried."""
    seen = {iteration.cost for iteration in solution.iterations}
    if solution.status is not Status.FLAT or len(solution.iterations) < 2 or len(seen) > 1:
        return
    if not fitted.metric_.black_box:
        return
    labels = getattr(fitted.metric_, "labels", getattr(fitted, "classes_", None))
    given = "y as it is" if labels is None else f"the labels {np.ravel(labels).tolist()}"
    warn(
        f"{fitted.metric_.name!r} was {fitted.validation_score_:.6g} for every model, so the "
        f"plainest one is kept. Check that it reads {given}, and that the validation rows differ "
        "in y."
    )


def warn_if_skipped(conduct):
    """Warn about evaluations that failed, with the reason of the last failure."""
    if conduct.skipped:
        total = conduct.skipped + conduct.answered
        warn(
            f"{conduct.skipped} of {total} evaluations failed and were left out, the last: "
            f"{conduct.failure}"
        )


def warn_if_clipped(fitted):
    """Warn about columns whose outliers are clipped for linear models."""
    columns = sorted(
        {k for plain in readers(getattr(fitted, "model_", None)) for k in plain.limits}
    )
    if columns:
        named = getattr(fitted, "feature_names_in_", None)
        shown = columns if named is None else [str(named[k]) for k in columns]
        warn(
            f"The column(s) {', '.join(map(str, shown))} hold outliers, over a thousand times as "
            "far out as nearly all other values: they are clipped for linear models. Are they "
            "right?"
        )


def warn_if_dominated(metric, data, predictions):
    """Warn where few rows decide a mean of losses, as targets of zero do relative errors.

    Examples
    --------
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> rows = Data(np.zeros((30, 1)), np.ones(30))
    >>> warn_if_dominated(as_metric("mean_absolute_error"), rows, 1.0 + np.arange(30.0))
    """
    if not isinstance(metric, LossMetric):
        return
    with np.errstate(over="ignore"):
        losses = data.weights * metric.loss(predictions - data.y, data.y)
        plain = data.weights * metric.loss(np.median(data.y) - data.y, data.y)
    total = losses.sum()
    if not EXACT * plain.sum() < total < np.inf:
        return
    order = np.argsort(losses)[::-1]
    few = 1 + int(np.searchsorted(np.cumsum(losses[order]), ALL * total))
    if few <= FEW * len(data):
        targets = ", ".join(f"{value:.6g}" for value in np.unique(data.y[order[:few]])[:3])
        warn(
            f"{few} of {len(data)} validation rows make up {ALL:.0%} of {metric.name!r} (their "
            f"targets: {targets}), so that the model is chosen for them. Are they right? If so, "
            "leave them out, or take a metric that every row counts in, such as "
            "'mean_absolute_error'."
        )


def readers(scorer):
    """Return the preprocessing of the linear members of a model."""
    members = getattr(scorer, "members", ())
    return [one.plain for one in members if getattr(one, "plain", None) is not None]


def slope_condition(slopes):
    """Return the condition number of the rows, each brought to unit length; zero rows are left out.

    Examples
    --------
    >>> from scipy import sparse
    >>> slope_condition(sparse.csr_array([[3.0, 0.0], [0.0, 0.1], [0.0, 0.0]]))
    1.0
    """
    gram = (slopes @ slopes.T).toarray()
    lengths = np.sqrt(np.diag(gram))
    alive = lengths > 0
    if not alive.any():
        return 1.0
    spread = np.linalg.eigvalsh(
        gram[np.ix_(alive, alive)] / np.outer(lengths[alive], lengths[alive])
    )
    return float(np.sqrt(spread[-1] / spread[0])) if spread[0] > 0 else np.inf


def tree_gains(model):
    """Return the share of the gain of each feature in a model's trees; None if it has none.

    Examples
    --------
    >>> tree_gains(None) is None
    True
    """
    members = getattr(model, "members", (model,))
    weights = getattr(model, "weights", (1.0,))
    found = 0.0
    for member, weight in zip(members, weights, strict=True):
        gains = getattr(getattr(member, "estimator", None), "feature_importances_", None)
        if hasattr(member, "booster_"):
            gains = member.booster_.feature_importance("gain").astype(np.float64)
        if gains is not None:
            found = found + abs(weight) * gains / max(gains.sum(), 1e-300)
    total = np.sum(found)
    return None if total == 0.0 else found / total
