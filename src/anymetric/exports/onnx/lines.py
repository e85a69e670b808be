"""Lines: linear models, with the steps that fill, mark, spread out and clip what they read."""

from __future__ import annotations

from typing import Any

import numpy as np

from anymetric.exports.onnx.graph import Graph
from anymetric.models.tables import Plain


def line_scores(graph: Graph, X: str, weights: Any, offset: Any, plain: Plain | None = None) -> str:
    """Add a linear model; return its scores ``(n, outputs)``."""
    table = X if plain is None else plain_table(graph, X, plain)
    columns = np.atleast_2d(np.asarray(weights, dtype=np.float64)).T
    product = graph.node("MatMul", table, graph.constant(columns))
    return graph.node("Add", product, graph.constant(np.ravel(offset)))


def plain_table(graph: Graph, X: str, plain: Plain) -> str:
    """Add what `Plain.table` does: its columns, in its order."""
    missing = graph.node("IsNaN", X)
    filled = graph.node("Where", missing, graph.constant(plain.means), X)
    if plain.limits:
        low, high = np.full(len(plain.means), -np.inf), np.full(len(plain.means), np.inf)
        for k, (least, most) in plain.limits.items():
            low[k], high[k] = least, most
        filled = graph.node("Max", filled, graph.constant(low))
        filled = graph.node("Min", filled, graph.constant(high))
    numbers = np.setdiff1d(np.arange(len(plain.means)), list(plain.categories))
    parts = [graph.columns(filled, numbers)]
    if len(plain.with_missing):
        parts.append(graph.columns(graph.cast(missing, "DOUBLE"), plain.with_missing))
    for k, codes in plain.categories.items():
        if len(codes):
            same = graph.node("Equal", graph.columns(X, [k]), graph.constant(codes))
            parts.append(graph.cast(same, "DOUBLE"))
    return graph.node("Concat", *parts, axis=1)
