"""Estimators: scikit-learn's models of `Reweighted`, converted by skl2onnx and put in the graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from anymetric.errors import import_extra
from anymetric.exports.onnx.graph import OPSETS, Graph
from anymetric.models.reweighted import CERTAIN, Fitted


def estimator_scores(graph: Graph, X: str, scorer: Fitted) -> str:
    """Add a fitted estimator; return its decision values, log-odds or predictions."""
    present = getattr(scorer.estimator, "classes_", np.zeros(0))
    if scorer.classes > 0 and len(present) != max(scorer.classes, 2):
        raise ValueError(
            f"The model holds a {type(scorer.estimator).__name__} that saw {len(present)} of "
            f"{scorer.classes} classes in training, which has no ONNX form here."
        )
    if scorer.classes == 0:
        found = inlined(graph, X, scorer.estimator, {})[0]
        return graph.node("Reshape", found, graph.constant([-1, 1], np.int64))
    raw = scorer.classes == 2 and hasattr(scorer.estimator, "decision_function")
    found = inlined(graph, X, scorer.estimator, {"zipmap": False, "raw_scores": raw})[1]
    if raw:  # one column, or minus it too
        return graph.columns(found, [-1])
    share = graph.node("Max", found, graph.constant([CERTAIN]))
    logs = graph.node("Log", share)
    if scorer.classes > 2:
        return logs
    return graph.node("Sub", graph.columns(logs, [1]), graph.columns(logs, [0]))


def inlined(graph: Graph, X: str, estimator: Any, options: dict[str, Any]) -> list[str]:
    """Add the graph of an estimator; return its outputs in double precision."""
    skl2onnx = import_extra("skl2onnx", needed_by="The ONNX export", extra="onnx")
    types = import_extra("skl2onnx.common.data_types", needed_by="The ONNX export", extra="onnx")
    width = int(estimator.n_features_in_)
    kind = [("X", types.DoubleTensorType([None, width]))]
    model = skl2onnx.convert_sklearn(
        estimator,
        initial_types=kind,
        options={id(estimator): options} if options else None,
        target_opset=dict(OPSETS),
    )
    prefix = graph.fresh("estimator") + "_"
    model = graph.onnx.compose.add_prefix(model, prefix)
    graph.constants += list(model.graph.initializer)
    for node in model.graph.node:
        for k, name in enumerate(node.input):
            if name == f"{prefix}X":
                node.input[k] = X
        graph.nodes.append(node)
    *labels, scores = (one.name for one in model.graph.output)
    return [*labels, graph.cast(scores, "DOUBLE")]
