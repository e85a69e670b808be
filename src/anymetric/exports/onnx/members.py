"""Members: the scores of a fitted model as the weighted sum of its lines, trees and estimators."""

from __future__ import annotations

from typing import Any

import numpy as np

from anymetric.exports.onnx.graph import Graph
from anymetric.exports.onnx.lines import line_scores
from anymetric.exports.onnx.trees import tree_scores
from anymetric.models.ensemble import Ensemble, LinearScorer
from anymetric.models.reweighted import Fitted
from anymetric.models.trees import Trees


def scores_of(graph: Graph, X: str, fitted: Any) -> str:
    """Add the model of a fitted estimator; return its scores ``(n, outputs)``."""
    model = fitted.__dict__.get("model_")
    if model is None:
        return line_scores(graph, X, fitted.coef_, fitted.intercept_)
    return member_scores(graph, X, model)


def member_scores(graph: Graph, X: str, scorer: Any) -> str:
    """Add one scorer."""
    if isinstance(scorer, Ensemble):
        return ensemble_scores(graph, X, scorer)
    if isinstance(scorer, LinearScorer):
        return line_scores(graph, X, scorer.weights, scorer.offset, scorer.plain)
    if isinstance(scorer, Trees):
        return tree_scores(graph, X, scorer.booster_)
    if isinstance(scorer, Fitted):
        from anymetric.exports.onnx.estimators import estimator_scores

        return estimator_scores(graph, X, scorer)
    raise ValueError(
        f"The model holds a {type(scorer).__name__}, which has no ONNX form here: lines, "
        "LightGBM's trees and scikit-learn's estimators have one."
    )


def ensemble_scores(graph: Graph, X: str, ensemble: Ensemble) -> str:
    """Add a weighted sum of members, and its offset; several lines are one already."""
    total = graph.constant(np.ravel(ensemble.offset))
    for member, weight in zip(ensemble.members, ensemble.weights, strict=True):
        own = member_scores(graph, X, member)
        total = graph.node("Add", graph.node("Mul", own, graph.constant([weight])), total)
    return total
